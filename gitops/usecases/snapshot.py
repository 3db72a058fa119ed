"""`snapshot`: what a registry contains, as files to record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitops.changes.known_names import known_names
from gitops.model.names import TopicName
from gitops.model.state import RegistryState, Repository, Scope
from gitops.ports import FileTree, Progress, Registry, no_progress
from gitops.repository import snapshots
from gitops.repository.broker_snapshots import render_settings, settings_files


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFiles:
    """The files of a snapshot in `folder`, and the paths of those that are there before it."""

    folder: str
    files: Mapping[str, bytes]
    old: tuple[str, ...]


def make_snapshot(
    registry: Registry,
    root: Path,
    tree: FileTree,
    repository: Repository,
    progress: Progress = no_progress,
) -> SnapshotFiles:
    """All versions of the topics of the files at `root`, and the settings of the brokers."""
    name = registry.name
    recorded = snapshots.replaceable_topics(tree, name)
    known = known_names(root, tree, repository, name).topics
    state = observe_managed(repository, registry, recorded | known, progress)
    return SnapshotFiles(
        folder=snapshots.folder_of(name),
        files={**snapshots.render(name, state), **render_settings(name, registry.broker)},
        old=(*snapshots.snapshot_files(tree, name), *settings_files(tree, name)),
    )


def observe_managed(
    repository: Repository,
    registry: Registry,
    recorded: frozenset[TopicName],
    progress: Progress = no_progress,
) -> RegistryState:
    """The repository's namespaces with all their topics.

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
    return registry.observe(Scope(namespaces=namespaces, topics=frozenset(known)), progress)
