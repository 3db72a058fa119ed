"""Which versions a registry has had: by its snapshot, the snapshot's past, and journals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from gitops.git.checkout import Checkout, GitFailedError, has_git_folder, open_checkout
from gitops.git.history import first_commit, oldest_known, replaced_files
from gitops.git.references import head_of
from gitops.git.tree import tree_of
from gitops.journal.versions import add_journaled, read_versions
from gitops.model.errors import UnreadableFileError, UsageError
from gitops.model.names import TopicName
from gitops.model.schema import AcceptedLoss, SchemaEntry, SchemaHistory, SchemaInfo
from gitops.model.state import Scope
from gitops.planning.lost_versions import (
    SNAPSHOT,
    Contradiction,
    RecordedVersions,
    RemovedVersions,
    UncountedVersions,
    is_same_version,
    lost_versions,
)
from gitops.registries.snapshot import SnapshotRegistry
from gitops.repository.documents.snapshots import TopicSnapshot
from gitops.repository.folder import FileNames
from gitops.repository.snapshots import (
    SNAPSHOTS,
    folder_of,
    is_of_topic,
    namespace_of,
    snapshot_files,
)

_FETCH: Final = "fetch all commits: git fetch --unshallow; with actions/checkout: fetch-depth: 0"
_UNREADABLE: Final = "`git status` has to work in this folder"
VersionLookUp = Callable[[Collection[TopicName]], RecordedVersions]
"""Reads what was recorded of some topics."""


def recorded_at_head(
    root: Path,
    snapshot: SnapshotRegistry,
    registries: Collection[str] = (),
    *,
    address: str = "",
) -> VersionLookUp:
    """Looks into the snapshot, the journals, and the clone of `root` from its checked out head.

    With the names of all `registries`, snapshots of others are looked for, too. `address` is the
    registry's, without which journals count whatever address they have.
    """

    def look_up(topics: Collection[TopicName]) -> RecordedVersions:
        try:
            with open_checkout(root) as checkout:
                past = SnapshotPast(checkout, head_of(checkout), frozenset({snapshot.name}))
                return find_recorded(snapshot, past, topics, root, registries, address=address)
        except (GitFailedError, UsageError) as error:
            recorded = find_recorded(snapshot, None, topics, root, address=address)
            if isinstance(error, GitFailedError):
                return replace(recorded, past_limit=error.what, past_hint=error.hint)
            if has_git_folder(root):
                return replace(recorded, past_limit=error.what, past_hint=_UNREADABLE)
            return recorded

    return look_up


@dataclass(frozen=True, slots=True)
class SnapshotPast:
    """Where earlier contents of a snapshot are: up to `commit`, under the names of its registry."""

    checkout: Checkout
    commit: str | None
    names: frozenset[str]


def find_recorded(  # noqa: PLR0913 - the last two by name
    snapshot: SnapshotRegistry,
    past: SnapshotPast | None,
    topics: Collection[TopicName],
    root: Path,
    registries: Collection[str] = (),
    *,
    address: str = "",
) -> RecordedVersions:
    """What was recorded of the topics: by the snapshot, its past, and the journals below `root`.

    Of what nothing records, snapshots of none of the `registries` count as former records. Journals
    of another `address` do not count.

    Versions of the past that are gone from the snapshot still count, unless it says that their
    loss was accepted.
    """
    histories: dict[TopicName, SchemaHistory] = {}
    unreadable: dict[TopicName, str] = {}
    accepted: dict[TopicName, AcceptedLoss] = {}
    for topic in topics:
        try:
            state = snapshot.observe(Scope(topics=frozenset({topic})))
        except UsageError as error:
            unreadable[topic] = error.what
            continue
        histories[topic] = state.topics[topic].history
        if loss := snapshot.accepted_loss(topic):
            accepted[topic] = loss
    moments = {topic.keeper: loss.accepted for topic, loss in accepted.items()}
    journaled = read_versions(root, snapshot.name, address, moments)
    journals: dict[TopicName, str] = {}
    uncounted: dict[TopicName, UncountedVersions] = {}
    contradictions: dict[TopicName, Contradiction] = {}
    for topic in topics:
        known = histories.get(topic, SchemaHistory())
        by_journal = journaled.histories.get(topic.keeper, SchemaHistory())
        numbers = {entry.version for entry in known.entries}
        same_numbers = [entry for entry in by_journal.entries if entry.version in numbers]
        if different := list(lost_versions(same_numbers, known)):
            sources = (SNAPSHOT, f"the journal {journaled.files[topic.keeper]}")
            contradictions[topic] = Contradiction(version=different[0], sources=sources)
        longer = add_journaled(known, by_journal)
        if longer != known:
            histories[topic], journals[topic] = longer, journaled.files[topic.keeper]
        elsewhere = journaled.elsewhere.get(topic.keeper)
        if elsewhere and add_journaled(longer, elsewhere.history) != longer:
            uncounted[topic] = UncountedVersions(file=elsewhere.file, address=elsewhere.address)
    removed: dict[TopicName, RemovedVersions] = {}
    former_records: dict[TopicName, str] = {}
    limit = ""
    if past and past.commit and topics:
        removed = _removed_versions(past, topics, histories, accepted)
        for topic, versions in removed.items():
            if contradiction := _contradiction(topic, versions, histories, journals):
                contradictions.setdefault(topic, contradiction)
        unrecorded = [
            topic
            for topic in topics
            if topic not in removed
            and topic not in accepted
            and not histories.get(topic, SchemaHistory()).next_version
        ]
        if registries and unrecorded:
            kept = {folder_of(name) for name in (*registries, *past.names)}
            for topic, path, entries, _ in _earlier_entries(
                past, unrecorded, lambda folder: folder not in kept
            ):
                if entries:
                    former_records.setdefault(topic, path)
        oldest = oldest_known(past.checkout, past.commit)
        limit = f"the clone is shallow and begins at {oldest[:7]}" if oldest else ""
    return RecordedVersions(
        histories=histories,
        unreadable=unreadable,
        removed=removed,
        former_records=former_records,
        accepted=accepted,
        journals=journals,
        uncounted=uncounted,
        contradictions=contradictions,
        held=journaled.unfinished.held,
        unreadable_journals=journaled.unreadable,
        past_limit=limit,
        past_hint=_FETCH if limit else "",
    )


def _contradiction(
    topic: TopicName,
    removed: RemovedVersions,
    histories: Mapping[TopicName, SchemaHistory],
    journals: Mapping[TopicName, str],
) -> Contradiction | None:
    """The first number that has one schema now and had another one, or that had several."""
    history = histories.get(topic, SchemaHistory())
    newest = f"the journal {journals[topic]}" if topic in journals else SNAPSHOT
    sources = {entry.version: newest for entry in history.entries}
    for entry, commit in zip(removed.entries, removed.commits, strict=True):
        source = f"{removed.file} at commit {commit[:7]}"
        if entry.version in sources:
            return Contradiction(version=entry.version, sources=(sources[entry.version], source))
        sources[entry.version] = source
    return None


def _removed_versions(
    past: SnapshotPast,
    topics: Collection[TopicName],
    histories: Mapping[TopicName, SchemaHistory],
    accepted: Mapping[TopicName, AcceptedLoss],
) -> dict[TopicName, RemovedVersions]:
    """The versions that the snapshot once had, whose loss nobody accepted."""
    kept: dict[tuple[TopicName, int], list[SchemaInfo]] = defaultdict(list)
    for topic in topics:
        history, loss = histories.get(topic), accepted.get(topic)
        for entry in (*(history.entries if history else ()), *(loss.versions if loss else ())):
            kept[topic, entry.version].append(entry.info)
    removed: dict[TopicName, RemovedVersions] = {}
    own = {folder_of(name) for name in past.names}
    for topic, path, entries, blob in _earlier_entries(past, topics, own.__contains__):
        for entry in entries:
            infos = kept[topic, entry.version]
            if any(is_same_version(entry.info, info) for info in infos):
                continue
            infos.append(entry.info)
            before = removed.get(topic, RemovedVersions(file=path))
            removed[topic] = replace(
                before,
                entries=(*before.entries, entry),
                commits=(*before.commits, first_commit(past.checkout, past.commit or "", blob)),
            )
    return removed


def _earlier_entries(
    past: SnapshotPast, topics: Collection[TopicName], is_folder_wanted: Callable[[str], bool]
) -> Iterator[tuple[TopicName, str, tuple[SchemaEntry, ...], str]]:
    """The versions in each earlier content of the topics' files, and in that of the commit.

    With the path and the blob of that content.
    """
    wanted = {_key(topic): topic for topic in topics}
    bases = {
        (str(topic.namespace), base)
        for topic in topics
        for side in ("persistent", "non-persistent")
        for base in FileNames.bases(TopicName(topic.namespace, topic.local_name, side))
    }

    def is_wanted(path: str) -> bool:
        folder = "/".join(path.split("/")[:2])
        is_snapshot = path.startswith(SNAPSHOTS) and is_of_topic(path)
        if not is_snapshot or not is_folder_wanted(folder):
            return False
        stem = path.rpartition("/")[2].removesuffix(".json")
        namespace = str(namespace_of(path))
        return bool(bases & {(namespace, stem), (namespace, FileNames.base(stem))})

    for path, blob, document in _documents(past, is_wanted):
        topic = wanted.get(_key(TopicName.parse(document.topic)))
        if topic:
            yield topic, path, document.history().entries, blob


def _documents(
    past: SnapshotPast, is_wanted: Callable[[str], bool]
) -> Iterator[tuple[str, str, TopicSnapshot]]:
    """Path, blob and content of what the files were, those of the commit last.

    A file that was broken then says nothing about versions.
    """
    checkout, commit = past.checkout, past.commit or ""
    replaced = replaced_files(checkout, commit, f"{SNAPSHOTS}*/*/*/*.json")
    tree = tree_of(checkout, commit)
    contents = sorted((version.path, version.blob) for version in replaced)
    for path in tree.paths():
        if is_wanted(path):
            with suppress(UnreadableFileError):
                contents.append((path, tree.blob_of(path)))
    for path, blob in contents:
        if is_wanted(path):
            with suppress(UnreadableFileError, ValidationError):
                document = TopicSnapshot.model_validate_json(checkout.blob(blob, path))
                yield path, blob, document


def past_topics(root: Path, snapshot: SnapshotRegistry) -> frozenset[TopicName]:
    """Topics that the snapshot had at some commit and of which it has no file now.

    Empty where git cannot tell: `recorded_at_head` says why.
    """
    present = {*snapshot_files(snapshot.tree, snapshot.name)}
    folder = f"{snapshot.address}/"

    def is_gone(path: str) -> bool:
        return path.startswith(folder) and path not in present and is_of_topic(path)

    try:
        with open_checkout(root) as checkout:
            past = SnapshotPast(checkout, head_of(checkout), frozenset({snapshot.name}))
            documents = _documents(past, is_gone) if past.commit else ()
            return frozenset(TopicName.parse(document.topic) for _, _, document in documents)
    except (GitFailedError, UsageError):
        return frozenset()


def _key(topic: TopicName) -> tuple[str, str]:
    return str(topic.namespace), topic.local_name
