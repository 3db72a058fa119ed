"""The framing of Avro container files: a header, then blocks, each with a count and a size."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow

from gitops.replay.sources.source import Part, UnreadableError
from gitops.replay.sources.source_errors import AGAIN, HEAD, refusal

MOST_BLOCK: Final = 256 * 1024 * 1024
"""Bytes of a block, packed or not: writers make blocks of some 10 to 1,000 KiB."""

_MAGIC: Final = b"Obj\x01"
_SYNC: Final = 16
_LONGEST: Final = 10
"""Bytes of a variable-length integer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a container says of itself; `schema` is the text of the schema, as UTF-8."""

    schema: bytes
    codec: str
    sync: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """So many messages, one after the other, unpacked."""

    count: int
    data: bytes


def read_header(stream: Any, part: Part) -> Header:  # noqa: ANN401 - pyarrow has no types
    """The start of a container; raises UnreadableError."""
    name = part.file.name
    reader = _Reader(stream, name)
    if (magic := reader.some(len(_MAGIC))) != _MAGIC:
        raise refusal(part, magic + reader.some(HEAD))
    metadata: dict[bytes, bytes] = {}
    while count := reader.long():
        if count < 0:
            reader.long()
        for _ in range(abs(count)):
            key = reader.sized()
            metadata[key] = reader.sized()
    if b"avro.schema" not in metadata:
        raise UnreadableError(f"{name} does not contain its schema")
    codec = metadata.get(b"avro.codec", b"null").decode("utf-8", "replace")
    if codec not in _UNPACK:
        known = ", ".join(_UNPACK)
        raise UnreadableError(f"{name} is packed with '{codec}', known are {known}")
    return Header(schema=metadata[b"avro.schema"], codec=codec, sync=reader.take(_SYNC))


def read_blocks(stream: Any, header: Header, name: str) -> Iterator[Block]:  # noqa: ANN401
    """The blocks, unpacked; raises UnreadableError at the first that is broken."""
    reader = _Reader(stream, name)
    unpack = _UNPACK[header.codec]
    number = 0
    while not reader.is_at_end():
        number += 1
        count = reader.long()
        packed = reader.sized()
        if count < 0 or reader.take(_SYNC) != header.sync:
            raise UnreadableError(f"{name} is broken in block {number}", AGAIN)
        try:
            data = unpack(packed)
        except (ValueError, OSError, EOFError, zlib.error, lzma.LZMAError, pyarrow.ArrowException):
            what = f"{name} cannot be unpacked in block {number}"
            raise UnreadableError(what, AGAIN) from None
        yield Block(count=count, data=data)


class _Reader:
    """Never takes more memory than the file has bytes, whatever a length claims."""

    def __init__(self, stream: Any, name: str) -> None:  # noqa: ANN401
        self._stream = stream
        self._name = name
        self._ahead = b""

    def is_at_end(self) -> bool:
        self._ahead = self._ahead or self._stream.read(1)
        return not self._ahead

    def some(self, size: int) -> bytes:
        """So many bytes, or those that are left."""
        data = self._ahead + self._stream.read(size - len(self._ahead))
        self._ahead = b""
        return bytes(data)

    def take(self, size: int) -> bytes:
        data = self.some(size)
        if len(data) < size:
            raise UnreadableError(f"{self._name} is cut off", AGAIN)
        return data

    def long(self) -> int:
        number = 0
        for at in range(_LONGEST):
            (byte,) = self.take(1)
            number |= (byte & 0x7F) << (7 * at)
            if byte < 0x80:  # noqa: PLR2004 - the bit that says whether another byte follows
                return (number >> 1) ^ -(number & 1)
        raise UnreadableError(f"{self._name} has a number of more than {_LONGEST} bytes")

    def sized(self) -> bytes:
        size = self.long()
        if not 0 <= size <= MOST_BLOCK:
            raise UnreadableError(f"{self._name} has a piece of {size:,} bytes")
        return self.take(size)


def _inflate(packed: bytes) -> bytes:
    opened = zlib.decompressobj(-zlib.MAX_WBITS)
    return _whole(opened.decompress(packed, MOST_BLOCK), done=opened.eof)


def _unzip(packed: bytes) -> bytes:
    opened = bz2.BZ2Decompressor()
    return _whole(opened.decompress(packed, MOST_BLOCK), done=opened.eof)


def _unlzma(packed: bytes) -> bytes:
    opened = lzma.LZMADecompressor(memlimit=MOST_BLOCK)
    return _whole(opened.decompress(packed, MOST_BLOCK), done=opened.eof)


def _whole(data: bytes, *, done: bool) -> bytes:
    if not done:
        raise ValueError("it is cut off, or too large")
    return data


def _unsnap(packed: bytes) -> bytes:
    """Raw Snappy, behind which the CRC-32 of the unpacked bytes stands."""
    body, sum_ = packed[:-4], packed[-4:]
    data = pyarrow.Codec("snappy").decompress(body, _snappy_size(body), asbytes=True)
    if zlib.crc32(data).to_bytes(4, "big") != sum_:
        raise ValueError("the checksum differs")
    return bytes(data)


def _snappy_size(body: bytes) -> int:
    size = 0
    for at, byte in enumerate(body[:5]):
        size |= (byte & 0x7F) << (7 * at)
        if byte < 0x80:  # noqa: PLR2004 - the bit that says whether another byte follows
            break
    return int(_within(size))


def _within(size: int) -> int:
    if size > MOST_BLOCK:
        raise ValueError("it is too large")
    return size


def _unzstd(packed: bytes) -> bytes:
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as stream:
        data = bytes(stream.read(MOST_BLOCK + 1))
    _within(len(data))
    return data


_UNPACK: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "null": bytes,
    "deflate": _inflate,
    "snappy": _unsnap,
    "bzip2": _unzip,
    "xz": _unlzma,
    "zstandard": _unzstd,
}
