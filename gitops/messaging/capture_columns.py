"""Messages as columns: what a capture has of each."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy
import pyarrow
import pyarrow.compute
from numpy.typing import NDArray

from gitops.messaging.capture_schema import CHUNK, ENCRYPTION, SCHEMA, TIME
from gitops.messaging.entries import Entry
from gitops.messaging.message_table import MessageTable
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.fields import Integers

_VERSION_BYTES: Final = 8
"""Of a schema's version: Pulsar's own storage numbers them, big-endian."""


@dataclass(frozen=True, slots=True)
class Block:
    """Messages of one partition, and where they are.

    `rows` has the columns of SCHEMA. `ids` has the shape (messages, 3): ledger, entry, index in the
    batch. `published` is in ms since 1970.
    """

    rows: pyarrow.RecordBatch
    ids: Integers
    published: Integers

    def __len__(self) -> int:
        return len(self.ids)

    def select(self, chosen: NDArray[numpy.bool_]) -> Block:
        """Those of the messages."""
        if chosen.all():
            return self
        rows = self.rows.filter(pyarrow.array(chosen))
        return Block(rows, self.ids[chosen], self.published[chosen])

    def column(self, name: str) -> pyarrow.Array:
        """One of SCHEMA."""
        return self.rows.column(name)

    def with_columns(self, **columns: pyarrow.Array) -> Block:
        """With other columns in place of those of the same names."""
        items = [columns.get(name, self.column(name)) for name in SCHEMA.names]
        return replace(self, rows=pyarrow.record_batch(items, schema=SCHEMA))


def to_block(entries: Sequence[Entry], topic: str, partition: int) -> Block:
    """The messages of entries; `partition` is -1 where the topic has none.

    Left out are those before the first that was asked for, and what compaction took out of batches.
    Raises ProtocolError.
    """
    messages = MessageTable.of(entries)
    turns, ids = messages.turns, _ids(entries, messages)
    published = _numbers(entry.metadata.publish_time for entry in entries)[turns]
    columns = {
        "topic": pyarrow.repeat(topic, len(turns)),
        "message_id": _message_ids(entries, turns, ids, partition),
        "publish_time": pyarrow.array(published).cast(TIME),
        **_of_messages(messages),
        **{name: column.take(pyarrow.array(turns)) for name, column in _of_entries(entries)},
        "sequence_id": _sequence_ids(entries, messages),
    }
    rows = pyarrow.record_batch([columns[name] for name in SCHEMA.names], schema=SCHEMA)
    firsts = numpy.array([entry.first for entry in entries], numpy.int64)[turns]
    kept = (ids[:, 2] >= firsts) | (ids[:, 2] < 0)
    return Block(rows, ids, published).select(kept & ~messages.flags("compacted_out"))


def _numbers(values: Iterable[int]) -> Integers:
    """As Java has them: the protocol's are unsigned."""
    return numpy.array(list(values), numpy.uint64).astype(numpy.int64)


def _ids(entries: Sequence[Entry], messages: MessageTable) -> Integers:
    positions = numpy.empty((len(messages.turns), 3), numpy.int64)
    positions[:, 0] = _numbers(entry.ledger for entry in entries)[messages.turns]
    positions[:, 1] = _numbers(entry.number for entry in entries)[messages.turns]
    positions[:, 2] = messages.indexes
    return positions


def _message_ids(
    entries: Sequence[Entry], turns: Integers, ids: Integers, partition: int
) -> pyarrow.StringArray:
    """`ledger:entry:partition:batch`, as pulsar-admin writes them."""
    texts = [f"{entry.ledger}:{entry.number}:{partition}" for entry in entries]
    prefixes = pyarrow.array(texts, pyarrow.string()).take(pyarrow.array(turns))
    indexes = pyarrow.array(ids[:, 2]).cast(pyarrow.string())
    return pyarrow.compute.binary_join_element_wise(prefixes, indexes, ":")


