"""Opens files, wherever pyarrow can: this machine, S3, Google Cloud, Azure, HDFS."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

import pyarrow
import pyarrow.fs

from gitops.replay.sources.part import File

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
