"""Messages that wait to be sent, and the frames that they become: alone, or in a batch."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gitops.messaging.errors import InvalidValueError
from gitops.messaging.schema_versions import Version
from gitops.messaging.values.schema import ValueSchema, key_values
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.compression import Compression
from gitops.messaging.wire.frames import send_frame

_SIZE: Final = struct.Struct(">I")
_NUMBERS: Final = 16
"""Bytes of a message in a batch for the size of its metadata and its sequence id, at most."""
_OWN: Final = 128
"""Bytes that a batch's own metadata need at most, beside the producer's name."""
_HEAD: Final = 10
"""Bytes of a frame between command and metadata: magic number, checksum, size of the metadata."""
_SHARED_FIELDS: Final = frozenset(
    {
        "partition_key",
        "partition_key_b64_encoded",
        "event_time",
        "ordering_key",
        "null_value",
        "null_partition_key",
    }
)


class MessageId(NamedTuple):
    """Where a message is kept; `partition` and `batch_index` are -1 where there is none.

    A duplicate that the broker left out has ledger and entry -1.
    """

    ledger_id: int
    entry_id: int
    partition: int = -1
    batch_index: int = -1

    def __str__(self) -> str:
        return ":".join(map(str, self))


class EncryptionKey(NamedTuple):
    """The key of an encrypted message's data, itself encrypted with the one of that name."""

    name: str
    value: bytes
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Encryption:
    """How a payload was encrypted that is sent as it is, and what is in it.

    It was compressed before, from `uncompressed_size` bytes. `batch_size` is how many messages are
    in it, 0 for one that is in no batch.
    """

    algorithm: str
    param: bytes
    keys: tuple[EncryptionKey, ...]
    compression: str
    uncompressed_size: int
    batch_size: int = 0

    def describe(self, metadata: api.MessageMetadata) -> None:
        """Write it to the metadata of the payload's own frame."""
        metadata.MergeFrom(api.MessageMetadata(compression=self.compression))
        metadata.uncompressed_size = self.uncompressed_size
        metadata.encryption_param = self.param
        if self.algorithm:
            metadata.encryption_algo = self.algorithm
        if self.batch_size:
            metadata.num_messages_in_batch = self.batch_size
        for key in self.keys:
            metadata.encryption_keys.add(
                key=key.name, value=key.value, metadata=key_values(key.metadata)
            )


@dataclass(slots=True, eq=False)
class PendingMessage:
    """An encoded message; `single` has what it carries beside the payload.

    `encryption` is that of a payload that somebody else encrypted. `sequence_id` is the caller's,
    or None until it is framed. `deliver_at` is in ms since 1970. `deadline` is a time of the event
    loop. `is_awaited`: the sender waits for the receipt, so no flush has to raise its error.
    `size` counts against the producer's bound and a batch's: the bytes of the payload, and of
    what is beside it in a batch.
    """

    schema: ValueSchema
    single: api.SingleMessageMetadata
    payload: bytes
    receipt: asyncio.Future[MessageId]
    deadline: float
    sequence_id: int | None = None
    deliver_at: int | None = None
    registration: asyncio.Task[Version] | None = None
    encryption: Encryption | None = None
    is_awaited: bool = False
    size: int = field(init=False)

    def __post_init__(self) -> None:
        """The size stays as it is when a sequence id is given: whoever adds it takes it off."""
        self.single.payload_size = len(self.payload)
        self.size = len(self.payload) + self.single.ByteSize() + _NUMBERS

    @property
    def may_be_batched(self) -> bool:
        """Whether it may share a frame: not what only the metadata of a frame can have."""
        return self.deliver_at is None and self.encryption is None


