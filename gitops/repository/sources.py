"""The files of one run: each read at most once, and the digest over all that were read."""

from __future__ import annotations

import hashlib
import posixpath
import re
from functools import cached_property
from typing import Final

from gitops.model.errors import OutsideRepositoryError, UnreadableFileError
from gitops.ports import FileTree
from gitops.repository.suggestions import closest

_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")


class Sources:
    """A FileTree with a memory, which is listed once its paths are asked for."""

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree
        self._data: dict[str, bytes] = {}
        self._failures: dict[str, UnreadableFileError] = {}

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """All files, sorted."""
        return self._tree.paths()

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.paths)

    def __contains__(self, path: str) -> bool:
        return path in self._known

    def data(self, path: str) -> bytes:
        """The content of a file; raises UnreadableFileError."""
        if path in self._failures:
            raise self._failures[path]
        if path not in self._data:
            try:
                self._data[path] = self._tree.read(path)
            except UnreadableFileError as error:
                self._failures[path] = error
                raise
        return self._data[path]

    def peek(self, path: str) -> bytes:
        """The content of a file, which does not count; raises UnreadableFileError."""
        return self._data[path] if path in self._data else self._tree.read(path)

    def digest(self) -> str:
        """`sha256:` and 64 hex digits over path and content of every file read so far."""
        total = hashlib.sha256()
        for path in sorted(self._data):
            name, data = path.encode("utf-8", "surrogateescape"), self._data[path]
            total.update(b"%d:%s%d:" % (len(name), name, len(data)))
            total.update(data)
        return f"sha256:{total.hexdigest()}"

    def closest(self, path: str) -> str | None:
        """The existing file that somebody may have meant, None if none is near."""
        folder, ending = posixpath.dirname(path), posixpath.splitext(path)[1]
        alike = [each for each in self.paths if posixpath.splitext(each)[1] == ending]
        near = [each for each in alike if posixpath.dirname(each) == folder]
        name = posixpath.basename(path)
        found = closest(name, [posixpath.basename(each) for each in near])
        if found is not None:
            return posixpath.join(folder, found)
        same_name = [each for each in alike if posixpath.basename(each) == name]
        return same_name[0] if same_name else None


def resolve(folder: str, path: str) -> str:
    """A path relative to `folder`, from the root; raises OutsideRepositoryError."""
    full = posixpath.normpath(posixpath.join(folder, path))
    if path.startswith("/") or _DRIVE.match(path) or full == ".." or full.startswith("../"):
        raise OutsideRepositoryError("leads outside the repository", where=path)
    return full
