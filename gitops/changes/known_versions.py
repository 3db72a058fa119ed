"""Where the versions come from that a change is compared with, and what is not known of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Final

from gitops.changes.change import LoadedChange
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
from gitops.git.history import last_change
from gitops.git.tree import is_known
from gitops.model.check import History, HistoryChoice, HistorySource
from gitops.model.config import RegistryConfig
from gitops.model.errors import GitopsError, OutsideError, UnreadableFileError
from gitops.model.findings import Severity
from gitops.model.names import TopicName, find_in_either_domain
from gitops.model.schema import SchemaEntry, SchemaInfo
from gitops.model.state import RegistryState, Repository, Scope, TopicState
from gitops.planning.fingerprints import equal_version
from gitops.ports import Progress, Registry
from gitops.registries.factory import open_registry
from gitops.registries.git.registry import GitRegistry
from gitops.registries.snapshot import SnapshotRegistry
from gitops.repository.broker_snapshots import NOT_RECORDED
from gitops.repository.snapshots import snapshot_files

# Definitions of the base that its snapshot does not have yet: the snapshot is a merge behind.

_MOST_NAMED: Final = 5
_NEWER: Final = "The snapshot is that of {}, recorded after the change branched off."


def add_base_versions(
    state: RegistryState, base: Repository
) -> tuple[RegistryState, tuple[str, ...]]:
    """The state once the base's definitions are registered, and a sentence that names them.

    Nothing is registered that the state holds already, as with a broker: a definition that equals
    an older version leaves the latest as it is. No sentence where nothing is missing.
    """
    missing = {
        topic: _with_next_version(known, info)
        for topic, known in state.topics.items()
        if (info := _definition(base, topic)) and equal_version(known.history, info) is None
    }
    if not missing:
        return state, ()
    return replace(state, topics={**state.topics, **missing}), (_sentence(missing.values()),)


def _definition(base: Repository, topic: TopicName) -> SchemaInfo | None:
    """What the base says, None for what no registry can have taken."""
    source = find_in_either_domain(base.topics, topic)
    state = find_in_either_domain(base.desired.topics, topic)
    if source and any(finding.severity is Severity.ERROR for finding in source.findings):
        return None
    latest = state.history.latest if state else None
    return latest.info if latest else None


def _with_next_version(known: TopicState, info: SchemaInfo) -> TopicState:
    history = known.history
    entry = SchemaEntry(version=history.next_version, info=info)
    after = replace(
        history, entries=(*history.entries, entry), next_version=history.next_version + 1
    )
    return replace(known, history=after)


def _sentence(missing: Iterable[TopicState]) -> str:
    topics = sorted(missing, key=lambda state: state.topic)
    texts = [f"{topic.topic} (v{topic.history.next_version - 1})" for topic in topics[:_MOST_NAMED]]
    number = len(topics) - len(texts)
    names = ", ".join([*texts, *([f"{number} more"] if number else [])])
    return (
        "The snapshot does not contain the base's definitions of these topics; they are assumed "
        f"to be registered after it: {names}."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRegistry:
    """What is known of a registry, and from where; `registry` is open."""

    registry: Registry
    state: RegistryState
    history: History


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionsRequest:
    """Of which registry the versions are wanted, and where it is.

    `config` is what the base says, None where the base does not know the registry: a change must
    not decide to whom secrets are sent. `head_config` is what the change says. The base may know
    it by its `former_name`.
    """

    name: str
    former_name: str
    config: RegistryConfig | None
    head_config: RegistryConfig
    choice: HistoryChoice = HistoryChoice.AUTO

    @property
    def before(self) -> RegistryConfig:
        """What held for it: of a registry that the base does not know, nothing of its own."""
        return self.config or replace(self.head_config, namespaces={})


_Read = Callable[[], KnownRegistry]


@dataclass(frozen=True, slots=True)
class KnownVersions:
    """Reads the versions of what a change touches; what is opened stays open with `stack`."""

    loaded: LoadedChange
    scope: Scope
    stack: ExitStack
    progress: Progress

    def read(self, wanted: VersionsRequest) -> KnownRegistry:
        """The versions from the best source, or from the one that is wanted.

        Raises NoHistoryError where a source that was named has none, OutsideError.
        """
        try:
            known_registry, failed = choose_versions(dict(self._sources(wanted)), wanted.choice)
        except OutsideError:
            raise
        except GitopsError as error:
            raise NoHistoryError(error.what, where=error.where, hint=error.hint) from error
        if known_registry is None:
            raise failed[-1][1]
        return _add_limits(
            known_registry, [_failure_text(source, error) for source, error in failed]
        )

    def _sources(self, wanted: VersionsRequest) -> Iterator[tuple[HistorySource, _Read]]:
        yield HistorySource.REGISTRY, lambda: self._live(wanted)
        yield HistorySource.SNAPSHOT, lambda: self._snapshot(wanted)
        yield HistorySource.GIT, lambda: self._git(wanted)

    def _live(self, wanted: VersionsRequest) -> KnownRegistry:
        root, config = self.loaded.change.checkout.root, wanted.config
        if config is None:
            raise NoHistoryError(
                f"the base has no registry '{wanted.name}', and a change must not "
                "choose where secrets are sent",
                hint="it is asked once gitops.yaml is merged",
            )
        require_registry_file(wanted.name, config, root)
        if config.local_path is not None and self._is_of_the_clone(config.local_path):
            raise NoHistoryError(
                f"the file of registry '{wanted.name}' is committed, so a change could "
                "replace its own history",
                hint=f"git rm --cached {config.local_path}, and add it to .gitignore",
            )
        for name in config.files:
            if self._is_of_the_change(name):
                raise NoHistoryError(
                    f"registry '{wanted.name}' is reached with {name}, which is not the base's, "
                    "and a change must not choose whom secrets are sent to",
                    hint="merge that file alone; then the registry is asked",
                )
        registry = open_registry(wanted.name, config, root)
        self.stack.callback(registry.close)
        state = registry.observe(self.scope, self.progress)
        return KnownRegistry(
            registry=registry, state=state, history=History(source=HistorySource.REGISTRY)
        )

    def _is_of_the_change(self, name: str) -> bool:
        """Whether a file has another content than in the base, and git knows it or its folder."""
        root = self.loaded.change.checkout.root
        path = os.path.relpath(root / name, root)
        try:
            content = (root / name).read_bytes()
        except OSError:
            return False  # which is told when it is opened
        with suppress(UnreadableFileError):
            if self.loaded.change.base_tree.read(path) == content:
                return False
        real = os.path.relpath(os.path.realpath(root / name), os.path.realpath(root))
        changed = self.loaded.change.changed & {path, *map(str, PurePath(path).parents)}
        return any(map(self._is_of_the_clone, (path, real, *changed)))

    def _is_of_the_clone(self, path: str) -> bool:
        """Whether git knows a file, in the folder or in the change."""
        change = self.loaded.change
        return is_known(change.checkout, path, [change.head] if change.head else [])

    def _snapshot(self, wanted: VersionsRequest) -> KnownRegistry:
        change = self.loaded.change
        defaults = wanted.head_config.broker
        registry = SnapshotRegistry(wanted.former_name, change.tip_tree, defaults)
        commit, newer = change.tip, list[str]()
        if registry.is_empty:  # it is gone, or the registry has another name by now
            registry = SnapshotRegistry(wanted.former_name, change.base_tree, defaults)
            commit = change.base
        if registry.is_empty:
            raise no_snapshot(wanted.name, in_base=True)
        if commit != change.base and any(
            path in change.merged for path in snapshot_files(change.tip_tree, wanted.former_name)
        ):
            newer.append(_NEWER.format(commit[:7]))
        recorded = registry.observe(self.scope, self.progress)
        state, missing = add_base_versions(recorded, self.loaded.base)
        day = last_change(change.checkout, commit, registry.address)
        limit = snapshot_limit(f"on {day}" if day else "(when is unknown in this clone)")
        history = History(
            source=HistorySource.SNAPSHOT, recorded=day, limits=(limit, *newer, *missing)
        )
        return KnownRegistry(registry=registry, state=state, history=history)

    def _git(self, wanted: VersionsRequest) -> KnownRegistry:
        change = self.loaded.change
        commits = git_history(change.checkout, change.base, self.loaded.base, wanted.before)
        broker = settings_of_snapshot(change.base_tree, wanted.former_name, wanted.head_config)
        is_said = wanted.choice is HistoryChoice.AUTO  # by "The base has no snapshot."
        if is_said and not snapshot_files(change.base_tree, wanted.former_name):
            limits = tuple(limit for limit in broker.limits if limit != NOT_RECORDED)
            broker = replace(broker, limits=limits)
        registry = GitRegistry(wanted.name, commits, broker)
        state = registry.observe(self.scope, self.progress)
        history = History(source=HistorySource.GIT, limits=registry.limits())
        return KnownRegistry(registry=registry, state=state, history=history)


def _failure_text(source: HistorySource, error: GitopsError) -> str:
    """Why a better source was not used, as a sentence."""
    what = failure_sentence(error)
    if source is HistorySource.REGISTRY:
        return f"The registry was not asked, or did not answer: {what}"
    return what


def _add_limits(known_registry: KnownRegistry, failed: list[str]) -> KnownRegistry:
    history = known_registry.history
    extended = History(
        source=history.source, recorded=history.recorded, limits=(*failed, *history.limits)
    )
    return KnownRegistry(
        registry=known_registry.registry, state=known_registry.state, history=extended
    )
