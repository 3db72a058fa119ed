"""JSON lines: one payload a line, as it stands there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow

from gitops.replay.batches import MOST_ROWS, batch, rows_from
from gitops.replay.sources.opening import open_stream
from gitops.replay.sources.part import MOST_PAYLOAD, Part, UnreadableError, Versions

_CHUNK: Final = 4 * 1024 * 1024
_PIECE: Final = 64 * 1024
"""Bytes that are lost at most before the place where a packed file breaks off."""


class JsonLinesSource:
    """A line that is empty is an empty payload; what ends in `.gz` and the like is unpacked."""

    def parts(self, whole: Part) -> Iterator[Part]:
        """The file as a whole, whose lines nobody has counted."""
        yield whole

    def batches(self, part: Part, versions: Versions) -> Iterator[pyarrow.RecordBatch]:
        """The lines."""
        del versions  # the manifest tells the version
        at = 1
        with open_stream(part.file, compression="detect") as stream:
            for lines in _lines(stream, part.file.name):
                for start in range(0, len(lines), MOST_ROWS):
                    payload = pyarrow.array(lines[start : start + MOST_ROWS], pyarrow.binary())
                    rows = rows_from(at, len(payload))
                    yield batch(payload, part.file.name, row=rows)
                    at += len(payload)


def _lines(stream: Any, name: str) -> Iterator[list[bytes]]:  # noqa: ANN401 - pyarrow has no types
    """Whole lines, so many at a time as a chunk has."""
    rest = b""
    for chunk in _chunks(stream):
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            yield lines
        if len(rest) > MOST_PAYLOAD:
            raise UnreadableError(f"{name} has a line of more than {MOST_PAYLOAD >> 20} MiB")
    if rest:
        yield [rest]


def _chunks(stream: Any) -> Iterator[bytes]:  # noqa: ANN401
    """All bytes, those before a break too."""
    found: list[bytes] = []
    try:
        while piece := stream.read(min(_PIECE, _CHUNK)):
            found.append(piece)
            if len(found) * _PIECE >= _CHUNK:
                yield b"".join(found)
                found.clear()
    except OSError:
        if found:
            yield b"".join(found)
        raise
    if found:
        yield b"".join(found)
