"""The snapshot of a registry as the Registry port; only what is asked for is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.schema import AcceptedLoss
from gitops.model.state import NamespaceState, RegistryState, Scope, TopicPartitions, TopicState
from gitops.ports import FileTree, Progress, no_progress
from gitops.registries.read_only import ReadOnlyRegistry
from gitops.repository.broker_snapshots import with_recorded
from gitops.repository.folder import FileNames
from gitops.repository.snapshots import (
    folder_of,
    read_accepted_loss,
    read_namespace_state,
    read_topic,
    read_topic_state,
    snapshot_files,
)

_ENDING: Final = ".json"


class SnapshotRegistry(ReadOnlyRegistry):
    """What `snapshot` recorded of the registry called `name`.

    A topic of which nothing was recorded had no schema then. Whether a topic or a tenant exists
    is not recorded, so they are taken to exist. Every method may raise UsageError for a broken
    file.
    """

    def __init__(self, name: str, tree: FileTree, defaults: BrokerSettings) -> None:
        super().__init__(name, folder_of(name), defaults)
        self.tree = tree

    @cached_property
    def broker(self) -> BrokerSettings:
        """What was recorded of the brokers, else what `gitops.yaml` says."""
        return with_recorded(self._defaults, self.tree, self.name)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever recorded."""
        return not self._stems

    def list_namespaces(self) -> tuple[NamespaceName, ...]:
        """The namespaces that were recorded, sorted."""
        return tuple(sorted(self._recorded_namespaces))

    def list_topics(self, namespace: NamespaceName) -> tuple[TopicName, ...]:
        """The topics of a namespace that have a schema, sorted."""
        files = (self._file(namespace, stem) for stem in self._stems.get(str(namespace), ()))
        return tuple(sorted(read_topic_state(self.tree, file).topic for file in files))

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        """Read the files of what is in `scope`, each once."""
        topics: dict[TopicName, TopicState] = {}
        partitions: dict[TopicName, TopicPartitions] = {}
        wanted = sorted(scope.topics | scope.partitions)
        for count, topic in enumerate(wanted):
            progress("reading the snapshot", count, len(wanted))
            state, counted = self._recorded(topic)
            if topic in scope.topics:
                topics[topic] = replace(state, topic=topic)
            # A topic whose number was not recorded may exist all the same.
            if topic in scope.partitions and counted:
                partitions[topic] = counted
        return RegistryState(
            namespaces={name: self._namespace(name) for name in sorted(scope.namespaces)},
            topics=topics,
            partitions=partitions,
        )

    def accepted_loss(self, topic: TopicName) -> AcceptedLoss | None:
        """Versions of a topic whose loss was accepted, None where nothing was."""
        for file in self._candidates(topic):
            accepted_loss = read_accepted_loss(self.tree, file)
            if accepted_loss and accepted_loss[0].keeper == topic.keeper:
                return accepted_loss[1]
        return None

    @cached_property
    def _stems(self) -> dict[str, list[str]]:
        """Namespace → the names of its topics' files; the namespaces' own under no name."""
        grouped: dict[str, list[str]] = {}
        for path in snapshot_files(self.tree, self.name):
            folder, _, name = path.removeprefix(f"{self.address}/").rpartition("/")
            inside = folder if "/" in folder else ""
            stem = name if inside else f"{folder}/{name}"
            grouped.setdefault(inside, []).append(stem.removesuffix(_ENDING))
        return grouped

    @cached_property
    def _stems_by_base(self) -> dict[str, dict[str, list[str]]]:
        """Namespace → stems by themselves, and by themselves without their number."""
        return {
            namespace: _group_by_base(stems)
            for namespace, stems in self._stems.items()
            if namespace
        }

    @cached_property
    def _recorded_namespaces(self) -> frozenset[NamespaceName]:
        names = {*self._stems.get("", ()), *self._stems.keys()} - {""}
        return frozenset(NamespaceName.parse(name) for name in names)

    def _namespace(self, name: NamespaceName) -> NamespaceState:
        if str(name) in self._stems.get("", ()):
            return read_namespace_state(self.tree, f"{self.address}/{name}{_ENDING}")
        return NamespaceState(namespace=name, exists=name in self._recorded_namespaces)

    def _recorded(self, topic: TopicName) -> tuple[TopicState, TopicPartitions | None]:
        """What was recorded of a topic under either domain: a schema history has none."""
        for file in self._candidates(topic):
            state, partitions = read_topic(self.tree, file)
            if (state.topic.namespace, state.topic.local_name) == (
                topic.namespace,
                topic.local_name,
            ):
                is_counted = partitions.exists and state.topic == topic
                return state, partitions if is_counted else None
        return TopicState(topic=topic), None

    def _candidates(self, topic: TopicName) -> Iterator[str]:
        """The files that may be about a topic, under either domain."""
        names = topic.namespace, topic.local_name
        sides = (TopicName(*names), TopicName(*names, "non-persistent"))
        stems = self._stems_by_base.get(str(topic.namespace), {})
        bases = dict.fromkeys(base for side in sides for base in FileNames.bases(side))
        for stem in dict.fromkeys(stem for base in bases for stem in stems.get(base, ())):
            if any(FileNames.fits(side, stem) for side in sides):
                yield self._file(topic.namespace, stem)

    def _file(self, namespace: NamespaceName, stem: str) -> str:
        return f"{self.address}/{namespace}/{stem}{_ENDING}"


def _group_by_base(stems: Iterable[str]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for stem in stems:
        for base in {stem, FileNames.base(stem)}:
            grouped.setdefault(base, []).append(stem)
    return grouped
