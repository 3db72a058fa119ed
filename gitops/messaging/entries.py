"""Entries of a partition as a broker sends them, taken apart into messages."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from google.protobuf.message import DecodeError

from gitops.messaging.capture_client import Position
from gitops.messaging.errors import InvalidEntryError
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.compression import decompress
from gitops.messaging.wire.frames import read_content

if TYPE_CHECKING:
    from gitops.messaging.decryption import Decryption

_SIZE: Final = struct.Struct(">I")
_LARGEST: Final = 256 * 1024 * 1024
"""Bytes of a payload without compression: it is held whole."""


_MOST_OPEN: Final = 100
"""Messages whose chunks are held at a time; the oldest is given up, as clients do."""

_MOST_BYTES: Final = 128 * 1024 * 1024
"""Bytes of all chunks that are held."""


class Entry(NamedTuple):
    """The messages of an entry, in order.

    `metadata` is what the whole entry has. Each message has its own metadata in `body` from its
    place in `starts` to that in `middles`, and its payload from there to that in `ends`: those of
    SingleMessageMetadata in a batch, and where `is_batch` is false those of the entry.
    `first` is the index of the first message that was asked for. `is_decrypted` says that it was
    encrypted, and is not any more.
    """

    ledger: int
    number: int
    metadata: api.MessageMetadata
    body: bytes = b""
    starts: Sequence[int] = ()
    middles: Sequence[int] = ()
    ends: Sequence[int] = ()
    is_batch: bool = False
    first: int = 0
    is_decrypted: bool = False


class _OpenMessage(NamedTuple):
    begin: Position
    chunks: list[bytes]


class ChunkedMessages:
    """Joins chunks; those that never become a message are left out, as by Pulsar's clients."""

    def __init__(self) -> None:
        self._open: dict[str, _OpenMessage] = {}
        self._size = 0

    @property
    def begin(self) -> Position | None:
        """Where the oldest message begins that is not whole."""
        return next((position.begin for position in self._open.values()), None)

    def joined(self, at: Position, metadata: api.MessageMetadata, chunk: bytes) -> bytes | None:
        """The payload that is whole with the chunk of that entry, None while it is not."""
        number = metadata.chunk_id
        if number == 0:
            self._drop(metadata.uuid)
            self._open[metadata.uuid] = _OpenMessage(at, [])
        position = self._open.get(metadata.uuid)
        if position is None or number < len(chunks := position.chunks):
            return None  # it was sent twice, or its beginning is no longer there
        if number > len(chunks):
            self._drop(metadata.uuid)
            return None
        chunks.append(chunk)
        self._size += len(chunk)
        if len(chunks) < metadata.num_chunks_from_msg:
            self._bound()
            return None
        self._drop(metadata.uuid)
        return b"".join(chunks)

    def _drop(self, uuid: str) -> None:
        if position := self._open.pop(uuid, None):
            self._size -= sum(map(len, position.chunks))

    def _bound(self) -> None:
        while len(self._open) > _MOST_OPEN or self._size > _MOST_BYTES:
            self._drop(next(iter(self._open)))


class EntryReader:
    """Takes apart the entries of a partition, in their order, from behind `after` on."""

    def __init__(self, after: Position | None, decryption: Decryption | None = None) -> None:
        self._after = after
        self._decryption = decryption
        self._chunks = ChunkedMessages()

    @property
    def unfinished(self) -> Position | None:
        """Where the oldest message in chunks begins that is not whole yet, None for none."""
        return self._chunks.begin

    def read(self, at: api.MessageIdData, content: bytes) -> Entry:
        """The messages of an entry; raises ProtocolError, InvalidEntryError.

        There is none in a marker of the broker, and in a chunk that is not the last one. A batch
        that stays encrypted is one message.
        """
        metadata, head, payload = read_content(content)
        entry = Entry(at.ledgerId, at.entryId, metadata)
        if metadata.HasField("marker_type"):
            return entry
        if metadata.encryption_keys:
            clear = self._decryption.decrypted(metadata, payload) if self._decryption else None
            if clear is None:
                return _alone(entry, head, payload)
            entry, payload = entry._replace(is_decrypted=True), clear
        if metadata.num_chunks_from_msg > 1:
            place = Position(at.ledgerId, at.entryId, -1)
            joined = self._chunks.joined(place, metadata, payload)
            if joined is None:
                return entry
            payload = joined
        body = _decompressed(metadata, payload)
        if metadata.HasField("num_messages_in_batch"):
            return self._batch(entry, body)
        return _alone(entry, head, body)

    def _batch(self, entry: Entry, body: bytes) -> Entry:
        first = 0
        if self._after and self._after[:2] == entry[:2]:
            first = self._after.batch + 1
        starts, middles, ends = _places(body, entry.metadata.num_messages_in_batch)
        return entry._replace(
            body=body, starts=starts, middles=middles, ends=ends, is_batch=True, first=first
        )


def _places(body: bytes, count: int) -> tuple[list[int], list[int], list[int]]:
    """Where the metadata and the payloads of a batch are: most of what Python does of a message."""
    starts: list[int] = []
    middles: list[int] = []
    ends: list[int] = []
    end, whole = 0, len(body)
    unpack, parse = _SIZE.unpack_from, api.SingleMessageSize.FromString
    try:
        for _ in range(count):
            (size,) = unpack(body, end)
            start = end + 4
            middle = start + size
            end = middle + parse(body[start:middle]).payload_size
            if not middle <= end <= whole:
                raise InvalidEntryError("its batch is not whole")
            starts.append(start)
            middles.append(middle)
            ends.append(end)
    except (struct.error, DecodeError):
        raise InvalidEntryError("its batch cannot be taken apart") from None
    return starts, middles, ends


def _alone(entry: Entry, head: bytes, payload: bytes) -> Entry:
    middle = len(head)
    body = head + payload
    return entry._replace(body=body, starts=(0,), middles=(middle,), ends=(len(body),))


def _decompressed(metadata: api.MessageMetadata, payload: bytes) -> bytes:
    size = metadata.uncompressed_size
    if metadata.compression == api.CompressionType.NONE:
        return payload
    if size > _LARGEST:
        raise InvalidEntryError(
            f"without compression it has {size} bytes, at most {_LARGEST} are read"
        )
    name = api.CompressionType.Name(metadata.compression)
    try:
        return decompress(name, payload, size)
    except ValueError as error:
        raise InvalidEntryError(f"its compression is damaged ({name}: {error})") from None
