"""An existing registry, for writing it down as files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from gitops.model.errors import NotThereError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import is_unset, managed_items, snake_case
from gitops.model.repository import Repository
from gitops.model.state import NamespaceState, RegistryState, Scope, TopicState
from gitops.ports import FileTree, Progress, Registry, no_progress
from gitops.repository.json_schema import FOLDER
from gitops.repository.json_schema import render as render_json_schema
from gitops.repository.json_schema import schemas as schemas_of_kinds
from gitops.repository.loader import load
from gitops.repository.selection import OverlaidTree
from gitops.repository.writer import Protos, render
from gitops.repository.writing.protos import OTHER_BYTES, sources_of
from gitops.usecases.format import format_repository
from gitops.usecases.imported_types import TypesInUse, laid_out


def observe_all(
    registry: Registry,
    *,
    namespaces: tuple[NamespaceName, ...] = (),
    recorded: Iterable[TopicName] = (),
    progress: Progress = no_progress,
) -> RegistryState:
    """Everything in these namespaces, in all where none is named.

    `recorded` are topics that may exist without being listed. Topics without a schema and
    without policies of their own are left out. Raises NotThereError for a namespace that the
    registry does not have.
    """
    wanted = namespaces or registry.list_namespaces()
    exist = registry.observe(Scope(namespaces=frozenset(wanted))).namespaces
    for name in wanted:
        if not exist[name].exists:
            raise NotThereError(f"there is no namespace '{name}'", where=registry.address)
    topics: dict[tuple[NamespaceName, str], TopicName] = {}
    for done, name in enumerate(wanted):
        progress("list topics", done, len(wanted))
        for topic in registry.list_topics(name):
            topics.setdefault((topic.namespace, topic.local_name), topic)
    for topic in sorted(recorded):
        if topic.namespace in wanted:
            topics.setdefault((topic.namespace, topic.local_name), topic)
    scope = Scope(namespaces=frozenset(wanted), topics=frozenset(topics.values()))
    state = registry.observe(scope, progress)
    return replace(
        state, topics={one.topic: one for one in state.topics.values() if not one.is_empty}
    )


def new_to(
    repository: Repository, state: RegistryState
) -> tuple[RegistryState, tuple[TopicName, ...]]:
    """The part of `state` that has no manifest yet, and the topics that have one."""
    managed = {(topic.namespace, topic.local_name) for topic in repository.desired.topics}
    kept = tuple(t for t in sorted(state.topics) if (t.namespace, t.local_name) in managed)
    new = {name: topic for name, topic in state.topics.items() if name not in kept}
    return replace(state, topics=new), kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Files by path, and by topic why its PROTOBUF_NATIVE schema is not written as `.proto`.

    `removed` are definitions of topics that nothing uses any more once these have other ones,
    `unused` shared ones of which that is true, which stay. `unshared` are the types, by topic,
    that the registry has otherwise than files that others use.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    kept_as_base64: Mapping[TopicName, str] = field(default_factory=dict)
    unshared: Mapping[TopicName, tuple[str, ...]] = field(default_factory=dict)


def as_files(tree: FileTree, repository: Repository, state: RegistryState) -> Imported:
    """The files of what is not in the repository yet, with those that they refer to.

    Shared types that the registry has the same stay references. An Avro definition with another
    definition of such a type is a `.json` file, where nobody else looks for types.
    """
    state = replace(state, namespaces={n: _as_set(one) for n, one in state.namespaces.items()})
    in_use = TypesInUse(tree, repository)
    made = _compiling(tree, state, ())
    files = in_use.referring(made.files, state)
    if unshared := in_use.redefined(files, state):
        made = _compiling(tree, state, unshared)
        files = in_use.referring(made.files, state)
        files |= _laid_out(tree, files, [state.topics[topic] for topic in unshared])
    return replace(made, files=_formatted(tree, files), unshared=unshared)


def _as_set(namespace: NamespaceState) -> NamespaceState:
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
        path: laid_out(path, files[path], state.history.latest.info)
        for state in topics
        if state.history.latest
        for path in loaded.topics[state.topic].definitions
        if path in files
    }


def _compiling(tree: FileTree, state: RegistryState, unshared: Collection[TopicName]) -> Imported:
    """The files with each PROTOBUF_NATIVE as `.proto` files, if these compile to the same bytes.

    They are beside the manifests or else in a folder of their own.
    """
    sources, reasons = sources_of(state)
    apart: set[TopicName] = set()
    taken = tree.paths()
    while True:
        protos = Protos(sources=sources, apart=apart)
        files = render(state, taken=taken, protos=protos, unshared=unshared)
        others = _compiled_otherwise(tree, files, state, sources) if sources else {}
        if not others:
            return Imported(files=files, kept_as_base64=reasons)
        for topic in others.keys() & apart:
            del sources[topic]
            reasons[topic] = others[topic]
        apart |= others.keys()


def _compiled_otherwise(
    tree: FileTree, files: Mapping[str, bytes], state: RegistryState, topics: Iterable[TopicName]
) -> dict[TopicName, str]:
    """Those of these topics whose files make another schema than the registry has, and why."""
    loaded = load(OverlaidTree(tree, files))
    problems = {each.subject: each.message for each in reversed(loaded.findings)}
    found: dict[TopicName, str] = {}
    for topic in topics:
        desired, held = loaded.desired.topics.get(topic), state.topics[topic].history.latest
        latest = desired.history.latest if desired else None
        if latest is None or held is None or latest.info != held.info:
            found[topic] = problems.get(str(topic), OTHER_BYTES)
    return found


def _formatted(tree: FileTree, files: Mapping[str, bytes]) -> dict[str, bytes]:
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
