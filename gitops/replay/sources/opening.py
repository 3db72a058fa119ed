"""Opens files, wherever pyarrow can: this machine, S3, Google Cloud, Azure, HDFS."""

from __future__ import annotations

from typing import Any

import pyarrow
import pyarrow.fs

from gitops.replay.sources.part import File


def open_seekable(file: File) -> Any:  # noqa: ANN401 - pyarrow has no types
    """A file that can be read at any place; raises OSError."""
    system, path = filesystem(file.uri)
    return system.open_input_file(path)


def open_stream(file: File, compression: str | None = None) -> Any:  # noqa: ANN401
    """A file from its start, as it is or unpacked as its name says (`detect`); raises OSError."""
    if file.content is not None:
        return pyarrow.BufferReader(file.content)
    system, path = filesystem(file.uri)
    return system.open_input_stream(path, compression=compression)


def filesystem(uri: str) -> tuple[Any, str]:
    """The file system and the path on it; raises OSError where pyarrow does not know the scheme."""
    if "://" not in uri:
        return pyarrow.fs.LocalFileSystem(), uri
    try:
        system, path = pyarrow.fs.FileSystem.from_uri(uri)
    except (ValueError, pyarrow.ArrowNotImplementedError) as error:
        raise OSError(f"cannot open {uri}: {error}") from error
    return system, path
