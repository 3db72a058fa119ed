"""What the files said along the history of a commit, as the Registry port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from gitops.git.checkout import Checkout
from gitops.git.history import first_parents, oldest_known
from gitops.git.tree import tree_of
from gitops.model.config import Config
from gitops.model.errors import UnreadableFileError, UsageError
from gitops.model.findings import Finding, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo
from gitops.model.state import NamespaceState, RegistryState, Repository, Scope, TopicState
from gitops.planning.fingerprints import equal_version
from gitops.ports import FileTree, Progress, no_progress
from gitops.registries.read_only import ReadOnlyRegistry
from gitops.repository.file_references import file_references
from gitops.repository.file_trees import SelectedTree
from gitops.repository.loader import load
from gitops.repository.loading.layout import CONFIG
from gitops.repository.snapshots import is_broker_path

_TYPES: Final = "types"
NO_CONFIG: Final = Config(registries={}, default_registry="")
_AS_IN_FILES: Final = (
    "The versions are the definitions in git on the way to {}, numbered from 0; whether "
    "Pulsar has them is unknown."
)
_NOT_IN_FILES: Final = "Versions that clients registered and policies of the cluster are not known."
MOST_COMMITS: Final = 200
"""How many commits are read at most; every version of few topics, in all but odd histories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHistory:
    """Where the history is read: the clone, its commit, and what the files say at it.

    `desired` are the files' policies for this registry. `files` are by topic the files that its
    schema is made of, the manifest first, imported ones too.
    """

    checkout: Checkout
    commit: str
    desired: RegistryState
    files: Mapping[TopicName, frozenset[str]] = field(default_factory=dict)


class GitRegistry(ReadOnlyRegistry):
    """Definitions as versions, in the order in which they came to stand at a commit.

    A definition that was there before is no new version, as with a broker. Numbers start at 0,
    which a registry may have seen otherwise. Policies are those that the files say.
    """

    def __init__(self, name: str, history: GitHistory, defaults: BrokerSettings) -> None:
        super().__init__(name, f"git {history.commit[:7]}", defaults)
        self._history = history
        self._unreadable = 0
        self._is_cut = False
        self._imported: frozenset[str] = frozenset()

    def list_namespaces(self) -> tuple[NamespaceName, ...]:
        """The namespaces that have a folder, sorted."""
        return tuple(sorted(self._history.desired.namespaces))

    def list_topics(self, namespace: NamespaceName) -> tuple[TopicName, ...]:
        """The topics that have a manifest, sorted."""
        topics = self._history.desired.topics
        return tuple(sorted(topic for topic in topics if topic.namespace == namespace))

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        """Read the commits that changed what is in `scope`."""
        known, desired = self._histories(scope.topics, progress), self._history.desired
        topics = {}
        for topic in sorted(scope.topics):
            state = desired.topics.get(topic, TopicState(topic=topic))
            topics[topic] = TopicState(
                topic=topic,
                history=known.get(topic.keeper, SchemaHistory()),
                policies=state.policies,
            )
        return RegistryState(
            namespaces={
                name: desired.namespaces.get(name, NamespaceState(namespace=name, exists=False))
                for name in sorted(scope.namespaces)
            },
            topics=topics,
        )

    def limits(self) -> tuple[str, ...]:
        """What it could not know, once something was observed."""
        commit = self._history.commit[:7]
        texts = [
            _AS_IN_FILES.format(commit),
            _NOT_IN_FILES,
        ]
        oldest = oldest_known(self._history.checkout, self._history.commit)
        if oldest:
            texts.append(
                f"The clone is shallow: definitions before {oldest[:7]} are not known "
                "(git fetch --unshallow)."
            )
        if self._is_cut:
            texts.append(f"Only the newest {MOST_COMMITS} commits were read.")
        if self._unreadable:
            texts.append(
                f"{self._unreadable} earlier definitions could not be read and are left out."
            )
        return tuple(texts)

    def _histories(
        self, topics: Iterable[TopicName], progress: Progress
    ) -> dict[TopicName, SchemaHistory]:
        wanted = frozenset(topic.keeper for topic in topics)
        topic_files = (
            files for topic, files in self._history.files.items() if topic.keeper in wanted
        )
        files = frozenset(path for paths in topic_files for path in paths)
        repositories: dict[str, Repository] = {}
        while True:
            history = self._history
            commits = first_parents(history.checkout, history.commit, files, MOST_COMMITS)
            for count, commit in enumerate(commits):
                progress("reading the history", count, len(commits))
                if commit not in repositories:
                    repositories[commit] = self._load(commit, files)
            named = files.union(
                self._imported,
                *(_files_of(repository, wanted) for repository in repositories.values()),
            )
            if named == files:
                break
            # A definition had another name before: what happened to it then counts too.
            files = named
            repositories.clear()
        self._is_cut = len(commits) == MOST_COMMITS
        return self._versions(wanted, [repositories[commit] for commit in reversed(commits)])

    def _load(self, commit: str, files: frozenset[str]) -> Repository:
        tree = tree_of(self._history.checkout, commit)
        needed = required_files(tree, files)
        self._imported |= {path for path in needed if path.endswith(".proto")}
        try:
            return load(SelectedTree(tree, needed))
        except UsageError:  # there was no gitops.yaml yet
            return Repository(config=NO_CONFIG, desired=RegistryState(), digest="")

    def _versions(
        self, wanted: frozenset[TopicName], repositories: list[Repository]
    ) -> dict[TopicName, SchemaHistory]:
        """The histories out of what the files said, oldest first, by their keepers."""
        grouped: dict[TopicName, SchemaHistory] = {}
        for repository in repositories:
            for topic, source in repository.topics.items():
                latest = _schema(repository, topic)
                if topic.keeper not in wanted:
                    continue
                if _is_broken(source.findings) or (not latest and source.definitions):
                    self._unreadable += 1
                elif latest:
                    before = grouped.get(topic.keeper, SchemaHistory())
                    grouped[topic.keeper] = _with(before, latest)
        return grouped


def _is_broken(findings: Iterable[Finding]) -> bool:
    """Whether a registry cannot have taken the definition."""
    return any(finding.severity is Severity.ERROR for finding in findings)


def _schema(repository: Repository, topic: TopicName) -> SchemaInfo | None:
    latest = repository.desired.topics[topic].history.latest
    return latest.info if latest else None


def _with(history: SchemaHistory, info: SchemaInfo) -> SchemaHistory:
    """The history once a broker has got the schema: nothing new if it has it already."""
    if equal_version(history, info) is not None:
        return history
    entry = SchemaEntry(version=history.next_version, info=info)
    return SchemaHistory(entries=(*history.entries, entry), next_version=entry.version + 1)


def _files_of(repository: Repository, topics: frozenset[TopicName]) -> frozenset[str]:
    return frozenset(
        path
        for topic, source in repository.topics.items()
        if topic.keeper in topics
        for path in source.definitions
    )


def required_files(tree: FileTree, files: frozenset[str]) -> set[str]:
    """The files with gitops.yaml, the definitions and imports that they name, and shared types.

    And the settings of recorded brokers, by whose releases definitions are judged.
    """
    known = frozenset(tree.paths())
    texts = {path for path in known if path.startswith(f"{_TYPES}/") or is_broker_path(path)}
    waiting = [CONFIG, *files]
    while waiting:
        path = waiting.pop()
        if path in texts or path not in known:
            continue
        texts.add(path)
        if path != CONFIG:
            with suppress(UnreadableFileError):
                waiting += file_references(path, tree.read(path)).files
    return texts
