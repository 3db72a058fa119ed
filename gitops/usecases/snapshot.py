"""`snapshot`: what a registry contains, as files to record."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gitops.changes.known_names import known_names
from gitops.journal.versions import read_versions
from gitops.messaging.capture_files import capture_folders
from gitops.model.broker_settings import seen_settings
from gitops.model.clients import ObservedClients
from gitops.model.errors import GitopsError, OutsideError, UsageError
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings, SettingSource
from gitops.model.restore import HeldPolicy
from gitops.model.schema import AcceptedLoss
from gitops.model.state import RegistryState, Repository, Scope
from gitops.planning.held_policies import held_text, still_held
from gitops.planning.lost_versions import (
    RecordedVersions,
    journal_notes,
    lost_numbers,
    lost_versions,
)
from gitops.planning.refusals import version_list
from gitops.ports import ClientSource, FileTree, Progress, Registry, no_progress
from gitops.registries.git.recorded_versions import recorded_at_head
from gitops.registries.snapshot import SnapshotRegistry
from gitops.repository import snapshots
from gitops.repository.broker_snapshots import (
    recorded_settings,
    recorded_time,
    render_settings,
    settings_files,
)
from gitops.repository.observed_clients import (
    clients_path,
    recorded_clients_file,
    render_observed_clients,
    require_clients,
    unread_notes,
)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFiles:
    """The files of a snapshot in `folder`, and the paths of those that are there before it.

    `lost` are versions that the files before it have and the registry has no more. `notes` say what
    could not be recorded.
    """

    folder: str
    files: Mapping[str, bytes]
    old: tuple[str, ...]
    lost: Mapping[TopicName, tuple[int, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def make_snapshot(  # noqa: PLR0913 - the last two by name
    registry: Registry,
    root: Path,
    tree: FileTree,
    repository: Repository,
    progress: Progress = no_progress,
    *,
    clients: bool = False,
    captures: Path | None = None,
    now: Callable[[], datetime.datetime] = _now,
) -> SnapshotFiles:
    """All versions of the topics of the files at `root`, and the settings of the brokers.

    With `clients` also who is connected to these topics, and how many messages of each version
    `captures` have, a folder of captures; what was recorded of either before stays otherwise. What
    was recorded before stays to the byte, its time too, where nothing has changed. Raises
    OutsideError, and UsageError where the registry has no clients or the folder no captures.
    """
    if clients:
        require_clients(registry)
    name = registry.name
    recorded = snapshots.replaceable_topics(tree, name)
    known = known_names(root, tree, repository, name).topics
    old = (*snapshots.snapshot_files(tree, name), *settings_files(tree, name))
    known |= read_versions(root, name, registry.address).forgotten  # which no registry lists
    state = observe_managed(repository, registry, recorded | known, progress)
    _require_told(registry, tree)
    snapshot = SnapshotRegistry(name, tree, registry.broker)
    versions = recorded_at_head(root, snapshot, address=registry.address)(state.topics)
    if held := still_held(versions.held, state):
        raise UnfinishedRestoreError(name, held)
    lost = _lost_versions(versions, state, registry.broker)
    content = snapshots.render(name, state, _accepted_losses(versions, state, lost, now()))
    files = {**content, **render_settings(name, registry.broker, _time_before(tree, name))}
    if not _is_recorded(tree, old, files):
        moment = now().strftime("%Y-%m-%dT%H:%M:%SZ")
        files = {**content, **render_settings(name, registry.broker, moment)}
    notes = journal_notes(versions, registry.address)
    if clients and isinstance(registry, ClientSource):
        observed = registry.observe_clients(state.topics, progress)
        messages = _recorded_messages(repository, registry, state, lost)
        if captures:
            captured, capture_notes = _captured_messages(captures, registry, state)
            messages, notes = messages | captured, (*notes, *capture_notes)
        notes = (*notes, *unread_notes(observed))
        if observed.topics or not observed.unread:
            old = (*old, *recorded_clients_file(tree, name))
            observed = observed.with_messages(messages)
            files = {**files, clients_path(name): render_observed_clients(observed)}
    return SnapshotFiles(
        folder=snapshots.folder_of(name), files=files, old=old, lost=lost, notes=notes
    )


def _recorded_messages(
    repository: Repository,
    registry: Registry,
    state: RegistryState,
    lost: Collection[TopicName],
) -> dict[TopicName, Mapping[int, int]]:
    """The counts of earlier captures; a topic that lost versions gives their numbers anew."""
    recorded = repository.observed_clients.get(registry.name, ObservedClients())
    return {
        topic: clients.messages
        for topic, clients in recorded.topics.items()
        if clients.messages and topic in state.topics and topic not in lost
    }


def _captured_messages(
    folder: Path, registry: Registry, state: RegistryState
) -> tuple[dict[TopicName, Mapping[int, int]], tuple[str, ...]]:
    """The messages of captures by version, and why some captures do not count.

    Of several captures of a topic the highest count, since they may have the same messages. Raises
    UsageError where there are no captures.
    """
    captured: dict[TopicName, Mapping[int, int]] = {}
    notes: list[str] = []
    for capture, manifest in capture_folders(folder):
        topic = TopicName.parse(manifest.topic)
        counts = manifest.messages_by_version
        if registry.name != manifest.registry and registry.address != manifest.address:
            notes.append(f"{capture.path} is not counted: a capture of {manifest.address}")
        elif topic not in state.topics:
            notes.append(f"{capture.path} is not counted: no manifest declares {topic}")
        elif counts is None:
            notes.append(f"{capture.path} has no counts by version: capture the topic again")
        else:
            known = captured.get(topic, {})
            captured[topic] = {
                version: max(known.get(version, 0), counts.get(version, 0))
                for version in sorted({*known, *counts})
            }
    return captured, tuple(notes)


class LostVersionsError(GitopsError):
    """The registry has no more what the snapshot recorded of it."""

    exit_code = 1

    def __init__(self, registry: str, lost: Mapping[TopicName, tuple[int, ...]]) -> None:
        topics = "; ".join(
            f"{topic} ({version_list(versions)})" for topic, versions in lost.items()
        )
        super().__init__(
            "the registry lost versions that the snapshot or a journal has, and nothing was "
            f"recorded: {topics}",
            hint=f"bring them back: pulsar-gitops restore --registry {registry}; or record that "
            "they are lost: --accept-loss",
        )


class UnfinishedRestoreError(GitopsError):
    """Policies are those of a restore that was killed, and would be recorded as if intended."""

    exit_code = 1

    def __init__(self, registry: str, held: Sequence[HeldPolicy]) -> None:
        subjects = "; ".join(f"{policy.subject} has {held_text([policy])}" for policy in held)
        super().__init__(
            f"a restore did not come to its end, and nothing was recorded: {subjects}",
            hint=f"run it again, it sets back what it found: pulsar-gitops restore --registry "
            f"{registry}; where this is intended by now, remove {held[0].journal}",
        )


def _lost_versions(
    recorded: RecordedVersions, state: RegistryState, broker: BrokerSettings
) -> dict[TopicName, tuple[int, ...]]:
    """By topic, also of versions that only journals or earlier commits have."""
    lost = {}
    for topic, live in sorted(state.topics.items()):
        history = recorded.history(topic)
        if numbers := lost_numbers(history, live.history, broker):
            lost[topic] = tuple(sorted(numbers))
    return lost


def _accepted_losses(
    recorded: RecordedVersions,
    state: RegistryState,
    lost: Mapping[TopicName, tuple[int, ...]],
    moment: datetime.datetime,
) -> dict[TopicName, AcceptedLoss]:
    """What was accepted before and is still lost, with what is lost now."""
    losses = {}
    for topic, live in state.topics.items():
        before = recorded.accepted.get(topic)
        entries = [*(before.versions if before else ()), *recorded.history(topic).entries]
        versions = tuple(entry for entry in entries if list(lost_versions([entry], live.history)))
        accepted = before.accepted if before else ""
        if topic in lost:
            accepted = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if accepted and (versions or topic in lost):
            losses[topic] = AcceptedLoss(accepted=accepted, versions=versions)
    return losses


def _require_told(registry: Registry, tree: FileTree) -> None:
    """Raises OutsideError where a broker that fails would take away what was recorded of it."""
    broker = registry.broker
    known = BrokerSettings()
    with suppress(UsageError):  # a broken file, which is written anew
        known = recorded_settings(tree, registry.name)
    lost = seen_settings(known).keys() - seen_settings(broker).keys()
    is_guess = broker.source("release") is SettingSource.PROBED  # "4.2 or later"
    is_less = is_guess and known.source("release") is SettingSource.RECORDED
    if broker.is_unanswered and (lost or is_less):
        limits = " ".join(broker.limits)
        raise OutsideError(
            f"the brokers do not report now what the snapshot has of them: {limits}",
            where=registry.address,
            hint="run it again once the brokers answer: what is recorded stays as it is",
        )


def _time_before(tree: FileTree, name: str) -> str:
    with suppress(UsageError):  # a broken file, which is written anew
        return recorded_time(tree, name)
    return ""


def _is_recorded(tree: FileTree, old: Sequence[str], files: Mapping[str, bytes]) -> bool:
    return {path: tree.read(path) for path in old} == files


def observe_managed(
    repository: Repository,
    registry: Registry,
    recorded: frozenset[TopicName],
    progress: Progress = no_progress,
) -> RegistryState:
    """The repository's namespaces with all their topics and their partitions.

    Topics come from the files, from what was recorded before, and from the registry itself,
    which does not list a topic whose schema was posted before the topic was created.
    """
    desired = repository.desired
    namespaces = frozenset(desired.namespaces) | {topic.namespace for topic in desired.topics}
    known = set(desired.topics)
    taken = {(topic.namespace, topic.local_name) for topic in known}
    exist = registry.observe(Scope(namespaces=namespaces)).namespaces
    listed = [
        topic
        for name in sorted(namespaces)
        if exist[name].exists
        for topic in registry.list_topics(name)
    ]
    for topic in (*listed, *sorted(recorded)):
        if topic.namespace in namespaces and (topic.namespace, topic.local_name) not in taken:
            known.add(topic)
            taken.add((topic.namespace, topic.local_name))
    topics = frozenset(known)
    scope = Scope(namespaces=namespaces, topics=topics, partitions=topics)
    return registry.observe(scope, progress)
