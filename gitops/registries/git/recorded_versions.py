"""Which versions a registry has had: by its snapshot, the snapshot's past, and journals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from gitops.git.checkout import Checkout, open_checkout
from gitops.git.history import replaced_files
from gitops.git.references import head_of
from gitops.git.tree import tree_of
from gitops.journal.versions import JournaledVersions, add_journaled, read_versions
from gitops.model.errors import GitopsError, UnreadableFileError, UsageError
from gitops.model.names import TopicName
from gitops.model.schema import SchemaEntry, SchemaHistory
from gitops.model.state import Scope
from gitops.planning.lost_versions import RecordedVersions
from gitops.registries.snapshot import SnapshotRegistry
from gitops.repository.documents.snapshots import TopicSnapshot
from gitops.repository.folder import FileNames
from gitops.repository.snapshots import folder_of, is_of_topic, namespace_of

VersionLookUp = Callable[[Collection[TopicName], Collection[TopicName]], RecordedVersions]
"""Reads the snapshot of some topics, and of some of them also what it had at earlier commits."""


def recorded_at_head(root: Path, snapshot: SnapshotRegistry) -> VersionLookUp:
    """Looks into the snapshot, the journals, and the clone of `root` from its checked out head."""

    def look_up(topics: Collection[TopicName], past: Collection[TopicName]) -> RecordedVersions:
        journaled = read_versions(root, snapshot.name)
        if snapshot.is_empty and not past and journaled == JournaledVersions():
            return RecordedVersions()
        try:
            with open_checkout(root) as checkout:
                head = head_of(checkout)
                return find_recorded(snapshot, checkout, head, topics, past, journaled=journaled)
        except GitopsError:  # no clone, or one that git cannot read
            return find_recorded(snapshot, None, None, topics, (), journaled=journaled)

    return look_up


def find_recorded(  # noqa: PLR0913 - the last by name
    snapshot: SnapshotRegistry,
    checkout: Checkout | None,
    commit: str | None,
    topics: Collection[TopicName],
    past: Collection[TopicName],
    *,
    journaled: JournaledVersions | None = None,
) -> RecordedVersions:
    """What the snapshot has of `topics`, and of those of `past` what it had up to `commit`.

    With the versions of journals that it lacks.
    """
    journaled = journaled or JournaledVersions()
    histories: dict[TopicName, SchemaHistory] = {}
    unreadable: dict[TopicName, str] = {}
    for topic in topics:
        try:
            state = snapshot.observe(Scope(topics=frozenset({topic})))
            histories[topic] = state.topics[topic].history
        except UsageError as error:
            unreadable[topic] = error.what
    longer: dict[TopicName, SchemaHistory] = {}
    for topic in topics:
        history = journaled.histories.get(topic.keeper, SchemaHistory())
        known = histories.get(topic, SchemaHistory())
        if add_journaled(known, history) != known:
            longer[topic] = history
    earlier: dict[TopicName, list[SchemaEntry]] = {}
    if checkout and commit and (past or longer):
        for topic, entries in _earlier_entries(snapshot.name, checkout, commit, {*past, *longer}):
            kept = earlier.setdefault(topic, [])
            kept += [entry for entry in entries if entry not in kept]
    files: dict[TopicName, str] = {}
    for topic, history in longer.items():
        known = histories.get(topic, SchemaHistory())
        with_journal = add_journaled(known, history, earlier.get(topic, ()))
        if with_journal != known:
            histories[topic], files[topic] = with_journal, journaled.files[topic.keeper]
    return RecordedVersions(
        histories=histories,
        unreadable=unreadable,
        earlier={topic: tuple(earlier[topic]) for topic in earlier if topic in past},
        journals=files,
        unreadable_journals=journaled.unreadable,
    )


def _earlier_entries(
    registry: str, checkout: Checkout, commit: str, topics: Collection[TopicName]
) -> Iterator[tuple[TopicName, tuple[SchemaEntry, ...]]]:
    """The versions in each earlier content of the topics' files, and in that of the commit."""
    folder = folder_of(registry)
    wanted = {_key(topic): topic for topic in topics}
    bases = {
        (str(topic.namespace), base)
        for topic in topics
        for side in ("persistent", "non-persistent")
        for base in FileNames.bases(TopicName(topic.namespace, topic.local_name, side))
    }

    def is_wanted(path: str) -> bool:
        if not path.startswith(f"{folder}/") or not is_of_topic(path):
            return False
        stem = path.rpartition("/")[2].removesuffix(".json")
        namespace = str(namespace_of(path))
        return bool(bases & {(namespace, stem), (namespace, FileNames.base(stem))})

    tree = tree_of(checkout, commit)
    contents = [
        (version.path, version.blob)
        for version in sorted(
            replaced_files(checkout, commit, f"{folder}/*/*/*.json"),
            key=lambda version: (version.path, version.blob),
        )
        if is_wanted(version.path)
    ]
    texts: list[bytes] = []
    for path, blob in contents:
        with suppress(UnreadableFileError):
            texts.append(checkout.blob(blob, path))
    for path in tree.paths():
        if is_wanted(path):
            with suppress(UnreadableFileError):
                texts.append(tree.read(path))
    for text in texts:
        with suppress(ValidationError):  # a file that was broken then says nothing about versions
            document = TopicSnapshot.model_validate_json(text)
            topic = wanted.get(_key(TopicName.parse(document.topic)))
            if topic:
                yield topic, document.history().entries


def _key(topic: TopicName) -> tuple[str, str]:
    return str(topic.namespace), topic.local_name
