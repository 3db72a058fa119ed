"""Which files and lines a change touches, and the files as they lie in the folder."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
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
    files = list(_changed_files(checkout, base))
    known = {file.after for file in files}
    listed = checkout.ask(
        *("ls-files", "-z", "--others", "--exclude-standard", "--"), *checkout.pathspec
    )
    for path in listed.decode("utf-8", "surrogateescape").split("\0"):
        place = path.removeprefix(checkout.prefix)
        # A folder that is a clone of its own is listed with a slash; nothing in it is ours.
        if path and not path.endswith("/") and place not in known and _is_ours(place):
            files.append(ChangedFile(after=place))
    # Not in the index any more and still in the folder: removed and untracked at once.
    again = {file.after for file in files}
    return tuple(file for file in files if file.after or file.before not in again)


def add_links(files: Iterable[ChangedFile], trees: Iterable[CommitTree]) -> tuple[ChangedFile, ...]:
    """The changed files, and the symbolic links to them: what stands there changes too."""
    items = list(files)
    changed = {path for file in items for path in (file.before, file.after) if path}
    links = sorted({link for tree in trees for link in tree.links().items()})
    items += [
        ChangedFile(before=link, after=link)
        for link, target in links
        if target in changed and link not in changed
    ]
    return tuple(dict.fromkeys(items))


def _changed_files(checkout: Checkout, *commits: str) -> Iterator[ChangedFile]:
    listed = checkout.ask(*_DIFF, *commits, "--", *checkout.pathspec)
    parts = iter(listed.decode("utf-8", "surrogateescape").split("\0"))
    texts: set[tuple[str | None, str | None]] = set()
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
        if any(pair) and pair not in texts:
            texts.add(pair)
            is_other = _SUBMODULE in head.lstrip(":").split(" ")[:2]
            yield ChangedFile(before=pair[0], after=pair[1], submodule=is_other)


def _is_ours(path: str) -> bool:
    return not SKIPPED.intersection(path.split("/"))


# Which lines a change adds and removes, as git's own diff tells them.


_LINES_DIFF: Final = (
    # What is larger is told as binary: samples, of which no line is anybody's cause.
    *("-c", "core.bigFileThreshold=1m", "diff", "--unified=0", "--no-color", "--no-ext-diff"),
    *("--no-textconv", "--no-relative", "--ignore-submodules=all", "--find-renames=50%", "-l1000"),
    *("--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/"),
)
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED: Final = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Lines that are replaced: those of the base from `old` on, by those of the head from `new` on.

    Where nothing is added, `new` is the line in front of the gap (0: it is at the start).
    """

    old: int
    new: int
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedText:
    """A file that both sides, or the head alone, have: its path in the base, and its hunks."""

    before: str | None
    hunks: tuple[Hunk, ...]


def changed_texts(checkout: Checkout, base: str, head: str) -> Mapping[str, ChangedText]:
    """By path in the head; an empty `head` is the folder, of which git knows no untracked file."""
    commits = [base, head] if head else [base]
    text = checkout.ask(*_LINES_DIFF, *commits, "--", *checkout.pathspec)
    lines = iter(text.decode("utf-8", "surrogateescape").split("\n"))
    grouped: dict[str, list[Hunk]] = {}
    olds: dict[str, str | None] = {}
    old = new = None
    for line in lines:
        if line.startswith("--- "):
            old = _path(line, checkout.prefix)
        elif line.startswith("+++ "):
            new = _path(line, checkout.prefix)
        elif new and (head_line := _HUNK.match(line)):
            olds[new] = old
            grouped.setdefault(new, []).append(_hunk(head_line, lines))
        elif head_line := _HUNK.match(line):
            _hunk(head_line, lines)
    return {
        path: ChangedText(before=olds[path], hunks=tuple(hunks)) for path, hunks in grouped.items()
    }


def _hunk(head: re.Match[str], lines: Iterator[str]) -> Hunk:
    """The hunk below its head, whose lines may look like anything."""
    left = {"-": int(head[2] or 1), "+": int(head[4] or 1)}
    texts: dict[str, list[str]] = {"-": [], "+": []}
    while any(left.values()):
        line = next(lines)
        if line[0] in left:  # else it says that there is no line end
            left[line[0]] -= 1
            texts[line[0]].append(line[1:])
    removed, added = map(tuple, texts.values())
    return Hunk(old=int(head[1]), new=int(head[3]), removed=removed, added=added)


def _path(line: str, prefix: str) -> str | None:
    """The path behind `--- ` or `+++ `, None where the file is not there."""
    name = line[4:].removesuffix("\t")
    if name == "/dev/null":
        return None
    if name.startswith('"'):
        quoted = name[1:-1].encode("utf-8", "surrogateescape")
        name = _ESCAPE.sub(_unescaped, quoted).decode("utf-8", "surrogateescape")
    return name[2:].removeprefix(prefix)


def _unescaped(match: re.Match[bytes]) -> bytes:
    item = match[1]
    return bytes([int(item, 8)]) if len(item) > 1 else bytes([_ESCAPED.get(item, item[0])])


class ChangedFolder:
    """A folder as a FileTree: what git knows of it, with what was changed since a commit.

    Files that git ignores are not in it, and those of a sparse checkout are.
    """

    def __init__(self, base: CommitTree, folder: FileTree, changes: Iterable[ChangedFile]) -> None:
        changed = tuple(changes)
        self._base = base
        self._folder = folder
        self._submodules = {file.after for file in changed if file.submodule}
        self._there = {file.after for file in changed if file.after is not None}
        self._gone = {file.before for file in changed if file.before is not None} - self._there

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


def uncommitted_files(tree: FileTree, root: Path, paths: Collection[str]) -> list[str]:
    """Those of these files that differ from the last commit; none outside of git."""
    if not paths:
        return []
    try:
        with open_checkout(root) as checkout:
            commit = head_of(checkout)
            committed = tree_of(checkout, commit) if commit else None
            return [p for p in paths if committed is None or _read(committed, p) != _read(tree, p)]
    except UsageError:  # without git nothing is committed
        return []


def _read(tree: FileTree, path: str) -> bytes | None:
    try:
        return tree.read(path).replace(b"\r\n", b"\n")
    except UnreadableFileError:
        return None
