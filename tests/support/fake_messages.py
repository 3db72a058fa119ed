"""Messages and readers of them, without a broker."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from gitops.messaging.capture_client import Position
from gitops.messaging.capture_readers import PartitionReader
from gitops.messaging.entries import Entry, EntryReader
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.frames import pack_content
from gitops.model.errors import OutsideError


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeMessage:
    """One message; `version` is -1 where it has none. Messages of a batch share what follows it."""

    at: Position
    payload: bytes = b""
    key: str = ""
    key_is_base64: bool = False
    ordering: str = ""
    props: Mapping[str, str] = field(default_factory=dict)
    event: int = 0
    sequence: int = 0
    is_null: bool = False
    published: int = 1_000
    version: int = -1
    producer: str = "p"
    encryption_keys: Sequence[api.EncryptionKeys] = ()

    def carried(self) -> dict[str, Any]:
        """What its own metadata has."""
        optional = {
            "partition_key": self.key,
            "partition_key_b64_encoded": self.key_is_base64 and bool(self.key),
            "ordering_key": self.ordering.encode(),
            "event_time": self.event,
            "null_value": self.is_null,
        }
        return {
            "properties": [api.KeyValue(key=key, value=self.props[key]) for key in self.props],
            "sequence_id": self.sequence,
            **{name: value for name, value in optional.items() if value},
        }

    def metadata(self, **more: Any) -> api.MessageMetadata:  # noqa: ANN401 - any field
        """That of an entry that it begins."""
        if self.version >= 0:
            more["schema_version"] = struct.pack(">q", self.version)
        return api.MessageMetadata(
            producer_name=self.producer,
            publish_time=self.published,
            encryption_keys=self.encryption_keys,
            **more,
        )


def to_entry(messages: Sequence[FakeMessage]) -> Entry:
    """Some messages of one entry, of which those before them in the batch were compacted."""
    first = messages[0]
    if first.at.batch < 0:
        metadata = first.metadata(**first.carried())
        payload = first.payload
    else:
        number = first.at.batch + len(messages)
        metadata = first.metadata(sequence_id=first.sequence, num_messages_in_batch=number)
        payload = _single(b"", compacted_out=True) * first.at.batch
        payload += b"".join(_single(one.payload, **one.carried()) for one in messages)
    at = api.MessageIdData(ledgerId=first.at.ledger, entryId=first.at.entry)
    return EntryReader(None).read(at, pack_content(metadata, payload))


def _single(payload: bytes, **fields: Any) -> bytes:  # noqa: ANN401 - any field
    head = api.SingleMessageMetadata(payload_size=len(payload), **fields).SerializeToString()
    return struct.pack(">I", len(head)) + head + payload


def batches(count: int, size: int = 4, **more: Any) -> list[FakeMessage]:  # noqa: ANN401
    """So many messages, in batches, with consecutive sequence ids."""
    return [
        FakeMessage(
            at=Position(1, number // size, number % size),
            payload=f"v{number}".encode(),
            sequence=number,
            **more,
        )
        for number in range(count)
    ]


class FakeReaders:
    """Has messages by the full name of their partition; fails when `fails` says so.

    `fails` gets the number of blocks that were read before. `opened` are the positions behind which
    readers began.
    """

    def __init__(
        self,
        messages: Mapping[str, Sequence[FakeMessage]],
        fails: Callable[[int], bool] = lambda _: False,
        block: int = 3,
    ) -> None:
        self._messages = messages
        self.fails = fails
        self._block = block
        self.blocks = 0
        self.opened: list[Position | None] = []
        self.is_closed = False

    def open(
        self,
        partition: str,
        *,
        after: Position | None,
        first: Position | None,
        trimmed_before: int | None = None,  # noqa: ARG002 - the Protocol's signature
    ) -> PartitionReader:
        self.opened.append(after)
        found = [
            one
            for one in self._messages.get(partition, ())
            if (after is None or one.at > after) and (first is None or one.at[:2] >= first[:2])
        ]
        return _FakeReader(self, found)

    def close(self) -> None:
        self.is_closed = True

    def take(self, left: list[FakeMessage], most: int) -> list[FakeMessage]:
        if self.fails(self.blocks):
            raise OutsideError("the wire is cut")
        self.blocks += 1
        found = left[: min(most, self._block)]
        del left[: len(found)]
        return found


class _FakeReader:
    def __init__(self, readers: FakeReaders, left: list[FakeMessage]) -> None:
        self._readers = readers
        self._left = left

    def read(self, most: int) -> list[Entry]:
        found = self._readers.take(self._left, most)
        return [to_entry(list(each)) for _, each in groupby(found, lambda one: one.at[:2])]

    def has_more(self) -> bool:
        return bool(self._left)

    def unfinished(self) -> Position | None:
        return None

    def close(self) -> None:
        """Nothing is open."""
