"""`restore`: the recorded histories of a registry, with their version numbers, made again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from gitops.journal.versions import read_versions
from gitops.model.clients import ObservedClients
from gitops.model.errors import OutsideError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.restore import Difference, Restore, RestoreCheck, TopicRestore, UnfinishedRestore
from gitops.model.schema import SchemaHistory
from gitops.model.state import NamespaceState, RegistryState, Repository, Scope, TopicState
from gitops.planning.fingerprints import is_same
from gitops.planning.held_policies import before_restore
from gitops.planning.lost_versions import (
    SNAPSHOT,
    Contradiction,
    RemovedVersions,
    journal_notes,
    source_of,
)
from gitops.planning.refusals import version_list
from gitops.planning.restore import (
    RestoreInput,
    check_restore,
    policy_lockouts,
    prove_restore,
)
from gitops.ports import (
    ClientSource,
    FileTree,
    Progress,
    Registry,
    UnreadableTopicsError,
    no_progress,
)
from gitops.registries.git.recorded_versions import past_topics, recorded_at_head
from gitops.registries.snapshot import SnapshotRegistry
from gitops.repository import snapshots
from gitops.repository.observed_clients import unread_limits

_NONE: Final = UnfinishedRestore()


def read_snapshot(
    tree: FileTree, registry: str, namespaces: Collection[NamespaceName] = ()
) -> RegistryState:
    """All that was recorded of a registry, or of these namespaces of it; each file is read once.

    Raises UsageError for a broken file, and for a namespace that was not recorded.
    """
    known = sorted(snapshots.recorded_namespaces(tree, registry))
    if missing := sorted(set(namespaces) - set(known)):
        raise UsageError(
            f"the snapshot has no namespace {missing[0]}",
            where=snapshots.folder_of(registry),
            hint=f"it has {', '.join(map(str, known))}",
        )
    wanted = namespaces or known
    spaces = {name: NamespaceState(namespace=name) for name in wanted}
    topics, partitions = {}, {}
    for path in snapshots.snapshot_files(tree, registry):
        if snapshots.namespace_of(path) not in spaces:
            continue
        if snapshots.is_of_topic(path):
            state, result = snapshots.read_topic(tree, path)
            topics[state.topic], partitions[state.topic] = state, result
        else:
            namespace = snapshots.read_namespace_state(tree, path)
            spaces[namespace.namespace] = namespace
    return RegistryState(namespaces=spaces, topics=topics, partitions=partitions)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRegistry:
    """All that was recorded of a registry: the snapshot, its past in git, and journals.

    It is of the registry `source`. `additions` are the files that have versions which the snapshot
    lacks. `journaled` are the subjects of which only journals have anything, so that
    nothing is known of their policies. `contradictions` are versions of which the records have
    different schemas, `unrecorded` topics that only git's history has. `notes` say what does not
    count, and what is not known.
    """

    source: str
    state: RegistryState
    additions: tuple[str, ...] = ()
    journaled: frozenset[NamespaceName | TopicName] = frozenset()
    contradictions: Mapping[TopicName, Contradiction] = field(default_factory=dict)
    unrecorded: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()


def read_recorded(  # noqa: PLR0913 - the last two by name
    root: Path,
    tree: FileTree,
    snapshot: SnapshotRegistry,
    namespaces: Collection[NamespaceName] = (),
    *,
    address: str = "",
    trusts_files: bool = False,
) -> RecordedRegistry:
    """What was recorded of a registry at this address, or of these namespaces of it.

    With `trusts_files` a file of the snapshot decides where records contradict it. Raises
    UsageError for a broken file, and for a namespace that was not recorded.
    """
    by_journals = frozenset(read_versions(root, snapshot.name, address).histories)
    named = {topic.namespace for topic in by_journals}
    in_snapshot = snapshots.recorded_namespaces(tree, snapshot.name)
    wanted = [name for name in namespaces if name in in_snapshot or name not in named]
    state = RegistryState()
    if wanted or not namespaces:
        state = read_snapshot(tree, snapshot.name, wanted)
    spaces = namespaces or {*in_snapshot, *named}
    keepers = {topic.keeper for topic in state.topics}
    added = {topic for topic in by_journals if topic not in keepers and topic.namespace in spaces}
    known = {*keepers, *added}
    past = past_topics(root, snapshot)
    gone = {topic for topic in past if topic.keeper not in known and topic.namespace in spaces}
    recorded = recorded_at_head(root, snapshot, address=address)({*state.topics, *added, *gone})
    newer = {*recorded.journals, *recorded.removed} - gone
    topics = dict(state.topics)
    for topic in newer:
        before = topics.get(topic, TopicState(topic=topic, exists=False))
        topics[topic] = replace(before, history=_union(recorded.history(topic)))
    new = {topic.namespace for topic in topics} - state.namespaces.keys()
    spaces_of_journals = {name: NamespaceState(namespace=name) for name in new}
    contradictions = dict(recorded.contradictions)
    decided: list[str] = []
    for topic, contradiction in sorted(contradictions.items() if trusts_files else ()):
        file, other = contradiction.sources
        if file == SNAPSHOT:
            decided.append(f"v{contradiction.version} of {topic} is another schema in {other}")
            del contradictions[topic]
    limits = (f"{recorded.past_limit}: {recorded.past_hint}",) if recorded.past_limit else ()
    return RecordedRegistry(
        source=snapshot.name,
        state=replace(state, topics=topics, namespaces={**state.namespaces, **spaces_of_journals}),
        additions=tuple(sorted({source_of(recorded, topic) for topic in newer})),
        journaled=frozenset({*(added & topics.keys()), *new}),
        contradictions=contradictions,
        unrecorded=tuple(
            _unrecorded_topic(topic, recorded.removed[topic])
            for topic in sorted(gone & recorded.removed.keys())
        ),
        notes=(*journal_notes(recorded, address), *limits, *decided),
    )


def _union(history: SchemaHistory) -> SchemaHistory:
    """Each number once: of a number that is twice the first entry counts."""
    entries = {entry.version: entry for entry in reversed(history.entries)}
    return replace(history, entries=tuple(entries[number] for number in sorted(entries)))


def _unrecorded_topic(topic: TopicName, removed: RemovedVersions) -> Difference:
    """A topic of which git has versions, and the snapshot has no file."""
    versions = version_list(sorted({entry.version for entry in removed.entries}))
    commit = removed.commits[0][:7]
    return Difference(
        subject=topic,
        reason=f"{removed.file} at commit {commit} has {versions}, and snapshots/ has no file of "
        "it: it is not restored, and stored messages may carry these numbers",
        hint=f"to restore it too: git checkout {commit} -- {removed.file}",
    )


def restore(
    recorded: RecordedRegistry,
    registry: Registry,
    progress: Progress = no_progress,
    *,
    files: Repository | None = None,
    unfinished: UnfinishedRestore = _NONE,
) -> Restore:
    """What restores what was recorded into the registry, or what keeps it from that.

    Policies of which only journals know the subject stay as they are. `files` are git's: a schema
    of them that no restored version has may have been registered, and they declare clients that the
    recorded policies may lock out. A cluster is asked who is connected now to topics with such
    clients. `unfinished` is what restores left in the registry. Nothing is written. Raises
    OutsideError where the registry does not answer.
    """
    live, unreadable = _observe(recorded.state, registry, progress)
    former = before_restore(unfinished.held, live)
    topics = {
        topic: replace(recorded_topic, policies=former.topics[topic].policies)
        if topic in recorded.journaled and topic in former.topics
        else recorded_topic
        for topic, recorded_topic in recorded.state.topics.items()
    }
    namespaces = {
        name: replace(namespace, policies=former.namespaces[name].policies)
        if name in recorded.journaled
        else namespace
        for name, namespace in recorded.state.namespaces.items()
    }
    state = replace(recorded.state, topics=topics, namespaces=namespaces)
    restore_input = RestoreInput(
        source=recorded.source,
        recorded=state,
        live=live,
        registry=registry.name,
        address=registry.address,
        broker=registry.broker,
        unreadable=unreadable,
        additions=recorded.additions,
        contradictions=recorded.contradictions,
        unfinished=unfinished,
        clients=files.clients if files else (),
        observed_clients=files.observed_clients.get(registry.name) if files else None,
        rules=files.config.rules if files else {},
        unrecorded=_unrecorded_topics(state, live, registry),
    )
    restore_input, limits = _with_live_clients(restore_input, registry, progress)
    proved = prove_restore(restore_input)
    restored = [topic for topic in proved.topics if topic.versions]
    schemas = _unrecorded_schemas(restored, files.desired if files else None)
    return replace(
        proved,
        unrecorded=(*recorded.unrecorded, *schemas),
        notes=(*recorded.notes, *limits, *proved.notes),
    )


def _with_live_clients(
    restore_input: RestoreInput, registry: Registry, progress: Progress
) -> tuple[RestoreInput, tuple[str, ...]]:
    """With the clients that are connected to topics whose clients are locked out, and limits."""
    states = {**restore_input.unrecorded, **restore_input.live.topics}
    affected = [
        lockouts.change.topic
        for lockouts in policy_lockouts(restore_input).topics
        if lockouts.is_any and states[lockouts.change.topic].exists
    ]
    if not affected or not isinstance(registry, ClientSource):
        return restore_input, ()
    live = registry.observe_clients(affected, progress)
    known = restore_input.observed_clients or ObservedClients()
    with_live = replace(restore_input, observed_clients=known.with_live(live))
    return with_live, tuple(unread_limits(live))


def _unrecorded_schemas(
    restored: Iterable[TopicRestore], desired: RegistryState | None
) -> Iterator[Difference]:
    """Topics whose schema in git is none of their recorded versions."""
    for topic_restore in restored:
        wanted = desired.topics.get(topic_restore.topic) if desired else None
        history = topic_restore.recorded
        if wanted is None or wanted.history.latest is None:
            continue
        schema = wanted.history.latest.info
        if not any(is_same(entry.info, schema) for entry in history.entries):
            yield Difference(
                subject=topic_restore.topic,
                reason="git defines a schema that no recorded version has, and the next version is "
                f"v{history.next_version}",
                hint="if it was registered, messages may carry that number and later ones: restore "
                "a newer snapshot, or register in their order what git had since, with "
                "`pulsar-gitops schemas upload`, before anything else gets these numbers",
            )


def _unrecorded_topics(
    recorded: RegistryState, live: RegistryState, registry: Registry
) -> dict[TopicName, TopicState]:
    """Topics that the snapshot does not have, of namespaces whose policies a restore changes.

    None where the registry cannot list or read them.
    """
    topics: set[TopicName] = set()
    for name, namespace in recorded.namespaces.items():
        state = live.namespaces[name]
        if state.exists and state.policies != namespace.policies:
            with suppress(OutsideError):
                topics |= {*registry.list_topics(name)} - recorded.topics.keys()
    if not topics:
        return {}
    spaces = frozenset(topic.namespace for topic in topics)
    try:
        return dict(registry.observe(Scope(namespaces=spaces, topics=frozenset(topics))).topics)
    except UnreadableTopicsError as error:
        return dict(error.state.topics)


def check(
    recorded: RecordedRegistry, registry: Registry, progress: Progress = no_progress
) -> RestoreCheck:
    """Read every version back, once all of them should be there."""
    state = recorded.state
    return check_restore(state, registry.observe(_scope(state), progress))


def _observe(
    recorded: RegistryState, registry: Registry, progress: Progress
) -> tuple[RegistryState, dict[TopicName, str]]:
    try:
        return registry.observe(_scope(recorded), progress), {}
    except UnreadableTopicsError as error:
        return error.state, dict(error.reasons)


def _scope(recorded: RegistryState) -> Scope:
    """What was recorded, and whether the topics exist that existed."""
    existed = (name for name, partitions in recorded.partitions.items() if partitions.exists)
    return Scope(
        namespaces=frozenset(recorded.namespaces),
        topics=frozenset(recorded.topics),
        partitions=frozenset(existed),
    )
