"""Recorded history that a change edits otherwise than a new record of the same registry would."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gitops.changes.change import LoadedChange
from gitops.changes.registries import desired_state, former_config, former_name
from gitops.model.errors import UsageError
from gitops.model.findings import Finding, Location
from gitops.model.names import TopicName, find_in_either_domain
from gitops.model.policy import Policies, managed_items
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaHistory
from gitops.model.state import RegistryState, TopicState
from gitops.planning.fingerprints import is_same
from gitops.planning.lost_versions import lost_versions
from gitops.planning.refusals import version_list
from gitops.repository.affected_files import ChangedFile
from gitops.repository.snapshots import (
    SNAPSHOTS,
    TOPIC_DEPTH,
    is_broker_path,
    is_clients_path,
    read_accepted_loss,
    read_namespace_state,
    read_topic_state,
)

_MOST_NAMED: Final = 5


def snapshot_guards(loaded: LoadedChange) -> Iterator[Finding]:
    """New files are no edit: a snapshot is recorded for the first time, or grows.

    One that says that a loss was accepted is reported all the same.
    """
    changes = [
        change
        for change in loaded.change.files
        if (change.before or change.after or "").startswith(SNAPSHOTS)
    ]
    losses = {change: _loss(loaded, change) for change in changes}
    edited = {
        change.before or change.after or "": change
        for change in changes
        if losses[change].accepted or (change.before and not _is_expected(loaded, change))
    }
    if edited:
        first, *_ = files = sorted(edited)
        place = Location(file=first, in_base=edited[first].after != first)
        yield snapshots_edited(files, place, [losses[edited[file]] for file in files])


@dataclass(frozen=True, slots=True)
class SnapshotLoss:
    """A topic with the versions that a change takes out of its snapshot, as text.

    They are `accepted` where the change says that their loss is accepted.
    """

    accepted: str = ""
    removed: str = ""


def _loss(loaded: LoadedChange, change: ChangedFile) -> SnapshotLoss:
    """Empty for a file of no topic, and for one that is broken in the base."""
    trees = loaded.change.base_tree, loaded.change.head_tree
    old, new = (
        path if path and path.startswith(SNAPSHOTS) and path.count("/") == TOPIC_DEPTH - 1 else None
        for path in (change.before, change.after)
    )
    was = now = None
    with suppress(UsageError):
        was = read_topic_state(trees[0], old) if old else None
    with suppress(UsageError):
        now = read_topic_state(trees[1], new) if new else None
    state = now or was
    if state is None:
        return SnapshotLoss()
    before = read_accepted_loss(trees[0], old) if old else None
    after = read_accepted_loss(trees[1], new) if new else None
    known = before[1].versions if before else ()
    versions = after[1].versions if after else ()
    accepted = {entry.version for entry in versions if entry not in known}
    history = now.history if now else SchemaHistory()
    removed = set(lost_versions(was.history.entries, history)) if was else set()
    return SnapshotLoss(
        accepted=_versions_text(state.topic, accepted),
        removed=_versions_text(state.topic, removed - accepted),
    )


def _versions_text(topic: TopicName, versions: Iterable[int]) -> str:
    numbers = sorted(versions)
    return f"{topic} ({version_list(numbers)})" if numbers else ""


def snapshots_edited(
    files: Sequence[str], where: Location, losses: Sequence[SnapshotLoss] = ()
) -> Finding:
    """Snapshots of the base are edited or deleted; `where` is the first of the files."""
    message = f"recorded history is edited or deleted: {_names(files)}"
    hint = (
        "only `pulsar-gitops snapshot` writes snapshots, and later changes are "
        "compared with them: leave this edit out, or run the command again and commit its result"
    )
    if removed := [loss.removed for loss in losses if loss.removed]:
        message += f"; git's history has these versions, which still count: {_names(removed)}"
    if accepted := [loss.accepted for loss in losses if loss.accepted]:
        message = (
            f"schemas were lost: {_names(accepted)}; messages stored with these versions decode "
            f"wrongly or not at all once their numbers are given anew; {message}"
        )
        hint = (
            "merge it only if nobody needs these messages; to bring the versions back instead, "
            "leave this edit out and run `pulsar-gitops restore --dry-run`"
        )
    return make_finding("CHECK-R007", message, location=where, subject="snapshots", hint=hint)


def _names(names: Sequence[str]) -> str:
    texts = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return ", ".join([*names[:_MOST_NAMED], *texts])


def _is_expected(loaded: LoadedChange, change: ChangedFile) -> bool:
    """Whether a file only gains what the base's own files have brought into the registry.

    A broken file is none of it, and so is one that is gone.
    """
    old, new = change.before, change.after
    if not old or not new or not _is_same_place(loaded, old, new):
        return False
    name, config = new.split("/")[1], loaded.head.config.registries
    if name not in config:
        return False
    wanted = desired_state(loaded.base, former_config(name, loaded.base.config, loaded.head.config))
    if is_clients_path(new):  # the base's record decides about this change
        return True
    if is_broker_path(new):  # files want nothing of brokers, and what was recorded decides
        trees = loaded.change.base_tree, loaded.change.head_tree
        return _is_same_record(trees[0].read(old), trees[1].read(new))
    try:
        return _Record(loaded, wanted, old, new).is_expected()
    except UsageError:
        return False


def _is_same_record(old: bytes, new: bytes) -> bool:
    """Whether the same was recorded of brokers, at whatever time; a key that is twice counts."""
    try:
        was, now = (json.loads(data, object_pairs_hook=_untimed) for data in (old, new))
    except (ValueError, RecursionError):
        return False
    return bool(was == now)


def _untimed(pairs: list[tuple[str, object]]) -> list[tuple[str, object]]:
    return [pair for pair in pairs if pair[0] != "recorded"]


def _is_same_place(loaded: LoadedChange, old: str, new: str) -> bool:
    """Whether the file is where it was, or went along with the new name of its registry."""
    (_, was, *rest), (_, name, *there) = old.split("/"), new.split("/")
    base, head = loaded.base.config, loaded.head.config
    known = name in head.registries
    return rest == there and known and was in (name, former_name(name, base, head))


@dataclass(frozen=True, slots=True)
class _Record:
    """One file in both versions, and what the base's files want of the registry."""

    loaded: LoadedChange
    wanted: RegistryState
    old: str
    new: str

    def is_expected(self) -> bool:
        """Raises UsageError for a file that is no snapshot."""
        trees = self.loaded.change.base_tree, self.loaded.change.head_tree
        if self.old.count("/") == TOPIC_DEPTH - 1:
            topics = read_topic_state(trees[0], self.old), read_topic_state(trees[1], self.new)
            return self._is_expected_topic(*topics)
        was, now = (
            read_namespace_state(trees[0], self.old),
            read_namespace_state(trees[1], self.new),
        )
        state = self.wanted.namespaces.get(now.namespace)
        same = was.namespace == now.namespace
        wanted = state.policies if state else None
        return same and _are_expected(was.policies, now.policies, wanted)

    def _is_expected_topic(self, was: TopicState, now: TopicState) -> bool:
        known = len(was.history.entries)
        state = find_in_either_domain(self.wanted.topics, now.topic)
        return (
            was.topic == now.topic
            and now.history.entries[:known] == was.history.entries
            and now.history.next_version >= was.history.next_version
            and (len(now.history.entries) == known or self._is_merged(now.topic, now))
            and _are_expected(was.policies, now.policies, state.policies if state else None)
        )

    def _is_merged(self, topic: TopicName, now: TopicState) -> bool:
        """Whether the latest version is what the base says; nothing is judged by other topics."""
        state, latest = find_in_either_domain(self.wanted.topics, topic), now.history.latest
        entry = state.history.latest if state else None
        return entry is None or (latest is not None and is_same(latest.info, entry.info))


def _are_expected(was: Policies, now: Policies, wanted: Policies | None) -> bool:
    """Whether each policy is as it was recorded, or as the base's files say."""
    old, grouped = dict(managed_items(was)), dict(managed_items(wanted)) if wanted else {}
    new = dict(managed_items(now))
    return all(new.get(key) in (old.get(key), grouped.get(key)) for key in {*old, *new})
