"""A registry's latest version of topics that have a manifest, as changes of their files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from gitops.model.errors import NotThereError, UsageError, extra_hint
from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.state import RegistryState, Repository, TopicState
from gitops.planning.policies import changes
from gitops.ports import FileTree
from gitops.repository.definitions.protoc import Protoc
from gitops.repository.definitions.shared_types import WITH_MANIFESTS
from gitops.repository.file_trees import OverlaidTree, read_unix_lines
from gitops.repository.formatting.repository import format_repository
from gitops.repository.loader import load
from gitops.repository.writing.imported_files import ImportedFiles
from gitops.repository.writing.manifests import Protos
from gitops.repository.writing.proto_files import OTHER_BYTES, sources_of
from gitops.repository.writing.topic_rewriter import TopicRewriter, is_unchanged, used_definitions
from gitops.schemas.types import AVRO_DEFINED


def update_topics(
    tree: FileTree, repository: Repository, states: Sequence[TopicState]
) -> ImportedFiles:
    """The files of these topics as the registry has them, so that a plan has nothing to say.

    Nothing else may change by it. Raises NotThereError where the registry has nothing to take, and
    UsageError where the files cannot express what the registry has, or would say something else of
    others.
    """
    pending = {state.topic for state in states}
    imported_files, now = ImportedFiles(), repository
    for state in states:
        if state.is_empty:
            hint = "remove its manifest"
            raise NotThereError(f"{state.topic} has no schema in the registry", hint=hint)
        item = _update_topic(OverlaidTree(tree, imported_files.files), now, state, pending)
        pending.remove(state.topic)
        imported_files = replace(
            imported_files,
            files={**imported_files.files, **item.files},
            kept_as_base64={**imported_files.kept_as_base64, **item.kept_as_base64},
        )
        now = load(OverlaidTree(tree, imported_files.files))
    if any(finding.severity is Severity.ERROR for finding in now.findings):
        raise UsageError("the files have errors", hint="see `pulsar-gitops validate`")
    apart = [str(state.topic) for state in states if not _says(now, state)]
    if apart:
        raise UsageError(
            f"the registry has different versions of what {', '.join(apart)} shares with others",
            hint="change the files that they share by hand: an apply then brings the others along",
        )
    return _unused_files(tree, repository, imported_files, now)


def _update_topic(
    tree: FileTree, repository: Repository, state: TopicState, pending: Collection[TopicName]
) -> ImportedFiles:
    """What says so of one topic; what is said of the `pending` ones, it among them, may change."""
    _require_protoc(repository, state.topic)
    if _says(repository, state):
        return ImportedFiles()
    others: set[str] = set()
    for attempt in _attempts(tree, repository, state, pending):
        overlaid = OverlaidTree(tree, attempt.files)
        laid_out = format_repository(overlaid, tuple(attempt.files)).changes
        files = {**attempt.files, **{change.path: change.after for change in laid_out}}
        after = load(OverlaidTree(tree, files))
        if not _says(after, state):
            continue
        changed = _changed_subjects(repository, after, pending)
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
        f"the files of {state.topic} cannot express what the registry has",
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
            hint=extra_hint("protobuf"),
        )


def _changed_subjects(
    before: Repository, after: Repository, pending: Collection[TopicName]
) -> set[str]:
    """The other topics, and the clients, of which the files say something else."""
    topics = {
        str(name)
        for name, topic in before.desired.topics.items()
        if name not in pending and after.desired.topics.get(name) != topic
    }
    clients = {client.name: client for client in after.clients}
    return topics | {
        f"client {client.name}" for client in before.clients if clients.get(client.name) != client
    }


def _unused_files(
    tree: FileTree, before: Repository, imported_files: ImportedFiles, after: Repository
) -> ImportedFiles:
    """With the definitions that nothing uses any more, without files that stay as they are."""
    final = OverlaidTree(tree, imported_files.files)
    left = sorted(
        used_definitions(tree, before)
        - used_definitions(final, after)
        - imported_files.files.keys()
    )
    files = imported_files.files.items()
    return replace(
        imported_files,
        files={path: data for path, data in files if read_unix_lines(tree, path) != data},
        removed=tuple(path for path in left if path.startswith(WITH_MANIFESTS)),
        unused=tuple(path for path in left if not path.startswith(WITH_MANIFESTS)),
    )


def _says(repository: Repository, state: TopicState) -> bool:
    """Whether a plan for the files would leave the topic alone."""
    desired = repository.desired.topics.get(state.topic)
    if desired is None or changes(desired.policies, state.policies):
        return False
    held, wanted = state.history.latest, desired.history.latest
    if held is None or wanted is None:
        return held is wanted
    return is_unchanged(held.info, wanted.info)


def _attempts(
    tree: FileTree, repository: Repository, state: TopicState, pending: Collection[TopicName]
) -> Iterator[ImportedFiles]:
    """The definition alone, then the manifest with files of its own."""
    source = repository.topics[state.topic]
    latest = state.history.latest
    writer = TopicRewriter(tree, repository, state, pending)
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
