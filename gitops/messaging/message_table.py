"""What the messages of entries carry, of all at once: as numbers, bytes and properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.messaging.capture_schema import PROPERTIES
from gitops.messaging.entries import Entry
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.fields import PADDING, Fields, Flags, Integers, Octets, scan_fields

_NAMES: Final = (
    "properties",
    "partition_key",
    "partition_key_b64_encoded",
    "event_time",
    "ordering_key",
    "sequence_id",
    "null_value",
    "compacted_out",
)
"""What is read: both kinds of metadata have the same names for it, and other numbers."""

_LARGEST_NUMBER: Final = 63
"""Of a field; above are none that are read."""


def _places() -> Integers:
    """Of the fields of both kinds, by number, the places in _NAMES from 1 on; 0 of others."""
    positions = numpy.zeros((2, _LARGEST_NUMBER + 1), numpy.int64)
    kinds = (api.MessageMetadata.DESCRIPTOR, api.SingleMessageMetadata.DESCRIPTOR)
    for kind, descriptor in enumerate(kinds):
        for place, name in enumerate(_NAMES, 1):
            if field := descriptor.fields_by_name.get(name):
                positions[kind, field.number] = place
    return positions


_PLACES: Final = _places()


@dataclass(frozen=True, slots=True)
class MessageTable:
    """Messages of entries, in order.

    `turns` are the numbers of their entries, `indexes` their places in batches, -1 for none.
    `data` has metadata from `starts` to `middles`, and payloads from there to `ends`.
    """

    turns: Integers
    indexes: Integers
    starts: Integers
    middles: Integers
    ends: Integers
    data: bytes
    fields: Fields

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> MessageTable:
        """All messages of the entries; raises ProtocolError."""
        counts = numpy.array([len(entry.starts) for entry in entries], numpy.int64)
        turns = numpy.repeat(numpy.arange(len(entries)), counts)
        before = numpy.cumsum(counts) - counts
        bodies = numpy.cumsum([0, *(len(entry.body) for entry in entries)])[:-1]
        starts, middles, ends = (
            numpy.fromiter(chain.from_iterable(places), numpy.int64, len(turns)) + bodies[turns]
            for places in zip(
                *((entry.starts, entry.middles, entry.ends) for entry in entries), strict=True
            )
        )
        is_batch = numpy.array([entry.is_batch for entry in entries], numpy.int64)[turns]
        indexes = numpy.where(is_batch, numpy.arange(len(turns)) - before[turns], -1)
        data = b"".join((*(entry.body for entry in entries), PADDING))
        items = scan_fields(_octets(data), starts, middles)
        numbers = _PLACES[is_batch[items.owners], numpy.minimum(items.numbers, _LARGEST_NUMBER)]
        fields = items._replace(numbers=numbers)
        return cls(turns, indexes, starts, middles, ends, data, fields)

    def numbers(self, name: str, default: Integers | None = None) -> Integers:
        """An integer of each message, 0 unless a default is given."""
        positions = numpy.zeros(len(self.turns), numpy.int64) if default is None else default
        chosen = self._chosen(name) & self.fields.is_number
        positions[self.fields.owners[chosen]] = self.fields.values[chosen]
        return positions

    def flags(self, name: str) -> Flags:
        """A boolean of each message."""
        positions: Flags = self.numbers(name) != 0
        return positions

    def bytes(self, name: str) -> pyarrow.BinaryArray:
        """Bytes of each message, null where it has none."""
        fields = self.fields.select(self._chosen(name) & self.fields.is_bytes)
        if not len(fields.owners):
            return pyarrow.nulls(len(self.turns), pyarrow.binary())
        return _bytes(self.data, self.starts, fields)

    def payloads(self) -> pyarrow.BinaryArray:
        """Null for one without a byte whose value is null."""
        missing = self.flags("null_value") & (self.middles == self.ends)
        return _segments(self.data, self.middles, self.ends, missing)

    def properties(self) -> pyarrow.MapArray:
        """Null where one of them is no UTF-8."""
        pairs = self.fields.select(self._chosen("properties") & self.fields.is_bytes)
        pairs = pairs.select(numpy.argsort(pairs.owners, kind="stable"))
        counts = numpy.bincount(pairs.owners, minlength=len(self.turns))
        offsets = numpy.concatenate(([0], numpy.cumsum(counts))).astype(numpy.int32)
        starts = pairs.starts
        fields = scan_fields(_octets(self.data), starts, starts + pairs.values)
        fields = fields.select(fields.is_bytes)
        keys, values = (
            _bytes(self.data, starts, fields.select(fields.numbers == number)).fill_null(b"")
            for number in (1, 2)
        )
        try:
            texts = keys.cast(pyarrow.string()), values.cast(pyarrow.string())
        except pyarrow.ArrowInvalid:
            return pyarrow.array(_readable(offsets, keys, values), PROPERTIES)
        return pyarrow.MapArray.from_arrays(offsets, *texts)

    def _chosen(self, name: str) -> Flags:
        chosen: Flags = self.fields.numbers == _NAMES.index(name) + 1
        return chosen


def _octets(data: bytes) -> Octets:
    return numpy.frombuffer(data, numpy.uint8)


def _bytes(data: bytes, begins: Integers, fields: Fields) -> pyarrow.BinaryArray:
    """The bytes of fields by their owners, which begin at `begins`."""
    starts, sizes = begins.copy(), numpy.zeros(len(begins), numpy.int64)
    missing = numpy.ones(len(begins), numpy.bool_)
    starts[fields.owners], sizes[fields.owners] = fields.starts, fields.values
    missing[fields.owners] = False
    return _segments(data, starts, starts + sizes, missing)


def _segments(data: bytes, starts: Integers, ends: Integers, missing: Flags) -> pyarrow.BinaryArray:
    """Pieces of the data, in rising order: every second one of an array of all pieces."""
    offsets = numpy.column_stack((starts, ends)).astype(numpy.int32).reshape(-1)
    count = max(0, len(offsets) - 1)
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(data)]
    every = pyarrow.Array.from_buffers(pyarrow.binary(), count, buffers)
    return every.take(pyarrow.array(numpy.arange(0, len(offsets), 2), mask=missing))


def _readable(
    offsets: NDArray[numpy.int32], keys: pyarrow.BinaryArray, values: pyarrow.BinaryArray
) -> list[Any]:
    """The properties of each message as pairs."""
    pairs = list(zip(keys.to_pylist(), values.to_pylist(), strict=True))
    items: list[Any] = []
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        try:
            items.append([(key.decode(), value.decode()) for key, value in pairs[start:end]])
        except UnicodeDecodeError:
            items.append(None)
    return items
