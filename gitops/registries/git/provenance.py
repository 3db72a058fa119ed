"""Which versions of a registry some commit declared: asked of few topics, newest commits first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gitops.git.checkout import Checkout, open_checkout
from gitops.git.history import CommitPaths, commits_before, oldest_known
from gitops.git.references import head_of
from gitops.git.tree import tree_of
from gitops.model.errors import GitopsError, UsageError
from gitops.model.names import TopicName
from gitops.model.schema import SchemaHistory
from gitops.model.state import RegistryState, Repository, TopicSource
from gitops.planning.drift import LookUp, Provenance
from gitops.planning.fingerprints import is_same
from gitops.registries.git.registry import NO_CONFIG, required_files
from gitops.repository.file_trees import SelectedTree
from gitops.repository.loader import load

MOST_LOADS: Final = 500
"""How many commits are read at most; a topic that a shared type changes has the longest past."""


@dataclass(slots=True, kw_only=True)
class _Topic:
    """A topic while its past is looked for.

    `files` are those that it was ever made of, as far as is known; `read` are commits.
    """

    history: SchemaHistory
    files: set[str] = field(default_factory=set)
    declared: set[int] = field(default_factory=set)
    read: set[str] = field(default_factory=set)

    @property
    def is_settled(self) -> bool:
        """Whether its latest version is known, so that the others do not matter."""
        return self.history.entries[-1].version in self.declared

    def is_open_at(self, commit: str) -> bool:
        """Whether a commit that changed its files may tell something."""
        return not self.is_settled and commit not in self.read

    def take(self, declared: SchemaHistory) -> None:
        """Note the versions that a commit declares."""
        if declared.latest is None:
            return
        info = declared.latest.info
        self.declared |= {
            entry.version for entry in self.history.entries if is_same(entry.info, info)
        }


def find_provenance(
    checkout: Checkout,
    commit: str,
    sources: Mapping[TopicName, TopicSource],
    histories: Mapping[TopicName, SchemaHistory],
) -> Provenance:
    """The versions of these histories that the files declared at `commit` or at one before it.

    `sources` says what the topics are made of now. Of a topic whose latest version was found, the
    others may be missing. Raises GitFailedError.
    """
    search = _Search(checkout, commit)
    for topic, history in histories.items():
        source = sources.get(topic)
        search.add(topic, history, _files_of(source) if source else ())
    search.run()
    return Provenance(
        declared={topic: frozenset(search.topics[topic.keeper].declared) for topic in histories},
        limit=search.limit,
    )


class _Search:
    """Goes through the commits that changed what topics are made of, until all are settled."""

    def __init__(self, checkout: Checkout, commit: str) -> None:
        self._checkout = checkout
        self._commit = commit
        self._loads = 0
        self._by_file: dict[str, set[TopicName]] = {}
        self.topics: dict[TopicName, _Topic] = {}
        self.limit = ""

    def add(self, topic: TopicName, history: SchemaHistory, files: Iterable[str]) -> None:
        self.topics[topic.keeper] = _Topic(history=history)
        self._note(topic.keeper, files)

    def run(self) -> None:
        self._read(self._commit, set(self.topics))
        if self._is_done():
            return
        commits = commits_before(self._checkout, self._commit)
        # A definition that had another name before brings more commits to look at.
        while not self._is_done() and self._pass(commits):
            pass
        oldest = oldest_known(self._checkout, self._commit)
        if oldest and not self._is_done():
            self.limit = f"the clone is shallow and begins at {oldest[:7]} (git fetch --unshallow)"

    def _is_done(self) -> bool:
        return bool(self.limit) or all(topic.is_settled for topic in self.topics.values())

    def _pass(self, commits: Iterable[CommitPaths]) -> bool:
        """Whether something was read that was not before."""
        before = self._loads
        for change in commits:
            asked = {
                name
                for path in change.paths
                for name in self._by_file.get(path, ())
                if self.topics[name].is_open_at(change.commit)
            }
            if asked and self._loads == MOST_LOADS:
                self.limit = f"only {MOST_LOADS} commits were read"
                break
            if asked:
                self._read(change.commit, asked)
        return self._loads > before

    def _read(self, commit: str, names: set[TopicName]) -> None:
        self._loads += 1
        tree = tree_of(self._checkout, commit)
        files = frozenset(file for name in names for file in self.topics[name].files)
        needed = required_files(tree, files)
        repository = _load(SelectedTree(tree, needed))
        imported = [path for path in needed if path.endswith(".proto")]
        for topic, source in repository.topics.items():
            if topic.keeper in names:
                is_proto = any(file.endswith(".proto") for file in source.definitions)
                self._note(topic.keeper, [*_files_of(source), *(imported if is_proto else ())])
                self.topics[topic.keeper].take(repository.desired.topics[topic].history)
        for name in names:
            self.topics[name].read.add(commit)

    def _note(self, name: TopicName, files: Iterable[str]) -> None:
        self.topics[name].files.update(files)
        for file in files:
            self._by_file.setdefault(file, set()).add(name)


def _files_of(source: TopicSource) -> tuple[str, ...]:
    return (source.manifest.file, *source.definitions)


def _load(tree: SelectedTree) -> Repository:
    try:
        return load(tree)
    except UsageError:  # there was no gitops.yaml yet
        return Repository(config=NO_CONFIG, desired=RegistryState(), digest="")


# Where the versions of a registry come from: looked up in git's history, if there is one.


def provenance_at_head(root: Path, repository: Repository) -> LookUp:
    """Looks into the clone around `root`, from the commit that is checked out."""

    def look_up(histories: Mapping[TopicName, SchemaHistory]) -> Provenance:
        try:
            with open_checkout(root) as checkout:
                commit = head_of(checkout)
                if commit is None:
                    return Provenance(limit="nothing is committed yet")
                return find_provenance(checkout, commit, repository.topics, histories)
        except GitopsError as error:
            return Provenance(limit=error.what)

    return look_up