def _of_entries(entries: Sequence[Entry]) -> Iterable[tuple[str, pyarrow.Array]]:
    """What all messages of an entry have alike, a value for each entry."""
    every = [entry.metadata for entry in entries]
    yield "producer_name", _texts([metadata.producer_name for metadata in every])
    yield "schema_version", pyarrow.array(map(_version, every), pyarrow.int64())
    sources = [metadata.replicated_from or None for metadata in every]
    yield "replicated_from", _texts(sources)
    due = [metadata.deliver_at_time or None for metadata in every]
    yield "deliver_at", pyarrow.array(due, pyarrow.int64()).cast(TIME)
    encrypted = [
        _encryption(entry) if entry.metadata.encryption_keys else None for entry in entries
    ]
    yield "encryption", pyarrow.array(encrypted, ENCRYPTION)


def _version(metadata: api.MessageMetadata) -> int | None:
    version = metadata.schema_version
    return int.from_bytes(version, "big") if len(version) == _VERSION_BYTES else None


def _of_messages(messages: MessageTable) -> dict[str, pyarrow.Array]:
    """What each message carries, and its payload: null for a tombstone, whose value is null."""
    events = messages.numbers("event_time")
    payloads = messages.payloads()
    return {
        "event_time": pyarrow.array(events, mask=events == 0).cast(TIME),
        "ordering_key": messages.bytes("ordering_key"),
        "properties": messages.properties(),
        "payload": payloads,
        "is_null": payloads.is_null(),
        **_keys(messages.bytes("partition_key"), messages.flags("partition_key_b64_encoded")),
    }


def _keys(keys: pyarrow.BinaryArray, is_encoded: NDArray[numpy.bool_]) -> dict[str, pyarrow.Array]:
    """Their bytes, and of each whether it was sent as base64."""
    encoded = is_encoded.tolist()
    if is_encoded.any():
        pylist = keys.to_pylist()
        for at in numpy.flatnonzero(is_encoded).tolist():
            pylist[at], encoded[at] = _decoded(pylist[at])
        keys = pyarrow.array(pylist, pyarrow.binary())
    missing = keys.is_null().to_numpy(zero_copy_only=False)
    return {"key": keys, "key_is_base64": pyarrow.array(numpy.array(encoded, bool), mask=missing)}


def _decoded(key: bytes | None) -> tuple[bytes | None, bool]:
    """The bytes that clients encode; a key that is no base64 is as it was sent."""
    try:
        return key and base64.b64decode(key, validate=True), True
    except binascii.Error:
        return key, False


def _sequence_ids(entries: Sequence[Entry], messages: MessageTable) -> pyarrow.Int64Array:
    """Those of the messages, or of the entry where an old producer gave them none."""
    positions = _numbers(entry.metadata.sequence_id for entry in entries)[messages.turns]
    return pyarrow.array(messages.numbers("sequence_id", positions))


def _texts(values: Sequence[str | bytes | None]) -> pyarrow.StringArray:
    """Texts of producers and brokers, whatever bytes they have."""
    texts = [
        value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values
    ]
    return pyarrow.array(texts, pyarrow.string())


def _encryption(entry: Entry) -> dict[str, Any]:
    metadata = entry.metadata
    keys = [
        {
            "name": key.key,
            "value": key.value,
            "metadata": [(key_value.key, key_value.value) for key_value in key.metadata],
        }
        for key in metadata.encryption_keys
    ]
    is_batch = metadata.HasField("num_messages_in_batch")
    is_chunk = metadata.num_chunks_from_msg > 1
    alone = CHUNK if is_chunk and not entry.is_decrypted else -1
    return {
        "is_decrypted": entry.is_decrypted,
        "algorithm": metadata.encryption_algo,
        "param": metadata.encryption_param,
        "keys": keys,
        "compression": api.CompressionType.Name(metadata.compression),
        "uncompressed_size": metadata.uncompressed_size,
        "batch_size": metadata.num_messages_in_batch if is_batch else alone,
    }
