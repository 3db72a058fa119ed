"""Where the versions come from that a change is compared with, and what is not known of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from gitops.git.history import last_change
from gitops.git.search import is_known
from gitops.model.check import History, HistorySource
from gitops.model.config import RegistryConfig
from gitops.model.errors import GitopsError, OutsideError
from gitops.model.state import RegistryState, Scope
from gitops.ports import Progress, Registry
from gitops.registry.git.registry import GitRegistry, Past
from gitops.registry.opening import open_registry
from gitops.registry.snapshot.registry import SnapshotRegistry
from gitops.usecases.ahead import with_base
from gitops.usecases.change import LoadedChange
from gitops.usecases.desired import desired_of
from gitops.usecases.history_choice import HistoryChoice
from gitops.usecases.touching import files_of


class NoHistoryError(OutsideError):
    """The versions cannot be had from where the user wants them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What is known of a registry, and from where; `registry` is open."""

    registry: Registry
    state: RegistryState
    history: History


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
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


_Read = Callable[[], Observed]


@dataclass(frozen=True, slots=True)
class Histories:
    """Reads the versions of what a change touches; what is opened stays open with `stack`."""

    loaded: LoadedChange
    scope: Scope
    stack: ExitStack
    progress: Progress

    def read(self, wanted: Wanted) -> Observed:
        """The versions from the best source, or from the one that is wanted.

        Raises NoHistoryError where a source that was named has none, OutsideError.
        """
        if wanted.choice is not HistoryChoice.AUTO:
            return self._named(wanted)
        failed: list[str] = []
        for source, read in self._sources(wanted):
            try:
                found = read()
            except GitopsError as error:
                if source is HistorySource.GIT:
                    raise
                failed.append(_why(source, error))
            else:
                return _with_limits(found, failed)
        raise AssertionError("git always has a history")

    def _named(self, wanted: Wanted) -> Observed:
        read = dict(self._sources(wanted))[HistorySource(wanted.choice.value)]
        try:
            return read()
        except OutsideError:
            raise
        except GitopsError as error:
            raise NoHistoryError(error.what, where=error.where, hint=error.hint) from error

    def _sources(self, wanted: Wanted) -> Iterator[tuple[HistorySource, _Read]]:
        yield HistorySource.REGISTRY, lambda: self._live(wanted)
        yield HistorySource.SNAPSHOT, lambda: self._snapshot(wanted)
        yield HistorySource.GIT, lambda: self._git(wanted)

    def _live(self, wanted: Wanted) -> Observed:
        root, config = self.loaded.change.checkout.root, wanted.config
        if config is None:
            raise NoHistoryError(
                f"the base has no registry '{wanted.name}', and a change does not decide whom "
                "secrets are sent to",
                hint="it is asked once gitops.yaml is merged",
            )
        if is_not_there(config, root):
            raise NoHistoryError(
                f"registry '{wanted.name}' has no file yet",
                hint="`pulsar-gitops apply` makes it, or use --history snapshot or git",
            )
        if config.local_path is not None and self._is_of_the_clone(config.local_path):
            raise NoHistoryError(
                f"the file of registry '{wanted.name}' is committed, so that a change could bring "
                "its own history along",
                hint=f"git rm --cached {config.local_path}, and add it to .gitignore",
            )
        registry = open_registry(wanted.name, config, root)
        self.stack.callback(registry.close)
        state = registry.observe(self.scope, self.progress)
        return Observed(
            registry=registry, state=state, history=History(source=HistorySource.REGISTRY)
        )

    def _is_of_the_clone(self, path: str) -> bool:
        """Whether git knows the registry's file, in the folder or in the change."""
        change = self.loaded.change
        return is_known(change.checkout, path, [change.head] if change.head else [])

    def _snapshot(self, wanted: Wanted) -> Observed:
        change = self.loaded.change
        defaults = wanted.head_config.broker_defaults
        registry = SnapshotRegistry(wanted.former_name, change.base_tree, defaults)
        if registry.is_empty:
            raise NoHistoryError(
                f"the base has no snapshot of registry '{wanted.name}'",
                hint=f"record one: pulsar-gitops snapshot --registry {wanted.name}, and commit it",
            )
        recorded = registry.observe(self.scope, self.progress)
        state, ahead = with_base(recorded, self.loaded.base)
        day = last_change(change.checkout, change.base, registry.address)
        since = f"on {day}" if day else "(the clone does not tell when)"
        limit = f"What happened in the registry after the snapshot was recorded {since} is unknown."
        history = History(source=HistorySource.SNAPSHOT, recorded=day, limits=(limit, *ahead))
        return Observed(registry=registry, state=state, history=history)

    def _git(self, wanted: Wanted) -> Observed:
        loaded = self.loaded
        past = Past(
            checkout=loaded.change.checkout,
            commit=loaded.change.base,
            desired=desired_of(loaded.base, wanted.before),
            files={topic: files_of(source) for topic, source in loaded.base.topics.items()},
        )
        registry = GitRegistry(wanted.name, past, wanted.head_config.broker_defaults)
        state = registry.observe(self.scope, self.progress)
        history = History(source=HistorySource.GIT, limits=registry.limits())
        return Observed(registry=registry, state=state, history=history)


def is_not_there(config: RegistryConfig, root: Path) -> bool:
    """Whether the registry is a file or folder that does not exist yet."""
    return config.local_path is not None and not (root / config.local_path).exists()


def _why(source: HistorySource, error: GitopsError) -> str:
    """Why a better source was not used, as a sentence."""
    what = error.what[:1].upper() + error.what[1:]
    if source is HistorySource.REGISTRY:
        return f"The registry was not asked, or did not answer: {what.rstrip('.')}."
    return f"{what.rstrip('.')}."


def _with_limits(found: Observed, failed: list[str]) -> Observed:
    history = found.history
    more = History(
        source=history.source, recorded=history.recorded, limits=(*failed, *history.limits)
    )
    return Observed(registry=found.registry, state=found.state, history=more)
