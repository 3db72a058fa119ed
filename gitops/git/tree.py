"""The files of a commit as a FileTree, and which of them have a word, without a checkout."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gitops.git.checkout import Checkout, GitFailedError
from gitops.model.errors import OutsideRepositoryError, UnreadableFileError
from gitops.repository.file_trees import SKIPPED
from gitops.repository.snapshots import SNAPSHOTS

# The files of a commit as a FileTree, without checking them out.

_LINK: Final = "120000"
_SUBMODULE: Final = "160000"
SUBMODULE: Final = "a submodule, whose files are in another repository"
"""Why it cannot be read."""
_MOST_LINKS: Final = 40
"""Linux follows as many."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands at a path: the mode as git writes it, and the blob's name."""

    mode: str
    blob: str


class CommitTree:
    """The files of a commit below the folder of the schemas.

    A symbolic link leads where it would lead in a checkout, and never out of that folder. A
    submodule is listed as a file that cannot be read: its files are in another repository.
    """

    def __init__(self, checkout: Checkout, entries: Mapping[str, Entry]) -> None:
        self._checkout = checkout
        self._entries = entries

    def paths(self) -> tuple[str, ...]:
        """All files, sorted, without those of virtual environments and installed packages."""
        return tuple(sorted(self._entries))

    def read(self, path: str) -> bytes:
        """The content of a file; raises UnreadableFileError, OutsideRepositoryError."""
        return self._checkout.blob(self.blob_of(path), path)

    def blob_of(self, path: str) -> str:
        """The blob that has the content of a file; raises as `read`."""
        entry = self._entries.get(self.resolve(path))
        if entry is None:
            raise UnreadableFileError("no such file", where=path)
        return entry.blob

    def resolve(self, path: str) -> str:
        """Where a path leads through symbolic links; raises UnreadableFileError."""
        ahead, done, links = path.split("/"), list[str](), 0
        while ahead:
            part = ahead.pop(0)
            if part == "..":
                if not done:
                    raise OutsideRepositoryError("leads outside the repository", where=path)
                done.pop()
            elif part not in ("", "."):
                done.append(part)
                target = self._link(path, "/".join(done))
                if target is not None:
                    links += 1
                    if links > _MOST_LINKS:
                        raise UnreadableFileError("no such file", where=path)
                    done.pop()
                    ahead = target.split("/") + ahead
        return "/".join(done)

    def links(self) -> dict[str, str]:
        """Where each symbolic link leads; those that lead nowhere are left out."""
        grouped = {}
        for path, entry in self._entries.items():
            if entry.mode == _LINK:
                with suppress(UnreadableFileError, OutsideRepositoryError):
                    grouped[path] = self.resolve(path)
        return grouped

    def _link(self, path: str, place: str) -> str | None:
        """The target of a link that stands at `place`, None where there is no link."""
        entry = self._entries.get(place)
        if entry is None:
            return None
        if entry.mode == _SUBMODULE:
            raise UnreadableFileError(SUBMODULE, where=path)
        if entry.mode != _LINK:
            return None
        target = self._checkout.blob(entry.blob, path).decode("utf-8", "surrogateescape")
        if target.startswith("/"):
            raise OutsideRepositoryError("leads outside the repository", where=path)
        return target


def tree_of(checkout: Checkout, commit: str) -> CommitTree:
    """The files of a commit; raises GitFailedError for one that no checkout could be made of."""
    places = [checkout.prefix] if checkout.prefix else []
    listed = checkout.ask("ls-tree", "-r", "-z", "--full-tree", commit, "--", *places)
    entries: dict[str, Entry] = {}
    for line in listed.decode("utf-8", "surrogateescape").split("\0"):
        if not line:
            continue
        head, _, path = line.partition("\t")
        mode, _, blob = head.split(" ")
        place = path.removeprefix(checkout.prefix)
        parts = place.split("/")
        if ".." in parts or "." in parts:
            raise GitFailedError(
                "the commit contains a path that leads outside of it", where=commit
            )
        if not SKIPPED.intersection(parts):
            entries[place] = Entry(mode, blob)
    return CommitTree(checkout, entries)


# Which files of a commit hold a word: found by git, without reading them here.


_NONE: Final = 1
"""The exit status of `git grep` where nothing is found."""
_APART: Final = re.compile("[\n\0]")
"""What git takes no pattern with."""
_SPECIAL: Final = re.compile(r"([*?\[\\])")


def files_with_words(
    checkout: Checkout, commit: str, words: Iterable[str], endings: Iterable[str]
) -> frozenset[str]:
    """The files with one of these endings in which one of the words stands anywhere.

    Paths count from the folder of the schemas. A word with a line end is looked for line by line.
    Recorded histories are not searched: they are many, and mention what they are made from.
    """
    lines = [line for word in words for line in _APART.split(word) if line]
    if not lines:
        return frozenset()
    folder = _SPECIAL.sub(r"\\\1", checkout.prefix)
    data = checkout.ask(
        *("grep", "--files-with-matches", "--null", "--full-name", "--text", "--fixed-strings"),
        *("-f", "-", commit, "--"),
        *(f":(top){folder}*{ending}" for ending in endings),
        f":(top,exclude){folder}{SNAPSHOTS}*.json",
        stdin="\n".join(lines).encode("utf-8", "surrogatepass"),
        answers=(0, _NONE),
    )
    start = f"{commit}:{checkout.prefix}"
    paths = data.decode("utf-8", "surrogateescape").split("\0")
    return frozenset(path.removeprefix(start) for path in paths if path.startswith(start))


def is_known(checkout: Checkout, path: str, commits: Iterable[str]) -> bool:
    """Whether a file of the schemas' folder is in git's index, or in one of these commits."""
    place = posixpath.normpath(f"{checkout.prefix}{path}")
    if place.startswith(("/", "..")):
        return False
    pathspec = f":(top,literal){place}"
    listed = [checkout.ask("ls-files", "-z", "--", pathspec)]
    listed += [
        checkout.ask("ls-tree", "-z", "--full-tree", commit, "--", place) for commit in commits
    ]
    return any(listed)
