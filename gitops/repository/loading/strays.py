"""Files that nothing uses, or that lie where nobody looks."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Finding, Location, Severity, group
from gitops.model.rules import make_finding
from gitops.repository.definitions.schema_builder import SchemaBuilder
from gitops.repository.definitions.shared_types import WITH_MANIFESTS, named_types
from gitops.repository.documents.parser import unreadable
from gitops.repository.loading.layout import Layout
from gitops.repository.suggestions import one_line
from gitops.repository.tracked_files import TrackedFiles
from gitops.schemas.avro.json_text import JsonTextError, read_json

_KIND: Final = re.compile(rb"^kind: *([A-Za-z]+) *\r?$", re.MULTILINE)
_PLACES: Final = {
    "Client": "clients/<service>.yaml",
    "Config": "gitops.yaml in the repository's root",
    "Namespace": "namespaces/<tenant>/<namespace>/namespace.yaml",
    "Tenant": "namespaces/<tenant>/tenant.yaml",
    "Topic": "namespaces/<tenant>/<namespace>/<topic>.yaml",
    "Waiver": "waivers/<name>.yaml",
}
_MOVED: Final = 2
"""So many manifests in a folder show that it is a moved one."""
_MANIFEST_SLASHES: Final = 3
_ANYWHERE: Final = "manifests are below namespaces/, clients/ and waivers/"


def find_strays(layout: Layout, used: set[str] | None, sources: TrackedFiles) -> list[Finding]:
    """Findings about files; `used` are the definitions that some manifest needs.

    None where a manifest could not be understood: it may need any of them.
    """
    findings = [
        make_finding("REPO-R016", "no manifest is looked for here", location=_at(path), hint=hint)
        for path, hint in layout.misplaced
    ]
    unused = [
        make_finding(
            "REPO-R023",
            "no topic and no client uses this definition",
            location=_at(path),
            hint=_use_of_definition(path, sources),
        )
        for path in layout.avsc
        if used is not None and path not in used
    ]
    unread = [
        make_finding(
            "REPO-R023",
            "nothing reads this file",
            location=_at(path),
            hint=_place_of_manifest(path, sources),
        )
        for path in layout.foreign
    ]
    findings += _grouped_by_folder([*unread, *unused], sources)
    findings += [
        make_finding(
            "REPO-R013",
            "the file's name contains characters that do not print",
            location=_at(one_line(path)),
            hint="rename it; a manifest gives an odd topic's name by topic:",
        )
        for path in layout.unnameable
    ]
    return findings + _broken_links(layout, sources)


def _grouped_by_folder(strays: Sequence[Finding], sources: TrackedFiles) -> Iterator[Finding]:
    """One finding for a folder of manifests that has another name than `namespaces`."""
    by_folder: dict[str, list[Finding]] = {}
    for stray in strays:
        path = stray.location.file if stray.location else ""
        by_folder.setdefault(path.partition("/")[0], []).append(stray)
    for folder, findings in by_folder.items():
        files = [finding.location.file for finding in findings if finding.location]
        if sum(_is_moved_manifest(file, sources) for file in files) < _MOVED:
            yield from findings
            continue
        whole = group(f"nothing reads the {len(files):,} files below {folder}/", findings)
        free = not any(path.startswith("namespaces/") for path in sources.paths)
        hint = f"git mv {folder} namespaces" if free else f"move {folder}/… to namespaces/…"
        yield replace(whole, hint=f"manifests are read below namespaces/: {hint}")


def _is_moved_manifest(path: str, sources: TrackedFiles) -> bool:
    """Whether it would be a manifest if its first folder were `namespaces`."""
    if path.startswith("namespaces/") or path.count("/") != _MANIFEST_SLASHES:
        return False
    try:
        match = _KIND.search(sources.peek(path)) if path.endswith(".yaml") else None
    except UnreadableFileError:
        return False
    return match is not None and match[1] in (b"Topic", b"Namespace")


def broken_definitions(
    layout: Layout, used: set[str] | None, builder: SchemaBuilder, known: Iterable[Finding]
) -> list[Finding]:
    """What is wrong with definitions, or parts of them, that nothing uses: warnings.

    `used` as for `find_strays`; `known` are the findings about what is used.
    """
    parts = {(finding.rule, finding.location, finding.message) for finding in known}
    # Where a manifest could not be understood, a file beside it may be of any schema type.
    files = [
        text for text in layout.avsc if used is not None or not text.startswith(WITH_MANIFESTS)
    ]
    return [
        replace(finding, severity=Severity.WARNING)
        for finding in builder.findings_beside(files)
        if (finding.rule, finding.location, finding.message) not in parts
    ]


def _use_of_definition(path: str, sources: TrackedFiles) -> str:
    """Which manifest or definition would have to name it."""
    folder, name = posixpath.split(path)
    manifest = posixpath.join(folder, f"{posixpath.splitext(name)[0]}.yaml")
    if manifest in sources:
        return f"write definition: {name} in {manifest}, or remove it"
    if path.startswith("namespaces/"):
        return f"write a manifest {manifest} with definition: {name}, or remove it"
    by_topic = f"a topic's manifest (definition: ../../../{path})"
    types = _types_in(path, sources)
    if types:
        return f"name it in {by_topic}, or {types[0]} in another definition, or remove it"
    return f"name it in {by_topic}, or remove it"


def _types_in(path: str, sources: TrackedFiles) -> list[str]:
    try:
        text = sources.peek(path).decode()
        return [one_line(name) for name, _, _ in named_types(read_json(text))]
    except (UnreadableFileError, UnicodeDecodeError, JsonTextError, RecursionError):
        return []


def _place_of_manifest(path: str, sources: TrackedFiles) -> str:
    """Where a manifest of its kind would be read."""
    try:
        match = _KIND.search(sources.peek(path))
    except UnreadableFileError:
        match = None
    place = _PLACES.get(match[1].decode()) if match else None
    return f"move it to {place}" if place else _ANYWHERE


def _broken_links(layout: Layout, sources: TrackedFiles) -> list[Finding]:
    findings: list[Finding] = []
    for path in layout.links:
        try:
            sources.peek(path)
        except UnreadableFileError as error:
            findings.append(unreadable(path, error))
    return findings


def _at(path: str) -> Location:
    return Location(file=path)
