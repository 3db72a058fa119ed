"""A repository and a registry, opened for one command, and its day."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gitops import signals
from gitops.cli.options import HERE
from gitops.cli.progress import progress_bar
from gitops.model.broker_settings import as_if_broker
from gitops.model.config import Config, RegistryConfig
from gitops.model.errors import UnreadableFileError, UsageError
from gitops.model.findings import Location
from gitops.model.state import PlanScope, RegistryState, Repository
from gitops.ports import FileTree, Registry
from gitops.repository.file_trees import GivenFiles
from gitops.repository.folder import nearest_repository, require_inside

if TYPE_CHECKING:
    from gitops.registries.snapshot import SnapshotRegistry

# The day, as the edge tells it to everything below.


def today() -> datetime.date:
    """The day in UTC, so that a waiver ends everywhere at the same moment."""
    return datetime.datetime.now(datetime.UTC).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRepository:
    """The files of a repository and what they say; `release` is the one that judged them."""

    root: Path
    tree: FileTree
    repository: Repository
    release: str | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a command that reads the same files in the same way."""
        repo = ("--repo", str(self.root)) if self.root != HERE else ()
        return (*repo, "--as-if-broker", self.release) if self.release else repo

    def within(self, scope: PlanScope | None) -> OpenedRepository:
        """The same with what the files say of a scope; of everything with None."""
        if scope is None:
            return self
        from gitops.changes.plan_scope import narrow

        return replace(self, repository=narrow(self.repository, scope, self.tree))

    def excerpt(self, where: Location) -> str | None:
        """The line that a location is on."""
        try:
            return line_of(self.tree.read(where.file), where.line)
        except UnreadableFileError:
            return None


def line_of(data: bytes, number: int) -> str | None:
    """A line of a file, from 1; None where it has no such line."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    return lines[number - 1] if 0 < number <= len(lines) else None


def open_repository(
    root: Path, *outputs: Path | None, release: str | None = None
) -> OpenedRepository:
    """Read the repository at `root`; raises UsageError where there is none.

    Without `--repo` the current folder may also lie inside the repository, as with git.
    `outputs` are files that the command writes: one that the repository consists of is refused.
    Definitions are judged by `release`, or by the default registry's own.
    """
    from gitops.repository.file_trees import FolderTree
    from gitops.repository.loader import load

    root = repository_root(root)
    tree = FolderTree(root)
    with progress_bar() as progress, _placed_errors(root):
        repository = load(tree, progress, release=release)
    refuse_outputs(root, outputs, tree.consulted())
    return OpenedRepository(root=root, tree=tree, repository=repository, release=release)


def refuse_outputs(root: Path, outputs: Sequence[Path | None], inputs: Iterable[Path]) -> None:
    """Raise UsageError for an output that is an input, or to which a link leads out of `root`."""
    from gitops.cli.console import refuse_inputs

    refuse_inputs(outputs, inputs)
    for output in outputs:
        if output is not None:
            require_inside(root, output)


def open_settings(root: Path) -> OpenedRepository:
    """Read `gitops.yaml` alone, for what needs a registry and no other file."""
    from gitops.repository.file_trees import FolderTree
    from gitops.repository.loader import load_config

    root = repository_root(root)
    tree = FolderTree(root)
    with _placed_errors(root):
        return OpenedRepository(root=root, tree=tree, repository=load_config(tree))


@contextmanager
def _placed_errors(root: Path) -> Iterator[None]:
    """Let errors about a file of the repository name its path."""
    try:
        yield
    except UsageError as error:
        where = str((root.resolve() if root == HERE else root) / error.where)
        raise UsageError(error.what, where=where, hint=error.hint) from error


def empty_repository() -> OpenedRepository:
    """What a command works on that needs no repository: no files, and no registry of theirs."""
    nothing = Repository(
        config=Config(registries={}, default_registry=""), desired=RegistryState(), digest=""
    )
    return OpenedRepository(root=HERE, tree=GivenFiles({}), repository=nothing)


def has_repository(root: Path) -> bool:
    """Whether `--repo` was given, or the current folder lies inside a schemas repository."""
    return root != HERE or (nearest_repository(root) / "gitops.yaml").is_file()


def repository_root(root: Path) -> Path:
    """The folder that `--repo` means; raises UsageError where there is none."""
    if not root.is_dir():
        raise UsageError(f"there is no folder '{root}'", hint="--repo names a schemas repository")
    return nearest_repository(root) if root == HERE else root


@contextmanager
def repository_folder(repo: str) -> Iterator[Path]:
    """The folder that `--repo` means; a URL is cloned into a temporary one, removed in the end."""
    from gitops.git.clone import clone, is_git_url

    if is_git_url(repo):
        with clone(repo) as folder:
            yield folder
    else:
        yield Path(repo)


@contextmanager
def open_registry(
    opened: OpenedRepository, names: list[str] | None, *, release: str | None = None
) -> Iterator[tuple[Registry, RegistryConfig]]:
    """The registry of that name, or the default one without any; closed in the end.

    `names` has one name at most: more are refused where options are read. `release` is the one by
    which the registry is to decide, where that is another than its own.
    """
    from gitops.changes.registries import registry_config
    from gitops.registries.factory import open_registry as open_by_kind

    value, config = registry_config(opened.repository, names[0] if names else None)
    if release is not None:
        config = replace(config, broker=as_if_broker(config.broker, release))
    signals.raise_if_requested()
    registry = open_by_kind(value, config, opened.root)
    try:
        yield registry, config
    finally:
        registry.close()


@contextmanager
def open_snapshot(
    opened: OpenedRepository,
    names: list[str] | None,
    *,
    release: str | None = None,
    with_journals: bool = False,
) -> Iterator[tuple[SnapshotRegistry, RegistryConfig]]:
    """The same, as its snapshot in the repository has it.

    Raises UsageError where there is none; `with_journals`, where no journal has a version either.
    """
    from gitops.changes.history_sources import no_snapshot
    from gitops.changes.registries import registry_config
    from gitops.registries.snapshot import SnapshotRegistry

    value, config = registry_config(opened.repository, names[0] if names else None)
    broker = as_if_broker(config.broker, release) if release else config.broker
    recorded = SnapshotRegistry(value, opened.tree, broker)
    if recorded.is_empty and not (with_journals and _have_journals(opened.root, value)):
        missing = no_snapshot(value, in_base=False)
        raise UsageError(missing.what, hint=missing.hint)
    yield recorded, config


def _have_journals(root: Path, registry: str) -> bool:
    from gitops.journal.versions import read_versions

    return bool(read_versions(root, registry).histories)


def relative_paths(root: Path, paths: Sequence[Path]) -> tuple[str, ...]:
    """Paths as findings have them: from the repository's root, with `/`.

    A path counts from the current folder, as people type it; raises UsageError for one that does
    not exist or is outside.
    """
    texts = []
    base = root.resolve()
    for path in paths:
        whole = path if path.is_absolute() or path.exists() else root / path
        if not whole.exists():
            raise UsageError(f"'{path}' does not exist", hint="name a file or folder to look at")
        try:
            texts.append(whole.resolve().relative_to(base).as_posix())
        except ValueError:
            raise UsageError(f"'{path}' is outside the repository {os.fspath(root)}") from None
    return tuple(texts)
