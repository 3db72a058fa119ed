"""Which files a change touches, and the files as they lie in the folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from gitops.git.checkout import Checkout, open_checkout
from gitops.git.references import head_of
from gitops.git.tree import SUBMODULE, CommitTree, tree_of
from gitops.model.errors import UnreadableFileError, UsageError
from gitops.ports import FileTree
from gitops.repository.affected_files import ChangedFile
from gitops.repository.file_trees import SKIPPED

_DIFF: Final = (
    "diff",
    "--raw",
    "-z",
    "--no-abbrev",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--ignore-submodules=dirty",
    # The similarity from which on git itself speaks of a rename; more pairs take too long.
    "--find-renames=50%",
    "-l1000",
)
_SUBMODULE: Final = "160000"
_TWO_PATHS: Final = ("R", "C")


def changes_between(checkout: Checkout, base: str, head: str) -> tuple[ChangedFile, ...]:
    """What differs between two commits, in the folder of the schemas."""
    return tuple(_changed_files(checkout, base, head))


def changes_in_folder(checkout: Checkout, base: str) -> tuple[ChangedFile, ...]:
    """What differs between a commit and the folder: staged, unstaged and untracked files."""
    found = list(_changed_files(checkout, base))
    known = {each.after for each in found}
    listed = checkout.ask(
        *("ls-files", "-z", "--others", "--exclude-standard", "--"), *checkout.pathspec
    )
    for path in listed.decode("utf-8", "surrogateescape").split("\0"):
        place = path.removeprefix(checkout.prefix)
        # A folder that is a clone of its own is listed with a slash; nothing in it is ours.
        if path and not path.endswith("/") and place not in known and _is_ours(place):
            found.append(ChangedFile(after=place))
    # Not in the index any more and still in the folder: removed and untracked at once.
    again = {each.after for each in found}
    return tuple(each for each in found if each.after or each.before not in again)


def add_links(files: Iterable[ChangedFile], trees: Iterable[CommitTree]) -> tuple[ChangedFile, ...]:
    """The changed files, and the symbolic links to them: what stands there changes too."""
    found = list(files)
    changed = {path for each in found for path in (each.before, each.after) if path}
    links = sorted({link for tree in trees for link in tree.links().items()})
    found += [
        ChangedFile(before=link, after=link)
        for link, target in links
        if target in changed and link not in changed
    ]
    return tuple(dict.fromkeys(found))


def _changed_files(checkout: Checkout, *commits: str) -> Iterator[ChangedFile]:
    listed = checkout.ask(*_DIFF, *commits, "--", *checkout.pathspec)
    parts = iter(listed.decode("utf-8", "surrogateescape").split("\0"))
    told: set[tuple[str | None, str | None]] = set()
    for head in parts:
        if not head:
            return
        status = head.rpartition(" ")[2]
        first = next(parts).removeprefix(checkout.prefix)
        second = first
        if status.startswith(_TWO_PATHS):
            second = next(parts).removeprefix(checkout.prefix)
        before = None if status.startswith(("A", "C")) else first
        after = None if status.startswith("D") else second
        pair = (
            before if before and _is_ours(before) else None,
            after if after and _is_ours(after) else None,
        )
        if any(pair) and pair not in told:
            told.add(pair)
            is_other = _SUBMODULE in head.lstrip(":").split(" ")[:2]
            yield ChangedFile(before=pair[0], after=pair[1], submodule=is_other)


def _is_ours(path: str) -> bool:
    return not SKIPPED.intersection(path.split("/"))


class ChangedFolder:
    """A folder as a FileTree: what git knows of it, with what was changed since a commit.

    Files that git ignores are not in it, and those of a sparse checkout are.
    """

    def __init__(self, base: CommitTree, folder: FileTree, changes: Iterable[ChangedFile]) -> None:
        changed = tuple(changes)
        self._base = base
        self._folder = folder
        self._submodules = {each.after for each in changed if each.submodule}
        self._there = {each.after for each in changed if each.after is not None}
        self._gone = {each.before for each in changed if each.before is not None} - self._there

    def paths(self) -> tuple[str, ...]:
        """All files, sorted."""
        return tuple(sorted({*self._base.paths(), *self._there} - self._gone))

    def read(self, path: str) -> bytes:
        """The content of a file; raises UnreadableFileError, OutsideRepositoryError."""
        if path in self._submodules:
            raise UnreadableFileError(SUBMODULE, where=path)
        if path in self._there:
            return self._folder.read(path)
        place = self._base.resolve(path)
        if place != path or place in self._there:
            # Through a link, whose target may be a file that was changed.
            return self._folder.read(path)
        if path in self._gone:
            raise UnreadableFileError("no such file", where=path)
        return self._base.read(path)


# Files of the folder that are not committed.


def require_committed(tree: FileTree, root: Path, paths: Iterable[str]) -> None:
    """Raise UsageError where a file that would be overwritten differs from the last commit."""
    dirty: list[str] = []
    try:
        with open_checkout(root) as checkout:
            commit = head_of(checkout)
            committed = tree_of(checkout, commit) if commit else None
            dirty = [p for p in paths if committed is None or _read(committed, p) != _read(tree, p)]
    except UsageError:  # without git nothing is committed
        return
    if dirty:
        raise UsageError(
            f"{', '.join(dirty)} would be overwritten, and has changes that are not committed",
            hint="commit or stash them first",
        )


def _read(tree: FileTree, path: str) -> bytes | None:
    try:
        return tree.read(path).replace(b"\r\n", b"\n")
    except UnreadableFileError:
        return None
