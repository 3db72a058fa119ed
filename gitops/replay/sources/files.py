"""The files of a sample: where its path leads, who counts them, and how they are opened."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pyarrow
import pyarrow.fs

from gitops.model.replay import Sample
from gitops.replay.job import DuplicateFiles, Owner, RunRequest
from gitops.replay.sources.source import File, UnreadableError
from gitops.repository.globs import MAGIC, Entry, matching_entries

_BUFFER: Final = 1024 * 1024

_LIMITS: Final = dict.fromkeys(("gs", "gcs"), "?retry_limit_seconds=20")
"""Whoever has no credentials would wait for a quarter of an hour (pyarrow 26)."""


def open_seekable(file: File) -> Any:  # noqa: ANN401 - pyarrow has no types
    """A file that can be read at any place; raises OSError."""
    system, path = filesystem(file.uri)
    return system.open_input_file(path)


def open_stream(file: File, compression: str | None = None) -> Any:  # noqa: ANN401
    """A file from its start, as it is or unpacked as its name says (`detect`); raises OSError."""
    if file.content is not None:
        return pyarrow.BufferReader(file.content)
    system, path = filesystem(file.uri)
    buffer = _BUFFER if "://" in file.uri else None  # each read of an object store is a request
    return system.open_input_stream(path, compression=compression, buffer_size=buffer)


def to_uri(address: str) -> str:
    """An address as people, Spark and object stores write it, in which `%` is a character."""
    return quote(address, safe="/:@")


def known_filesystem(uri: str) -> tuple[Any, str]:
    """The file system and the path on it; raises what pyarrow raises."""
    limit = _LIMITS.get(uri.partition("://")[0], "")
    system, path = pyarrow.fs.FileSystem.from_uri(uri + limit)
    return system, path


def filesystem(uri: str) -> tuple[Any, str]:
    """The file system and the path on it; raises OSError where pyarrow does not know the scheme."""
    if "://" not in uri:
        return pyarrow.fs.LocalFileSystem(), uri
    try:
        return known_filesystem(uri)
    except (ValueError, pyarrow.ArrowException) as error:
        raise OSError(f"cannot open {uri}: {error}") from error


# Which sample of a topic a file counts for, where several of them name it: the first one.


class FileClaims:
    """Tell it all that samples name, then ask for whom each file is read."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], int] = {}
        self._twice: dict[tuple[str, int, int], set[str]] = {}

    def name(self, owners: Iterable[Owner], place: str) -> None:
        """Note that these samples name what is at a place."""
        for topic, sample in owners:
            known = self._first.get((topic, place), sample)
            self._first[topic, place] = min(known, sample)

    def keepers(self, owners: Iterable[Owner], place: str, name: str) -> tuple[Owner, ...]:
        """Those of the samples that count its messages; `name` is what a person calls it."""
        kept = []
        for owner in owners:
            first = self._first[owner.topic, place]
            if owner.sample == first:
                kept.append(owner)
            else:
                self._twice.setdefault((*owner, first), set()).add(name)
        return tuple(kept)

    def twice(self, request: RunRequest) -> list[DuplicateFiles]:
        """What was asked for a second time, by topic and sample."""
        replays = {str(replay.topic): replay for replay in request.replays}
        return [
            DuplicateFiles(
                topic=replays[topic].topic,
                sample=replays[topic].samples[sample],
                first=replays[topic].samples[first],
                files=tuple(sorted(names)),
            )
            for (topic, sample, first), names in sorted(self._twice.items())
        ]


def place_of(file: File) -> str:
    """The same for all names of one file on this machine."""
    return file.uri if "://" in file.uri else os.path.realpath(file.uri)


# The files that a sample's path means: a path from the manifest, a glob, a folder, a URI.


class NoFileError(UnreadableError):
    """No file is where a sample should be."""


_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
"""The last one of a pattern with many names in braces."""

_NONE_COUNTS = "the folder has no data file: names that begin with _ or . are skipped"


class NotOpenedHereError(UnreadableError):
    """Only Spark may know how to open the URI; why pyarrow does not, if it knows the scheme."""


def is_uri(path: str) -> bool:
    """Whether a sample's path says by itself where it is."""
    return "://" in path


