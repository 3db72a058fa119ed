"""`tenant.yaml` and `namespace.yaml` files, and the namespaces that folders imply."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gitops.model.errors import InvalidNameError
from gitops.model.findings import Finding, Location
from gitops.model.names import NamespaceName, TenantName
from gitops.model.rules import make_finding
from gitops.model.state import NamespaceState, TenantState
from gitops.repository.documents.manifests import NamespaceDocument, TenantDocument
from gitops.repository.documents.parser import Manifest, read_manifest
from gitops.repository.tracked_files import TrackedFiles


@dataclass(slots=True, kw_only=True)
class LoadedNamespaces:
    """States and places by name."""

    states: dict[NamespaceName, NamespaceState] = field(default_factory=dict)
    places: dict[NamespaceName, Location] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def folder_namespace(path: str) -> NamespaceName | None:
    """The namespace of a file in its folder; None where the folders are no names."""
    _, tenant, local_name, _ = path.split("/")
    try:
        return NamespaceName.parse(f"{tenant}/{local_name}")
    except InvalidNameError:
        return None


def load_namespaces(
    files: Iterable[str], topic_files: Iterable[str], sources: TrackedFiles
) -> LoadedNamespaces:
    """Every namespace that has a folder, with the policies that its file gives it."""
    loaded = LoadedNamespaces()
    bad_folders: set[str] = set()
    for path in (*files, *topic_files):
        name = folder_namespace(path)
        folder = path.rpartition("/")[0]
        if name is None and folder not in bad_folders:
            bad_folders.add(folder)
            loaded.findings.append(_bad_folder(path, folder))
        elif name is not None and name not in loaded.states:
            loaded.states[name] = NamespaceState(namespace=name)
            loaded.places[name] = Location(file=path)
    for file in files:
        _load(file, sources, loaded)
    return loaded


def load_tenants(
    files: Iterable[str], sources: TrackedFiles
) -> tuple[dict[TenantName, TenantState], list[Finding]]:
    """Every tenant that has a file, and what is wrong with the files."""
    states: dict[TenantName, TenantState] = {}
    findings: list[Finding] = []
    for file in files:
        manifest = read_manifest(file, TenantDocument, sources, findings)
        if manifest is None:
            continue
        if manifest.rest is not None and (state := _tenant(file, manifest, manifest.rest)):
            states[state.tenant] = state
        findings.extend(manifest.findings)
    return states, findings


def _tenant(
    file: str, manifest: Manifest[TenantDocument], document: TenantDocument
) -> TenantState | None:
    folder = file.split("/")[-2]
    if document.tenant != folder:
        message = f"tenant is {document.tenant}, and the folder is {folder}"
        hint = "rename one of them: a tenant's file is in the folder of its name"
        manifest.add("REPO-R016", message, ("tenant",), hint=hint)
    try:
        return document.state(TenantName.parse(folder))
    except InvalidNameError as error:
        manifest.add("REPO-R013", error.what, ("tenant",), hint=error.hint)
        return None


def _load(file: str, sources: TrackedFiles, loaded: LoadedNamespaces) -> None:
    manifest = read_manifest(file, NamespaceDocument, sources, loaded.findings)
    if manifest is None:
        return
    document, name = manifest.rest, folder_namespace(file)
    if document is not None and name is not None:
        if document.namespace != str(name):
            message = f"namespace is {document.namespace}, and the folders are {name}"
            hint = (
                "make them equal: a namespace's file is in the folder of its name; a namespace "
                "cannot be renamed, and the topics of a new one begin without history"
            )
            manifest.add("REPO-R016", message, ("namespace",), hint=hint)
        loaded.states[name] = NamespaceState(namespace=name, policies=document.policies())
        loaded.places[name] = manifest.location(("namespace",))
    loaded.findings.extend(manifest.findings)


def _bad_folder(path: str, folder: str) -> Finding:
    return make_finding(
        "REPO-R013",
        f"'{folder.removeprefix('namespaces/')}' is not a namespace",
        location=Location(file=path),
        hint="name the folders with letters, digits and - = : . _",
    )
