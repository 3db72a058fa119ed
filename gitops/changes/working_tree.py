"""Known versions of the topics of a working tree, which has no base to compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gitops.changes.history_sources import (
    NoHistoryError,
    choose_versions,
    failure_sentence,
    git_history,
    no_snapshot,
    require_registry_file,
    settings_of_snapshot,
    snapshot_limit,
)
from gitops.changes.registries import desired_state
from gitops.git.checkout import open_checkout
from gitops.git.references import commit_of
from gitops.git.tree import tree_of
from gitops.model.check import HistoryChoice, HistorySource
from gitops.model.config import RegistryConfig
from gitops.model.errors import UsageError
from gitops.model.policy import BrokerSettings
from gitops.model.state import RegistryState, Repository, Scope
from gitops.ports import FileTree, Progress
from gitops.registries.factory import open_registry
from gitops.registries.git.registry import GitRegistry
from gitops.registries.snapshot import SnapshotRegistry
from gitops.repository.loader import load

FILES: Final = "files"
"""Where the versions are from if nothing else knows any: each definition is version 0."""
_NOTHING_KNOWN: Final = (
    "No versions are known: no registry, snapshot or commit contains any, so "
    "each definition is assumed to be v0."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryVersions:
    """What is known of a registry; `source` and `limits` are those of a ReplayReport."""

    state: RegistryState
    broker: BrokerSettings
    source: str
    limits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingTreeHistory:
    """The files of a working tree, and the registry that is meant."""

    root: Path
    tree: FileTree
    repository: Repository
    name: str
    config: RegistryConfig

    def known(self, scope: Scope, choice: HistoryChoice, progress: Progress) -> RegistryVersions:
        """The versions from the best source, or from the one that is wanted.

        Raises OutsideError where a source that was named has none.
        """
        registry_versions, errors = choose_versions(dict(self._reads(scope, progress)), choice)
        failed = [failure_sentence(error) for _, error in errors]
        if registry_versions is None:
            limits = (*failed, _NOTHING_KNOWN)
            return RegistryVersions(
                state=self._state_of_files(scope),
                broker=self.config.broker,
                source=FILES,
                limits=limits,
            )
        return replace(registry_versions, limits=(*failed, *registry_versions.limits))

    def _reads(
        self, scope: Scope, progress: Progress
    ) -> Iterator[tuple[HistorySource, Callable[[], RegistryVersions]]]:
        yield HistorySource.REGISTRY, lambda: self._live(scope, progress)
        yield HistorySource.SNAPSHOT, lambda: self._snapshot(scope, progress)
        yield HistorySource.GIT, lambda: self._git(scope, progress)

    def _live(self, scope: Scope, progress: Progress) -> RegistryVersions:
        require_registry_file(self.name, self.config, self.root)
        with ExitStack() as stack:
            registry = open_registry(self.name, self.config, self.root)
            stack.callback(registry.close)
            state, broker = registry.observe(scope, progress), registry.broker
        return RegistryVersions(state=state, broker=broker, source=HistorySource.REGISTRY.value)

    def _snapshot(self, scope: Scope, progress: Progress) -> RegistryVersions:
        registry = SnapshotRegistry(self.name, self.tree, self.config.broker)
        if registry.is_empty:
            raise no_snapshot(self.name, in_base=False)
        return RegistryVersions(
            state=registry.observe(scope, progress),
            broker=registry.broker,
            source=HistorySource.SNAPSHOT.value,
            limits=(snapshot_limit(),),
        )

    def _git(self, scope: Scope, progress: Progress) -> RegistryVersions:
        """The definitions as they came to stand at HEAD."""
        try:
            with open_checkout(self.root) as checkout:
                commit = commit_of(checkout, "HEAD")
                base = load(tree_of(checkout, commit), progress)
                history = git_history(checkout, commit, base, self.config)
                broker = settings_of_snapshot(self.tree, self.name, self.config)
                registry = GitRegistry(self.name, history, broker)
                state = registry.observe(scope, progress)
                return RegistryVersions(
                    state=state,
                    broker=registry.broker,
                    source=HistorySource.GIT.value,
                    limits=registry.limits(),
                )
        except UsageError as error:
            raise NoHistoryError(error.what, where=error.where) from error

    def _state_of_files(self, scope: Scope) -> RegistryState:
        desired = desired_state(self.repository, self.config)
        return RegistryState(
            namespaces={n: s for n, s in desired.namespaces.items() if n in scope.namespaces},
            topics={n: s for n, s in desired.topics.items() if n in scope.topics},
        )
