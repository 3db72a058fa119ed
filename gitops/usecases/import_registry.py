"""An existing registry as files, and its latest versions as changes of files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitops.git.checkout import open_checkout
from gitops.git.references import head_of
from gitops.git.tree import tree_of
from gitops.model.errors import NotThereError, UnreadableFileError, UsageError
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import is_unset, managed_items, snake_case
from gitops.model.state import NamespaceState, RegistryState, Repository, Scope, TopicState
from gitops.planning.policies import changes
from gitops.ports import FileTree, Progress, Registry, no_progress
from gitops.repository.definitions.protoc import Protoc
from gitops.repository.definitions.shared_types import WITH_MANIFESTS
from gitops.repository.documents.editor_schemas import FOLDER
from gitops.repository.documents.editor_schemas import render as render_json_schema
from gitops.repository.documents.editor_schemas import schemas as schemas_of_kinds
from gitops.repository.file_trees import OverlaidTree
from gitops.repository.loader import load
from gitops.repository.writing.imported_types import TypesInUse, avsc_layout
from gitops.repository.writing.manifests import Protos, render
from gitops.repository.writing.proto_files import OTHER_BYTES, sources_of
from gitops.repository.writing.topic_rewriter import TopicRewriter, is_unchanged, used_definitions
from gitops.schemas.types import AVRO_DEFINED
from gitops.usecases.fmt import format_repository

# An existing registry, for writing it down as files.


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
class ImportedFiles:
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


def as_files(tree: FileTree, repository: Repository, state: RegistryState) -> ImportedFiles:
    """The files of what is not in the repository yet, with those that they refer to.

    Shared types that the registry has the same stay references. An Avro definition with another
    definition of such a type is a `.json` file, where nobody else looks for types.
    """
    state = replace(
        state, namespaces={n: _policies_as_set(one) for n, one in state.namespaces.items()}
    )
    in_use = TypesInUse(tree, repository)
    made = _compilable_protos(tree, state, ())
    files = in_use.referring(made.files, state)
    if unshared := in_use.redefined(files, state):
        made = _compilable_protos(tree, state, unshared)
        files = in_use.referring(made.files, state)
        files |= _laid_out(tree, files, [state.topics[topic] for topic in unshared])
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
    while True:
        protos = Protos(sources=sources, apart=apart)
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
    problems = {each.subject: each.message for each in reversed(loaded.findings)}
    found: dict[TopicName, str] = {}
    for topic in topics:
        desired, held = loaded.desired.topics.get(topic), state.topics[topic].history.latest
        latest = desired.history.latest if desired else None
        if latest is None or held is None or latest.info != held.info:
            found[topic] = problems.get(str(topic), OTHER_BYTES)
    return found


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


# The registry's latest version of topics that have a manifest, as changes of their files.


def update_topics(
    tree: FileTree, repository: Repository, states: Sequence[TopicState]
) -> ImportedFiles:
    """The files of these topics as the registry has them, so that a plan has nothing to say.

    Nothing else may change by it. Raises NotThereError where the registry has nothing to take, and
    UsageError where the files cannot say what the registry has, or would say something else of
    others.
    """
    updating = frozenset(state.topic for state in states)
    found, now = ImportedFiles(), repository
    for state in states:
        if state.is_empty:
            hint = "remove its manifest"
            raise NotThereError(f"{state.topic} has no schema in the registry", hint=hint)
        one = _update_topic(OverlaidTree(tree, found.files), now, state, updating)
        found = replace(
            found,
            files={**found.files, **one.files},
            kept_as_base64={**found.kept_as_base64, **one.kept_as_base64},
        )
        now = load(OverlaidTree(tree, found.files))
    if any(each.severity is Severity.ERROR for each in now.findings):
        raise UsageError("the files have errors", hint="see `pulsar-gitops validate`")
    apart = [str(state.topic) for state in states if not _says(now, state)]
    if apart:
        raise UsageError(
            f"the registry has different versions of what {', '.join(apart)} shares with others",
            hint="change the files that they share by hand: an apply then brings the others along",
        )
    return _unused_files(tree, repository, found, now)


def _update_topic(
    tree: FileTree, repository: Repository, state: TopicState, updating: Collection[TopicName]
) -> ImportedFiles:
    _require_protoc(repository, state.topic)
    if _says(repository, state):
        return ImportedFiles()
    others: set[str] = set()
    for attempt in _attempts(tree, repository, state):
        overlaid = OverlaidTree(tree, attempt.files)
        laid_out = format_repository(overlaid, tuple(attempt.files)).changes
        files = {**attempt.files, **{change.path: change.after for change in laid_out}}
        after = load(OverlaidTree(tree, files))
        if not _says(after, state):
            continue
        changed = _changed_subjects(repository, after, updating)
        if not changed:
            return replace(attempt, files=files)
        others |= changed
    where = repository.topics[state.topic].manifest.file
    if others:
        raise UsageError(
            f"an update of {state.topic} would change {', '.join(sorted(others))}: the registry "
            "has another version of what they share",
            where=where,
            hint="where the registry has the same for those, name them as well; else change what "
            "they share by hand: an apply then brings the others along",
        )
    raise UsageError(
        f"the files of {state.topic} cannot say what the registry has",
        where=where,
        hint=f"look at it with `pulsar-gitops schemas get {state.topic}`",
    )


def _require_protoc(repository: Repository, topic: TopicName) -> None:
    """Raise UsageError where the files are `.proto` files, and nothing can compile them."""
    source = repository.topics[topic]
    if any(path.endswith(".proto") for path in source.definitions) and not Protoc.is_installed():
        raise UsageError(
            f"no protoc to compile {source.definitions[0]} with",
            where=source.manifest.file,
            hint="install pulsar-schema-gitops with its extra 'protobuf'",
        )


def _changed_subjects(
    before: Repository, after: Repository, updating: Collection[TopicName]
) -> set[str]:
    """The other topics, and the clients, of which the files say something else."""
    topics = {
        str(name)
        for name, topic in before.desired.topics.items()
        if name not in updating and after.desired.topics.get(name) != topic
    }
    clients = {client.name: client for client in after.clients}
    return topics | {
        f"client {client.name}" for client in before.clients if clients.get(client.name) != client
    }


def _unused_files(
    tree: FileTree, before: Repository, found: ImportedFiles, after: Repository
) -> ImportedFiles:
    """With the definitions that nothing uses any more, without files that stay as they are."""
    final = OverlaidTree(tree, found.files)
    left = sorted(
        used_definitions(tree, before) - used_definitions(final, after) - found.files.keys()
    )
    return replace(
        found,
        files={path: data for path, data in found.files.items() if _read(tree, path) != data},
        removed=tuple(path for path in left if path.startswith(WITH_MANIFESTS)),
        unused=tuple(path for path in left if not path.startswith(WITH_MANIFESTS)),
    )


def require_committed(tree: FileTree, root: Path, paths: Iterable[str]) -> None:
    """Raise UsageError where a file that would be overwritten differs from the last commit."""
    dirty: list[str] = []
    try:
        with open_checkout(root) as checkout:
            commit = head_of(checkout)
            committed = tree_of(checkout, commit) if commit else None
            dirty = [p for p in paths if committed is None or _read(committed, p) != _read(tree, p)]
    except UsageError:  # without git nothing is committed
        return
    if dirty:
        raise UsageError(
            f"{', '.join(dirty)} would be overwritten, and has changes that are not committed",
            hint="commit or stash them first",
        )


def _read(tree: FileTree, path: str) -> bytes | None:
    try:
        return tree.read(path).replace(b"\r\n", b"\n")
    except UnreadableFileError:
        return None


def _says(repository: Repository, state: TopicState) -> bool:
    """Whether a plan for the files would leave the topic alone."""
    desired = repository.desired.topics.get(state.topic)
    if desired is None or changes(desired.policies, state.policies):
        return False
    held, wanted = state.history.latest, desired.history.latest
    if held is None or wanted is None:
        return held is wanted
    return is_unchanged(held.info, wanted.info)


def _attempts(tree: FileTree, repository: Repository, state: TopicState) -> Iterator[ImportedFiles]:
    """The definition alone, then the manifest with files of its own."""
    source = repository.topics[state.topic]
    latest = state.history.latest
    writer = TopicRewriter(tree, repository, state)
    if latest and latest.info.type in AVRO_DEFINED and source.definitions:
        file = source.definitions[0]
        yield ImportedFiles(files=writer.with_references({file: latest.info.schema.encode()}))
    sources, reasons = sources_of(RegistryState(topics={state.topic: state}))
    for protos in (Protos(sources=sources), Protos(sources=sources, apart=sources), Protos()):
        kept = reasons if not sources or protos.sources else dict.fromkeys(sources, OTHER_BYTES)
        for taken in (writer.free_of_own, tree.paths()):
            files = writer.rendered(protos, taken)
            if files:
                yield ImportedFiles(files=files, kept_as_base64=kept)
        if not sources:
            return