def find_files(sample: Sample, root: Path) -> list[File]:
    """The files, sorted by name, each by its first one; raises UnreadableError, OSError."""
    if sample.shown_path != sample.path:
        raise UnreadableError("an address may contain no password: give it by the environment")
    files = _in_uri(sample.path) if is_uri(sample.path) else _in_repository(sample, root)
    if not files and _is_folder(sample, root):
        raise UnreadableError(_NONE_COUNTS, "name another folder, or put samples there")
    if not files:
        raise NoFileError("there is no such file")
    files.sort(key=lambda file: file.name)
    first = {place_of(file): file for file in reversed(files)}
    return [file for file in files if first[place_of(file)] is file]


def _is_folder(sample: Sample, root: Path) -> bool:
    """On this machine: an object store has no folder without a file."""
    scheme, _, rest = sample.path.rpartition("://")
    if scheme:
        return scheme == "file" and Path("/", rest.partition("/")[2]).is_dir()
    folder = posixpath.dirname(sample.location.file)
    return Path(root, posixpath.normpath(posixpath.join(folder, sample.path))).is_dir()


def _in_repository(sample: Sample, root: Path) -> list[File]:
    """Nothing outside is read, not through a symbolic link either."""
    folder = posixpath.dirname(sample.location.file)
    path = posixpath.normpath(posixpath.join(folder, sample.path))
    inside = root.resolve()
    if path.startswith(("/", "../")) or path == "..":
        raise UnreadableError("it leads outside the repository")
    files = []
    for entry in matching_entries(_DiskFolders(), str(inside), path):
        if not Path(entry.path).resolve().is_relative_to(inside):
            name = posixpath.relpath(entry.path, inside)
            raise UnreadableError(f"{name} is a symbolic link that leads outside the repository")
        files.append(
            File(name=posixpath.relpath(entry.path, inside), uri=entry.path, size=entry.size)
        )
    return files


def _in_uri(uri: str) -> list[File]:
    scheme, _, rest = uri.partition("://")
    if scheme == "file":
        path = "/" + rest.partition("/")[2]
        local = matching_entries(_DiskFolders(), "/", path.lstrip("/"))
        return [File(name=f"file://{e.path}", uri=e.path, size=e.size) for e in local]
    start = _without_magic(uri)
    try:
        system, base = known_filesystem(to_uri(start))
    except (ValueError, pyarrow.ArrowException) as error:
        raise NotOpenedHereError("") from error
    except OSError as error:
        raise NotOpenedHereError(_error_line(error)) from error
    host = start[: len(start) - len(base)] if start.endswith(base) else f"{scheme}://"
    try:
        entries = list(
            matching_entries(_RemoteFolders(system), base, uri[len(start) :].lstrip("/"))
        )
    except (pyarrow.ArrowException, OSError) as error:
        raise NotOpenedHereError(_error_line(error)) from error
    return [File(name=host + e.path, uri=to_uri(host + e.path), size=e.size) for e in entries]


def _error_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _without_magic(uri: str) -> str:
    match = MAGIC.search(uri)
    return uri if match is None else uri[: uri.rindex("/", 0, match.start())]


class _DiskFolders:
    def entries(self, folder: str) -> list[Entry]:
        try:
            with os.scandir(folder) as scandir_iterator:
                names = sorted(entry.name for entry in scandir_iterator)
        except (FileNotFoundError, NotADirectoryError):
            return []
        entries = (self.entry(posixpath.join(folder, name)) for name in names)
        return [entry for entry in entries if entry is not None]

    def entry(self, path: str) -> Entry | None:
        place = Path(path)
        try:
            stat_result = place.stat()  # once: it may vanish meanwhile
        except ValueError:  # no file has a name with NUL in it
            return None
        except OSError as error:
            if error.errno in _NOT_THERE:
                return None
            raise
        is_folder = stat.S_ISDIR(stat_result.st_mode)
        if not is_folder and not stat.S_ISREG(stat_result.st_mode):
            raise UnreadableError(f"{path} is no regular file")
        return Entry(path, is_folder, stat_result.st_size, place.is_symlink())


class _RemoteFolders:
    def __init__(self, system: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        self._system = system

    def entries(self, folder: str) -> list[Entry]:
        selector = pyarrow.fs.FileSelector(folder, allow_not_found=True)
        file_info = self._system.get_file_info(selector)
        return sorted(_remote_entry(info) for info in file_info)

    def entry(self, path: str) -> Entry | None:
        info = self._system.get_file_info(path)
        return None if info.type is pyarrow.fs.FileType.NotFound else _remote_entry(info)


def _remote_entry(info: Any) -> Entry:  # noqa: ANN401
    return Entry(info.path, info.type is pyarrow.fs.FileType.Directory, info.size or 0)
