"""A FileTree that needs no disk."""

from __future__ import annotations

from collections.abc import Mapping

from gitops.model.errors import OutsideRepositoryError, UnreadableFileError

SETTINGS = (
    b"apiVersion: pulsar-gitops/v1\nkind: Config\n"
    b"registries: {local: {kind: embedded, path: .gitops/registry.db}}\n"
)
"""The smallest gitops.yaml that is good."""


class MemoryTree:
    """Files by path, and how often each was read; paths in `outside` lead out of it."""

    def __init__(
        self, files: Mapping[str, bytes | str], *, outside: frozenset[str] = frozenset()
    ) -> None:
        self._files = {
            path: data.encode() if isinstance(data, str) else data for path, data in files.items()
        }
        self._outside = outside
        self.reads: list[str] = []

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted({*self._files, *self._outside}))

    def read(self, path: str) -> bytes:
        self.reads.append(path)
        if path in self._outside:
            raise OutsideRepositoryError("leads outside the repository", where=path)
        if path not in self._files:
            raise UnreadableFileError("no such file", where=path)
        return self._files[path]


def repository(files: Mapping[str, bytes | str]) -> MemoryTree:
    """A tree with the smallest gitops.yaml and these files."""
    return MemoryTree({"gitops.yaml": SETTINGS, **files})
