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

_VERY_NEAR: Final = 0.9
_FILE_NAME: Final = re.compile(rb"[\w.+=:@-]+", re.ASCII)
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")


class TrackedFiles:
    """A FileTree with a memory, which is listed once its paths are asked for."""

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree
        self._data: dict[str, bytes] = {}
        self._failures: dict[str, UnreadableFileError] = {}
        self._names: dict[str, frozenset[str]] = {}

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
        """The existing file that somebody may have meant, None if none is near.

        A file that was renamed or moved is one that no manifest beside it names.
        """
        folder, name = posixpath.split(path)
        ending = posixpath.splitext(path)[1]
        alike = [text for text in self.paths if posixpath.splitext(text)[1] == ending]
        beside = [posixpath.basename(text) for text in alike if posixpath.dirname(text) == folder]
        free = [text for text in beside if text not in self._named_in(folder)]
        value = closest(name, beside, near=_VERY_NEAR) or closest(name, free)
        elsewhere = [text for text in alike if posixpath.basename(text) == name]
        if value is None and elsewhere:
            return elsewhere[0]
        value = value or (free[0] if len(free) == 1 else closest(name, beside))
        return posixpath.join(folder, value) if value else None

    def _named_in(self, folder: str) -> frozenset[str]:
        """Names of files in the manifests of a folder; read without any judgement."""
        if folder not in self._names:
            parts = [path for path in self.paths if posixpath.dirname(path) == folder]
            texts = [self._peek_manifest(part) for part in parts if part.endswith(".yaml")]
            words = (
                match.group().decode() for text in texts for match in _FILE_NAME.finditer(text)
            )
            self._names[folder] = frozenset(words)
        return self._names[folder]

    def _peek_manifest(self, path: str) -> bytes:
        try:
            return self.peek(path)
        except UnreadableFileError:
            return b""


def resolve(folder: str, path: str) -> str:
    """A path relative to `folder`, from the root; raises OutsideRepositoryError."""
    full = posixpath.normpath(posixpath.join(folder, path))
    if path.startswith("/") or _DRIVE.match(path) or full == ".." or full.startswith("../"):
        raise OutsideRepositoryError("leads outside the repository", where=path)
    return full
