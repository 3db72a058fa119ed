"""What a pattern means in folders, whatever they are: a disk, an object store, a commit."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, Protocol

MAGIC: Final = re.compile(r"[*?\[{]")
"""What makes a path a pattern."""

_BRACKETS: Final = re.compile(r"[\[{]")
_ANY_DEPTH: Final = "**"
_HIDDEN: Final = ("_", ".")
"""How names start that Spark passes over in a folder: markers, checksums, half-written files."""


class Entry(NamedTuple):
    """A file or a folder; `size` in bytes."""

    path: str
    is_folder: bool
    size: int
    is_link: bool = False


class Folders(Protocol):
    """Where files may be."""

    def entries(self, folder: str) -> list[Entry]:
        """What is in a folder, by name; nothing where there is none."""
        ...

    def entry(self, path: str) -> Entry | None:
        """What is at a path."""
        ...


class ListedFolders:
    """The folders of files that are known by their paths only; sizes are not known."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._folders: dict[str, dict[str, Entry]] = {}
        self._entries: dict[str, Entry] = {}
        for path in sorted(paths):
            self._add(Entry(path, is_folder=False, size=0))

    def _add(self, entry: Entry) -> None:
        folder = posixpath.dirname(entry.path)
        if entry.path and folder not in self._folders:
            self._add(Entry(folder, is_folder=True, size=0))
        if entry.path:
            self._folders.setdefault(folder, {})[entry.path] = entry
        self._entries[entry.path] = entry

    def entries(self, folder: str) -> list[Entry]:
        """What is in a folder, by name."""
        return list(self._folders.get(folder, {}).values())

    def entry(self, path: str) -> Entry | None:
        """What is at a path."""
        return self._entries.get(path)


def matching_entries(folders: Folders, base: str, pattern: str) -> Iterator[Entry]:
    """The files below `base` that a pattern means; all of a folder where it means one.

    A pattern that is the name of a file, brackets and braces and all, means that file.
    """
    same = folders.entry(posixpath.join(base, pattern)) if _BRACKETS.search(pattern) else None
    if same and not same.is_folder:
        yield same
        return
    seen: set[str] = set()
    for brace in _braces(pattern):
        for entry in _expand(folders, base, brace.split("/")):
            if entry.path not in seen:
                seen.add(entry.path)
                yield entry


def _expand(folders: Folders, base: str, steps: list[str]) -> Iterator[Entry]:
    """Step by step, so that only those folders are listed that can hold what is meant."""
    steps = [step for step in steps if step]
    plain = next((at for at, step in enumerate(steps) if MAGIC.search(step)), len(steps))
    path = posixpath.join(base, *steps[:plain])
    if plain < len(steps):
        yield from _expand_glob(folders, path, steps[plain], steps[plain + 1 :])
    elif entry := folders.entry(path):
        yield from _all_in(folders, entry)


def _expand_glob(folders: Folders, folder: str, step: str, rest: list[str]) -> Iterator[Entry]:
    if step == _ANY_DEPTH:
        yield from _expand(folders, folder, rest)
        rest = [step, *rest]
    for entry in folders.entries(folder):
        name = posixpath.basename(entry.path)
        if not _matches(name, step) or (step == _ANY_DEPTH and entry.is_link):
            continue
        if not rest:
            yield from _all_in(folders, entry)
        elif entry.is_folder:
            yield from _expand(folders, entry.path, rest)


def _matches(name: str, step: str) -> bool:
    if step == _ANY_DEPTH:
        return not name.startswith(_HIDDEN)
    return fnmatch.fnmatchcase(name, step) and not (name.startswith(_HIDDEN) and MAGIC.match(step))


def _all_in(folders: Folders, entry: Entry) -> Iterator[Entry]:
    if not entry.is_folder:
        yield entry
        return
    for items in folders.entries(entry.path):
        if not posixpath.basename(items.path).startswith(_HIDDEN) and not (
            items.is_link and items.is_folder
        ):
            yield from _all_in(folders, items)


def _braces(pattern: str) -> list[str]:
    """`a{b,c}` as `ab` and `ac`, as Hadoop's globs have it."""
    match = re.search(r"\{([^{}]*)\}", pattern)
    if match is None:
        return [pattern]
    before, after = pattern[: match.start()], pattern[match.end() :]
    return [full for item in match[1].split(",") for full in _braces(before + item + after)]
