"""JSON lines: one payload a line, as it stands there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import pyarrow

from gitops.model.sample_formats import SAMPLE_FORMATS
from gitops.replay.batches import MOST_ROWS, batch, rows_from
from gitops.replay.sources.files import open_stream
from gitops.replay.sources.source import MOST_PAYLOAD, Part, UnreadableError, Versions
from gitops.replay.sources.source_errors import AGAIN, HEAD, first_line, other_format

_CHUNK: Final = 4 * 1024 * 1024
_PIECE: Final = 64 * 1024
"""Bytes that are unpacked at once; Arrow gives none of them where the file breaks off in them."""

_RENAME: Final = "if it is not packed, rename it without that ending; otherwise copy it again"


class JsonLinesSource:
    """A line that is empty is an empty payload; what ends in `.gz` and the like is unpacked.

    A line ends as it does on Unix or on Windows.
    """

    def parts(self, whole: Part) -> Iterator[Part]:
        """The file as a whole, whose lines nobody has counted."""
        yield whole

    def batches(self, part: Part, versions: Versions) -> Iterator[pyarrow.RecordBatch]:
        """The lines."""
        del versions  # the manifest tells the version
        at = 1
        for lines in _lines(part):
            for start in range(0, len(lines), MOST_ROWS):
                payload = pyarrow.array(lines[start : start + MOST_ROWS], pyarrow.binary())
                rows = rows_from(at, len(payload))
                yield batch(payload, part.file.name, row=rows)
                at += len(payload)


def _lines(part: Part) -> Iterator[list[bytes]]:
    """Whole lines, so many at a time as a chunk has; what a break leaves of a line is none."""
    rest = b""
    for number, chunk in enumerate(_chunks(part)):
        if not number and (error := other_format(part, chunk[:HEAD])):
            raise error
        text = rest + chunk
        *lines, rest = (text.replace(b"\r\n", b"\n") if b"\r\n" in text else text).split(b"\n")
        if lines:
            yield lines
        if len(rest) > MOST_PAYLOAD:
            most = MOST_PAYLOAD >> 20
            what = f"{part.file.name} has a line of more than {most} MiB"
            raise UnreadableError(what, "each line is to be one payload, as a message has it")
    if rest:
        yield [rest.removesuffix(b"\r")]


def _chunks(part: Part) -> Iterator[bytes]:
    """All bytes, those before a break too."""
    items: list[bytes] = []
    had = 0
    with _opened(part) as stream:
        try:
            while piece := stream.read(min(_PIECE, _CHUNK)):
                items.append(piece)
                had += len(piece)
                if len(items) * _PIECE >= _CHUNK:
                    yield b"".join(items)
                    items.clear()
        except OSError as error:
            yield b"".join((*items, _before_break(part, had)))
            raise _not_unpacked(part, error) from error
    if items:
        yield b"".join(items)


def _before_break(part: Part, had: int) -> bytes:
    """The bytes of the piece that the file breaks off in: read again, one by one."""
    items: list[bytes] = []
    if not part.file.name.endswith(SAMPLE_FORMATS[part.format].unpacks):
        return b""
    with suppress(OSError), _opened(part) as stream:
        while had and (piece := stream.read(min(_PIECE, had))):
            had -= len(piece)
        while len(items) < _PIECE and (byte := stream.read(1)):
            items.append(byte)
    return b"".join(items)


def _opened(part: Part) -> Any:  # noqa: ANN401 - pyarrow has no types
    return open_stream(part.file, compression="detect")


def _not_unpacked(part: Part, error: OSError) -> Exception:
    """What Arrow says of a packed file whose stream is not whole, or none; others as they are."""
    name = part.file.name
    if not name.endswith(SAMPLE_FORMATS[part.format].unpacks):
        return error
    if "runcated" in str(error):
        return UnreadableError(f"{name} is cut off", AGAIN)
    return UnreadableError(f"{name} cannot be unpacked: {first_line(error)}", _RENAME)