@dataclass(slots=True)
class Batch:
    """Messages of one schema version, in order, whose frame is not made yet."""

    version: Version
    due: float
    """When it is sent at the latest, a time of the event loop."""
    messages: list[PendingMessage] = field(default_factory=list)
    size: int = 0
    is_repeated: bool = False
    """Whether its sequence ids may have been sent before: those are kept apart from new ones."""

    def add(self, message: PendingMessage) -> None:
        """Append a message."""
        self.messages.append(message)
        self.size += message.size

    def accepts(
        self, message: PendingMessage, version: Version, *, is_repeated: bool, most_bytes: int
    ) -> bool:
        """Whether a message may join: the version is one for all of a batch (PIP-43)."""
        last = self.messages[-1].sequence_id or 0
        return (
            self.version == version
            and self.is_repeated is is_repeated
            and self.size + message.size <= most_bytes
            and (message.sequence_id or 0) > last
        )


@dataclass(slots=True)
class Entry:
    """A frame until the broker has acknowledged it, and who waits for that."""

    frame: bytes
    sequence_id: int
    messages: list[PendingMessage]

    @property
    def deadline(self) -> float:
        """That of its first message."""
        return self.messages[0].deadline


class Framer:
    """Makes frames in the name of one producer."""

    def __init__(self, producer_id: int, compression: Compression) -> None:
        self.producer_name = ""
        self.max_message_size = 0
        self._producer_id = producer_id
        self._compression = compression

    @property
    def most_batch_bytes(self) -> int:
        """How large the messages of a batch may be together, beside the frame's own metadata."""
        return self.max_message_size - len(self.producer_name.encode()) - _OWN

    def frame(self, messages: list[PendingMessage], version: Version) -> Entry:
        """The entry of messages that have sequence ids; raises InvalidValueError if too large.

        One message alone is no batch, as Java's client has it since 2.11.
        """
        first, last = messages[0].sequence_id or 0, messages[-1].sequence_id or 0
        body = messages[0].payload if len(messages) == 1 else _batch_payload(messages)
        metadata = api.MessageMetadata(
            producer_name=self.producer_name,
            sequence_id=first,
            publish_time=time.time_ns() // 1_000_000,
            uncompressed_size=len(body),
        )
        if version:
            metadata.schema_version = version
        encryption = messages[0].encryption
        payload = self._compress(body, metadata) if encryption is None else body
        command = api.CommandSend(producer_id=self._producer_id, sequence_id=first)
        if len(messages) == 1:
            _copy_single(messages[0], metadata)
            if encryption is not None:
                encryption.describe(metadata)
                command.num_messages = max(1, encryption.batch_size)
        else:
            command.num_messages = metadata.num_messages_in_batch = len(messages)
            command.highest_sequence_id = metadata.highest_sequence_id = last
        self._check_size(metadata.ByteSize() + _HEAD + len(payload))
        return Entry(send_frame(command, metadata, payload), first, messages)

    def _compress(self, body: bytes, metadata: api.MessageMetadata) -> bytes:
        if self._compression.name != "NONE":
            metadata.MergeFrom(api.MessageMetadata(compression=self._compression.name))
            body = self._compression(body)
        return body

    def _check_size(self, size: int) -> None:
        """Metadata count, as in Java's client: of a larger frame a broker cuts the connection."""
        if size > self.max_message_size:
            raise InvalidValueError(
                f"the message has {size} bytes with its metadata, the broker accepts "
                f"{self.max_message_size}",
                hint="send less in one message, or raise the broker's maxMessageSize",
            )


def _copy_single(message: PendingMessage, metadata: api.MessageMetadata) -> None:
    """What a message carries, in the metadata of its own frame."""
    for field_descriptor, value in message.single.ListFields():
        if field_descriptor.is_repeated:
            metadata.properties.extend(value)
        elif field_descriptor.name in _SHARED_FIELDS:
            setattr(metadata, field_descriptor.name, value)
    if message.deliver_at is not None:
        metadata.deliver_at_time = message.deliver_at


def _batch_payload(messages: Sequence[PendingMessage]) -> bytes:
    """The size of each message's metadata, the metadata, and the payload, one after another."""
    parts: list[bytes] = []
    for message in messages:
        single = message.single
        single.sequence_id = message.sequence_id or 0
        head = single.SerializeToString()
        parts += (_SIZE.pack(len(head)), head, message.payload)
    return b"".join(parts)
