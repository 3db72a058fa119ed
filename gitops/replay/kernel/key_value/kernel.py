"""Pairs, each half read by the kernel of its own type."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.model.replay import LogicalTypes
from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.key_value import wire_format
from gitops.replay.kernel.key_value.definition import halves_of, key_encoding
from gitops.replay.kernel.protocol import (
    READ,
    AddNumbers,
    ChangeReader,
    CountKey,
    CountKind,
    Kernel,
    Kernels,
    NumberReader,
    Reason,
    RowReader,
    RowWriter,
    Unreadable,
    ValueChange,
    Walk,
)
from gitops.replay.kernel.verdicts import Mismatch, Rows, Verdicts, join_path
from gitops.schemas.key_value.parser import HALVES

_LENGTH: Final = struct.Struct(">i")


class PairKernel:
    """A ChangeReader and a NumberReader of payloads as in `wire_format`.

    Paths begin with `key` or `value`.
    """

    def __init__(self, key: Kernel, value: Kernel) -> None:
        self._kernels = (key, value)

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """A row whose key cannot be read fails for that, whatever its value."""
        verdicts = Verdicts(len(payloads))
        halves = wire_format.split(payloads, verdicts)
        walks = [
            kernel.walk(half.payloads) for kernel, half in zip(self._kernels, halves, strict=True)
        ]
        for name, half, walk in zip(HALVES, halves, walks, strict=True):
            verdicts.stop_as(half.rows, walk, name)
        counts: Counter[CountKey] = Counter()
        changed: dict[str, Rows] = {}
        for name, kernel, half, walk in zip(HALVES, self._kernels, halves, walks, strict=True):
            _count(name, half, _counts_of_read(kernel, half, walk, verdicts), verdicts, counts)
            changed |= _changed(name, half, walk, verdicts)
        return verdicts.walk(counts, changed)

    def numbers(self, payloads: pyarrow.BinaryArray, add: AddNumbers) -> None:
        """As NumberReader has it; of halves whose kernel is one."""
        halves = wire_format.split(payloads, Verdicts(len(payloads)))
        for name, kernel, half in zip(HALVES, self._kernels, halves, strict=True):
            if isinstance(kernel, NumberReader):
                kernel.numbers(half.payloads, partial(_add_below, name, add))

    def changes(self, payload: bytes) -> Mapping[str, ValueChange]:
        """As ChangeReader has it; of halves whose kernel is one."""
        halves = split_one(payload)
        return {
            join_path(name, path): change
            for name, kernel in zip(HALVES, self._kernels, strict=True)
            if isinstance(kernel, ChangeReader) and (half := halves[name]) is not None
            for path, change in kernel.changes(half).items()
        }


def _add_below(name: str, add: AddNumbers, path: str, unit: str, numbers: NDArray[Any]) -> None:
    add(join_path(name, path), unit, numbers)


class PairReader:
    """Reads single pairs as `{"key": …, "value": …}`; a half that is null is None."""

    def __init__(self, key: RowReader, value: RowReader) -> None:
        self._readers = dict(zip(HALVES, (key, value), strict=True))

    def read(self, payload: bytes) -> dict[str, Any]:
        """Raises Unreadable."""
        halves = split_one(payload)
        return {name: self._half(name, half) for name, half in halves.items()}

    def _half(self, name: str, half: bytes | None) -> Any:  # noqa: ANN401 - any value
        if half is None:
            return None
        try:
            return self._readers[name].read(half)
        except Unreadable as unreadable:
            reason = Reason(join_path(name, unreadable.reason.path), unreadable.reason.reason)
            result = None if unreadable.value is None else {name: unreadable.value}
            raise Unreadable(reason, f"{name}: {unreadable.message}", result) from None


class PairWriter:
    """Writes what PairReader answered."""

    def __init__(self, key: RowWriter, value: RowWriter) -> None:
        self._writers = dict(zip(HALVES, (key, value), strict=True))

    def write(self, value: Mapping[str, Any]) -> bytes:
        """The payload as `wire_format` has it; raises Unreadable."""
        key, other = (
            None if value[name] is None else self._writers[name].write(value[name])
            for name in HALVES
        )
        return wire_format.join_one(key, other)


def pair_kernels(half: Kernels) -> Kernels:
    """Those of KEY_VALUE, of which `half` has those of each half."""

    def kernel(writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes) -> Kernel:
        if mismatch := _mismatch(writer, reader):
            return mismatch
        key, value = zip(halves_of(writer), halves_of(reader), strict=True)
        return PairKernel(half.kernel(*key, logical_types), half.kernel(*value, logical_types))

    def row_reader(
        writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes
    ) -> RowReader:
        if mismatch := _mismatch(writer, reader):
            return mismatch
        key, value = zip(halves_of(writer), halves_of(reader), strict=True)
        readers = half.row_reader(*key, logical_types), half.row_reader(*value, logical_types)
        return PairReader(*readers)

    def row_writer(schema: SchemaInfo) -> RowWriter:
        return PairWriter(*map(half.row_writer, halves_of(schema)))

    return Kernels(kernel=kernel, row_reader=row_reader, row_writer=row_writer)


def _mismatch(writer: SchemaInfo, reader: SchemaInfo) -> Mismatch | None:
    """Both carry the key at the same place, or no message can be read."""
    takes, has = key_encoding(reader), key_encoding(writer)
    if takes is has:
        return None
    return Mismatch(f"the reader expects {takes.value} pairs, and the message is {has.value}")


def _counts_of_read(
    kernel: Kernel, half: wire_format.Half, walk: Walk, verdicts: Verdicts
) -> Counter[CountKey]:
    """What a half counted, less what it counted in rows whose other half cannot be read."""
    read = walk.verdicts == READ
    spoilt = numpy.flatnonzero(read & ~verdicts.read[half.rows])
    counts = Counter(walk.counts)
    if len(spoilt):
        counts.subtract(kernel.walk(half.payloads.take(pyarrow.array(spoilt))).counts)
    return +counts


def _changed(name: str, half: wire_format.Half, walk: Walk, verdicts: Verdicts) -> dict[str, Rows]:
    """Where a half changed a value, of the pairs that can be read."""
    read = verdicts.read
    of_pairs = ((path, half.rows[rows]) for path, rows in walk.changed.items())
    grouped = {join_path(name, path): rows[read[rows]] for path, rows in of_pairs}
    return {path: rows for path, rows in grouped.items() if len(rows)}


def _count(
    name: str,
    half: wire_format.Half,
    counted: Counter[CountKey],
    verdicts: Verdicts,
    counts: Counter[CountKey],
) -> None:
    for key, number in counted.items():
        counts[key._replace(path=join_path(name, key.path))] += number
    if nulls := int(verdicts.read[half.nulls].sum()):
        counts[CountKey(name, CountKind.READ)] += nulls
        counts[CountKey(name, CountKind.NULLS)] += nulls


def split_one(payload: bytes) -> dict[str, bytes | None]:
    """Both halves of a pair by their names; raises Unreadable."""
    halves: dict[str, bytes | None] = {}
    at = 0
    for name in HALVES:
        if at + _LENGTH.size > len(payload):
            raise _unreadable(Reason(name, wire_format.NO_LENGTH), at)
        (length,) = _LENGTH.unpack_from(payload, at)
        start = at + _LENGTH.size
        if length < -1:
            raise _unreadable(Reason(name, wire_format.NEGATIVE), at)
        if start + length > len(payload):
            raise _unreadable(Reason(name, wire_format.TOO_LONG), at)
        at = start + max(length, 0)
        halves[name] = None if length < 0 else payload[start:at]
    if at < len(payload):
        raise _unreadable(wire_format.LEFT, at)
    return halves


def _unreadable(reason: Reason, at: int) -> Unreadable:
    return Unreadable(reason, f"{reason.path or 'the pair'}: {reason.reason}, at byte {at}")
