"""A folder on disk as a FileTree."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from gitops.model.errors import OutsideRepositoryError, UnreadableFileError
from gitops.repository.folder import real_path

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
        found: list[str] = []
        self._collect(self._root, "", found)
        return tuple(sorted(found))

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

    def _collect(self, folder: Path, prefix: str, found: list[str]) -> None:
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
                self._collect(Path(entry.path), f"{prefix}{entry.name}/", found)
            else:
                found.append(prefix + entry.name)


def _what_else(place: Path) -> str:
    """What is there in place of a file."""
    if place.is_dir():
        return "it is a folder, or a link to one"
    return "it is no regular file" if place.exists() else "no such file"
