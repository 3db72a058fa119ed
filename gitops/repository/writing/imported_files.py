"""What a registry has as new files of a repository."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from gitops.model.policy import is_unset, managed_items, snake_case
from gitops.model.state import NamespaceState, RegistryState, Repository, TopicState
from gitops.ports import FileTree
from gitops.repository.documents.editor_schemas import FOLDER
from gitops.repository.documents.editor_schemas import render as render_json_schema
from gitops.repository.documents.editor_schemas import schemas as schemas_of_kinds
from gitops.repository.file_trees import MAX_FILE_BYTES, OverlaidTree, read_unix_lines
from gitops.repository.formatting.repository import format_repository
from gitops.repository.loader import load
from gitops.repository.writing.imported_types import TypesInUse, avsc_layout
from gitops.repository.writing.manifests import Protos, render
from gitops.repository.writing.proto_files import OTHER_BYTES, sources_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFiles:
    """Files by path, and by topic why its PROTOBUF_NATIVE schema is not written as `.proto`.

    `removed` are definitions of topics that nothing uses any more once these have other ones,
    `unused` shared ones of which that is true, which stay. `unshared` are the types, by topic,
    that the registry has differently from files that others use. `notes` are sentences about
    observed clients.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    kept_as_base64: Mapping[TopicName, str] = field(default_factory=dict)
    unshared: Mapping[TopicName, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def imported_files(tree: FileTree, repository: Repository, state: RegistryState) -> ImportedFiles:
    """The files of what is not in the repository yet, with those that they refer to.

    Shared types that the registry has the same stay references. An Avro definition with another
    definition of such a type is a `.json` file, where nobody else looks for types.
    Raises UsageError for a schema that no file of a repository may have.
    """
    for topic in state.topics.values():
        latest = topic.history.latest
        if latest and len(latest.info.schema) > MAX_FILE_BYTES:
            size, most = len(latest.info.schema) >> 20, MAX_FILE_BYTES >> 20
            raise UsageError(
                f"the schema of {topic.topic} has {size} MiB, and a file may have {most} MiB",
                hint="name the namespaces to import, and leave this one out",
            )
    state = replace(
        state, namespaces={n: _policies_as_set(item) for n, item in state.namespaces.items()}
    )
    in_use = TypesInUse(tree, repository)
    made = _compilable_protos(tree, state, ())
    files = in_use.referring(made.files, state)
    if unshared := in_use.redefined(files, state):
        made = _compilable_protos(tree, state, unshared)
        files = in_use.referring(made.files, state)
        files |= _laid_out(tree, files, [state.topics[topic] for topic in unshared])
    files = {path: data for path, data in files.items() if read_unix_lines(tree, path) != data}
    return replace(made, files=_format(tree, files), unshared=unshared)


def _policies_as_set(namespace: NamespaceState) -> NamespaceState:
    """Without the values that a broker answers for policies that nobody has set."""
    unset = [key for key, value in managed_items(namespace.policies) if is_unset(key, value)]
    return replace(
        namespace, policies=replace(namespace.policies, **{snake_case(key): None for key in unset})
    )


def _laid_out(
    tree: FileTree, files: Mapping[str, bytes], topics: Iterable[TopicState]
) -> dict[str, bytes]:
    """The definitions of these topics, which `fmt` passes over."""
    loaded = load(OverlaidTree(tree, files))
    return {
        path: avsc_layout(path, files[path], state.history.latest.info)
        for state in topics
        if state.history.latest
        for path in loaded.topics[state.topic].definitions
        if path in files
    }


def _compilable_protos(
    tree: FileTree, state: RegistryState, unshared: Collection[TopicName]
) -> ImportedFiles:
    """The files with each PROTOBUF_NATIVE as `.proto` files, if these compile to the same bytes.

    They are beside the manifests or else in a folder of their own.
    """
    sources, reasons = sources_of(state)
    apart: set[TopicName] = set()
    taken = tree.paths()
    existing = partial(read_unix_lines, tree)
    while True:
        protos = Protos(sources=sources, apart=apart, existing=existing)
        files = render(state, taken=taken, protos=protos, unshared=unshared)
        others = _compiled_otherwise(tree, files, state, sources) if sources else {}
        if not others:
            return ImportedFiles(files=files, kept_as_base64=reasons)
        for topic in others.keys() & apart:
            del sources[topic]
            reasons[topic] = others[topic]
        apart |= others.keys()


def _compiled_otherwise(
    tree: FileTree, files: Mapping[str, bytes], state: RegistryState, topics: Iterable[TopicName]
) -> dict[TopicName, str]:
    """Those of these topics whose files make another schema than the registry has, and why."""
    loaded = load(OverlaidTree(tree, files))
    problems = {finding.subject: finding.message for finding in reversed(loaded.findings)}
    grouped: dict[TopicName, str] = {}
    for topic in topics:
        desired, held = loaded.desired.topics.get(topic), state.topics[topic].history.latest
        latest = desired.history.latest if desired else None
        if latest is None or held is None or latest.info != held.info:
            grouped[topic] = problems.get(str(topic), OTHER_BYTES)
    return grouped


def _format(tree: FileTree, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """New files of a repository as `fmt` lays them out, with the JSON Schemas that they name."""
    schemas = {
        f"{FOLDER}/{name}": render_json_schema(schema).encode()
        for name, schema in schemas_of_kinds().items()
    }
    known = set(tree.paths())
    laid_out = format_repository(OverlaidTree(tree, files), tuple(files)).changes if files else ()
    return {
        **({path: data for path, data in schemas.items() if path not in known} if files else {}),
        **files,
        **{change.path: change.after for change in laid_out},
    }
