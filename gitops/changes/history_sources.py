"""The three sources of known versions, the best first, and what is said of one that has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from gitops.changes.impact import files_of
from gitops.changes.registries import desired_state
from gitops.git.checkout import Checkout
from gitops.model.check import HistoryChoice, HistorySource
from gitops.model.config import RegistryConfig
from gitops.model.errors import GitopsError, OutsideError
from gitops.model.policy import BrokerSettings
from gitops.model.state import Repository
from gitops.ports import FileTree
from gitops.registries.git.registry import GitHistory
from gitops.repository.broker_snapshots import with_recorded

Versions = TypeVar("Versions")
_Failure = tuple[HistorySource, GitopsError]


class NoHistoryError(OutsideError):
    """The versions cannot be had from where the user wants them."""


def choose_versions(
    sources: Mapping[HistorySource, Callable[[], Versions]], choice: HistoryChoice
) -> tuple[Versions | None, list[_Failure]]:
    """The versions from the chosen source, or from the first that has any, the best source first.

    And why those before it have none; None where no source has any. Raises the error of a source
    that was chosen.
    """
    if choice is not HistoryChoice.AUTO:
        return sources[HistorySource(choice.value)](), []
    failed: list[_Failure] = []
    for source, read in sources.items():
        try:
            return read(), failed
        except GitopsError as error:
            failed.append((source, error))
    return None, failed


def failure_sentence(error: GitopsError) -> str:
    """Why a source has no versions."""
    return f"{error.what[:1].upper()}{error.what[1:].rstrip('.')}."


# The registry itself.


def require_registry_file(name: str, config: RegistryConfig, root: Path) -> None:
    """Raise NoHistoryError for a registry that is a file or folder which does not exist yet."""
    if config.local_path is not None and not (root / config.local_path).exists():
        raise NoHistoryError(
            f"registry '{name}' has no file yet",
            hint="`pulsar-gitops apply` makes it, or use --history snapshot or git",
        )


# A recorded snapshot: in the base of a change, or in the folder.


def no_snapshot(name: str, *, in_base: bool) -> NoHistoryError:
    """What is said where nothing is recorded of a registry."""
    hint = f"record one: pulsar-gitops snapshot --registry {name}"
    if in_base:
        what, hint = "the base has no snapshot", f"{hint}, and commit it"
    else:
        what = "there is no snapshot"
    return NoHistoryError(f"{what} of registry '{name}'", hint=hint)


def snapshot_limit(recorded: str = "") -> str:
    """What is not known of a registry with a snapshot, which was `recorded` on some day."""
    since = f" {recorded}" if recorded else ""
    return f"What happened in the registry after the snapshot was recorded{since} is unknown."


def settings_of_snapshot(tree: FileTree, name: str, config: RegistryConfig) -> BrokerSettings:
    """What was recorded of a registry's brokers, else what `gitops.yaml` says.

    A broken file is a finding of its own.
    """
    try:
        return with_recorded(config.broker, tree, name)
    except GitopsError:
        return config.broker


# The definitions as they came to stand in git.


def git_history(
    checkout: Checkout, commit: str, repository: Repository, config: RegistryConfig
) -> GitHistory:
    """The history of the topics of a registry in a commit, whose files are `repository`."""
    return GitHistory(
        checkout=checkout,
        commit=commit,
        desired=desired_state(repository, config),
        files={topic: files_of(source) for topic, source in repository.topics.items()},
    )
