"""Trees made of others: a part of one, one with some files changed, or files by themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gitops.model.errors import UnreadableFileError
from gitops.ports import FileTree


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
