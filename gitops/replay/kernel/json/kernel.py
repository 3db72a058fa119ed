"""A column of JSON: rows written alike side by side, others by msgspec, the rest one by one."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

import msgspec
import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.model.replay import LogicalTypes
from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.json.aligned_rows import Orders
from gitops.replay.kernel.json.columns import covers, walk
from gitops.replay.kernel.json.definition import schema_of
from gitops.replay.kernel.json.number_values import read_numbers
from gitops.replay.kernel.json.numbers import rows_with_long_exponents
from gitops.replay.kernel.json.parser import LIMITS
from gitops.replay.kernel.json.rows import JsonWriter, read
from gitops.replay.kernel.json.scalars import MAX_TEXT
from gitops.replay.kernel.json.schema_pair import Node, pair
from gitops.replay.kernel.json.shapes import Shape, shape_of
from gitops.replay.kernel.payload_column import (
    AmbiguousBatchError,
    Column,
    Counts,
    bisect_messages,
    walk_in_parts,
)
from gitops.replay.kernel.protocol import AddNumbers, Kernels, Unreadable, Walk
from gitops.replay.kernel.verdicts import Verdicts
from gitops.schemas.avro.json_text import MAX_DEPTH, MAX_NAME_LENGTH, MAX_NUMBER_LENGTH

_COLON, _QUOTE, _BACKSLASH = ord(":"), ord('"'), ord("\\")
_BLANKS: Final = numpy.array([chr(byte) in " \t\r\n" for byte in range(256)])
_MOST_BLANKS: Final = 4
UNKNOWN: Final = 2**40
"""More than any row has: the bytes do not tell."""


def count_members(rows: Column) -> NDArray[numpy.int64]:
    """For each row of JSON, at least its members (shape: rows); exactly in what writers write.

    A member is a quote that no backslash escapes, blanks, and a colon. Text that begins with a
    colon looks like one, so that a row can seem to have more members than it has, never fewer.
    """
    if not len(rows.starts):
        return numpy.zeros(0, numpy.int64)
    first = rows.starts[0]
    data = rows.data[first : rows.ends[-1]]
    colons = numpy.flatnonzero(data == _COLON)
    at = colons - 1
    for _ in range(_MOST_BLANKS):
        blank = _BLANKS[_bytes(data, at)]
        if not blank.any():
            break
        at = at - blank
    quotes = _bytes(data, at) == _QUOTE
    unclear = _BLANKS[_bytes(data, at)]
    escaped = quotes & (_bytes(data, at - 1) == _BACKSLASH)
    unclear |= escaped & (_bytes(data, at - 2) == _BACKSLASH)
    weights = numpy.where(unclear, UNKNOWN, (quotes & ~escaped).astype(numpy.int64))
    totals = numpy.concatenate(([0], numpy.cumsum(weights)))
    before = numpy.searchsorted(colons, numpy.stack((rows.starts, rows.ends)) - first)
    positions: NDArray[numpy.int64] = totals[before[1]] - totals[before[0]]
    return positions


def _bytes(data: NDArray[numpy.uint8], at: NDArray[numpy.int64]) -> NDArray[numpy.uint8]:
    """What stands there; before the first byte, that one."""
    return data.take(at, mode="clip")


# A column of JSON payloads: side by side where they are alike, by msgspec or one by one else.


FEW: Final = 64
"""Rows that are not worth to be walked over side by side."""

_MANY: Final = 32
"""Of so many rows one more is left out: others may tell better how they are written."""

_OFTEN: Final = 4
"""So many times in a row most rows were left out: it is not tried again."""

_OF_NUMBERS: Final = b"0123456789.eE+-"
_SAMPLES: Final = 4
"""Rows that tell how all of them are written."""


class JsonKernel:
    """Reads JSON by a plan: a Kernel and a NumberReader."""

    def __init__(self, plan: Node, *, few: int = FEW) -> None:
        self._plan = plan
        self._few = few
        self._vain = 0 if covers(plan) else _OFTEN
        self._orders: Orders | None = None
        self._shape = shape_of(plan)
        self._decode = msgspec.json.Decoder(self._shape.type).decode

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Verdicts and counts."""
        return walk_in_parts(payloads, self._part)

    def numbers(self, payloads: pyarrow.BinaryArray, add: AddNumbers) -> None:
        """As NumberReader has it."""
        read_numbers(self._plan, payloads, add)

    def _part(self, rows: Column) -> Walk:
        if self._vain == _OFTEN or len(rows.starts) < self._few:
            return self._decoded(rows)
        if self._orders is None:
            self._orders = self._learnt(rows)
        read, counts = walk(rows, self._orders, self._plan)
        left = numpy.flatnonzero(~read)
        self._vain = self._vain + 1 if len(left) > len(read) // 2 else 0
        if len(left) > len(read) // _MANY:
            self._orders = None
        verdicts = Verdicts(len(read))
        if left.size:
            rest = self._decoded(rows.take(left))
            counts.update(rest.counts)
            verdicts.stop_as(left, rest)
        return verdicts.walk(counts)

    def _decoded(self, rows: Column) -> Walk:
        with _no_garbage_collection():
            return _DecodedBatch(self._plan, rows).walk(self._decode, self._shape)

    def _learnt(self, rows: Column) -> Orders:
        orders = Orders()
        sampled = numpy.linspace(0, len(rows.starts) - 1, _SAMPLES).astype(numpy.int64)
        orders.learn(self._plan, rows.take(sampled).payloads())
        return orders

    def read(self, payload: bytes) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value as the reader sees it; raises Unreadable."""
        return read(self._plan, payload)[0]


def _kernel(writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes) -> JsonKernel:
    return JsonKernel(pair(schema_of(writer), schema_of(reader), logical_types=logical_types))


def _row_writer(schema: SchemaInfo) -> JsonWriter:
    return JsonWriter(schema_of(schema))


KERNELS: Final = Kernels(kernel=_kernel, row_reader=_kernel, row_writer=_row_writer)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Decoded JSON has no cycles, and the search for them took a third of the time.

    It ends with a batch, whose size is bounded.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Decoded(NamedTuple):
    """Values, their rows, and the members of all rows before each one."""

    values: list[Any]
    at: list[int]
    members: list[int]


class _DecodedBatch:
    """One column on its way: rows that were decoded, and those that are read `slowly`."""

    def __init__(self, plan: Node, rows: Column) -> None:
        self._plan = plan
        self._payloads = rows.payloads()
        self._members = count_members(rows)
        self._slowly = rows_with_long_exponents(rows).tolist()

    def walk(self, decode: Any, shape: Shape) -> Walk:  # noqa: ANN401 - a Decoder's method
        """Verdicts and counts."""
        decoded = self._decoded(decode)

        def count(start: int, end: int) -> Counts:
            counts: Counts = Counter()
            members = shape.count(decoded.values[start:end], counts)
            if members != decoded.members[end] - decoded.members[start]:
                raise AmbiguousBatchError
            return counts

        counts, doubted = bisect_messages(len(decoded.at), count)
        self._slowly += [decoded.at[index] for index in doubted]
        verdicts = Verdicts(len(self._payloads))
        for row in sorted(self._slowly):
            try:
                counts.update(read(self._plan, self._payloads[row])[1])
            except Unreadable as unreadable:
                verdicts.stop(row, unreadable.reason)
        return verdicts.walk(counts)

    def _decoded(self, decode: Any) -> _Decoded:  # noqa: ANN401 - a Decoder's method
        values: list[Any] = []
        at: list[int] = []
        slowly = frozenset(self._slowly)
        for row, payload in enumerate(self._payloads):
            if row in slowly:
                continue
            try:
                value = decode(payload)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                self._slowly.append(row)
                continue
            if len(payload) > MAX_NUMBER_LENGTH and _may_be_limited(payload):
                self._slowly.append(row)
                continue
            values.append(value)
            at.append(row)
        return _Decoded(values, at, list(accumulate(self._members[at].tolist(), initial=0)))


def _may_be_limited(payload: bytes) -> bool:
    """Whether Jackson may refuse it for its depth, or for what is too long."""
    if len(payload) > MAX_TEXT or payload.count(b"[") + payload.count(b"{") > MAX_DEPTH:
        return True
    if len(payload) > MAX_NAME_LENGTH and max(map(len, payload.split(b'"'))) > MAX_NAME_LENGTH:
        return True
    half = MAX_NUMBER_LENGTH // 2  # a number that is too long holds two of the bytes looked at
    sampled = [byte in _OF_NUMBERS for byte in payload[::half]]
    if not any(item and two for item, two in pairwise(sampled)):
        return False
    return LIMITS.search(payload) is not None
