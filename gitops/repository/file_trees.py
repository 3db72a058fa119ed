"""FileTrees: a folder, a part of a tree, a tree with some files changed, files by themselves."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from gitops.model.errors import OutsideRepositoryError, UnreadableFileError
from gitops.ports import FileTree
from gitops.repository.folder import real_path

# A folder on disk as a FileTree.

MAX_FILE_BYTES: Final = 8 * 1024 * 1024
"""Pulsar's own limit for a request is below this."""

SKIPPED: Final = frozenset({".git", ".venv", ".gitops", "node_modules"})


class FolderTree:
    """The files below a folder.

    Symbolic links to folders are not followed by `paths`, which lists them as files, so that a
    folder that leads elsewhere is seen and not passed over.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._real_root = root.resolve()
        self._read: set[str] = set()

    def paths(self) -> tuple[str, ...]:
        """All files, sorted, without those of git, virtual environments and installed packages.

        What vanishes meanwhile is passed over. Raises UnreadableFileError for a folder that may
        not be listed.
        """
        texts: list[str] = []
        self._collect(self._root, "", texts)
        return tuple(sorted(texts))

    def consulted(self) -> tuple[Path, ...]:
        """The files that were read so far, and every recorded history."""
        recorded = (path for path in self.paths() if path.startswith("snapshots/"))
        return tuple(self._root / path for path in sorted({*self._read, *recorded}))

    def read(self, path: str) -> bytes:
        """The content of a file; raises UnreadableFileError, OutsideRepositoryError."""
        place = self._inside(path)
        try:
            if not place.is_file():
                raise UnreadableFileError(_what_else(place), where=path)
            if place.stat().st_size > MAX_FILE_BYTES:
                raise UnreadableFileError(
                    f"larger than {MAX_FILE_BYTES // 1024 // 1024} MiB", where=path
                )
            self._read.add(path)
            return place.read_bytes()
        except OSError as error:
            raise UnreadableFileError(error.strerror or "cannot be read", where=path) from error

    def _inside(self, path: str) -> Path:
        try:
            place = real_path(self._root / path)
        except OSError as error:
            raise UnreadableFileError(error.strerror or "cannot be read", where=path) from error
        except ValueError as error:  # a NUL in the name
            raise UnreadableFileError("no such file", where=path) from error
        if not place.is_relative_to(self._real_root):
            raise OutsideRepositoryError("leads outside the repository", where=path)
        return place

    def _collect(self, folder: Path, prefix: str, texts: list[str]) -> None:
        try:
            with os.scandir(folder) as listed:
                entries = list(listed)
        except (FileNotFoundError, NotADirectoryError):
            if prefix:
                return  # it was there when the folder around it was listed
            raise UnreadableFileError("no such folder", where=str(folder)) from None
        except OSError as error:
            raise UnreadableFileError(
                error.strerror or "cannot be listed", where=prefix or str(folder)
            ) from error
        for entry in entries:
            if entry.name in SKIPPED:
                continue
            if entry.is_dir(follow_symlinks=False):
                self._collect(Path(entry.path), f"{prefix}{entry.name}/", texts)
            else:
                texts.append(prefix + entry.name)


def _what_else(place: Path) -> str:
    """What is there in place of a file."""
    if place.is_dir():
        return "it is a folder, or a link to one"
    return "it is no regular file" if place.exists() else "no such file"


# Trees made of others: a part of one, one with some files changed, or files by themselves.


class SelectedTree:
    """Only these files of a tree; the others are as if they were not there."""

    def __init__(self, tree: FileTree, selected: Collection[str]) -> None:
        self._tree = tree
        self._paths = tuple(path for path in tree.paths() if path in selected)
        self._known = frozenset(self._paths)

    def paths(self) -> tuple[str, ...]:
        """The selected files that are there, sorted."""
        return self._paths

    def read(self, path: str) -> bytes:
        """The content of a selected file; raises UnreadableFileError."""
        if path not in self._known:
            raise UnreadableFileError("no such file", where=path)
        return self._tree.read(path)


class GivenFiles:
    """A tree of just these files."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def paths(self) -> tuple[str, ...]:
        """All files, sorted."""
        return tuple(sorted(self._files))

    def read(self, path: str) -> bytes:
        """The content of a file; raises UnreadableFileError."""
        if path not in self._files:
            raise UnreadableFileError("no such file", where=path)
        return self._files[path]


class CachedTree:
    """A tree that is listed once, and each of its files read once."""

    def __init__(self, tree: FileTree) -> None:
        self.paths = cache(tree.paths)
        self.read = cache(tree.read)


class OverlaidTree:
    """A tree in which these files have other contents, or are new."""

    def __init__(self, tree: FileTree, files: Mapping[str, bytes]) -> None:
        self._tree = tree
        self._files = files

    def paths(self) -> tuple[str, ...]:
        """All files, sorted."""
        return tuple(sorted({*self._tree.paths(), *self._files}))

    def read(self, path: str) -> bytes:
        """The content of a file; raises UnreadableFileError."""
        return self._files[path] if path in self._files else self._tree.read(path)


def read_unix_lines(tree: FileTree, path: str) -> bytes | None:
    """A file with line feeds alone at the ends of lines; None where it cannot be read."""
    try:
        return tree.read(path).replace(b"\r\n", b"\n")
    except UnreadableFileError:
        return None


def is_selected(file: str, paths: tuple[str, ...]) -> bool:
    """Whether a file is one of these files or in one of these folders; every file without any."""
    return not paths or any(path in (".", file) or file.startswith(f"{path}/") for path in paths)
