"""The kernel, the row reader and the row writer of AVRO."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy
import pyarrow

from gitops.model.replay import LogicalTypes
from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.avro import row_counts
from gitops.replay.kernel.avro.batch import Batch, true_indexes
from gitops.replay.kernel.avro.columns import Columns
from gitops.replay.kernel.avro.definition import schema_of
from gitops.replay.kernel.avro.number_columns import read_numbers
from gitops.replay.kernel.avro.row_counts import Positions
from gitops.replay.kernel.avro.rows import Row
from gitops.replay.kernel.avro.schema_pair import make_plan
from gitops.replay.kernel.avro.steps import Plan
from gitops.replay.kernel.avro.values import UnionValue
from gitops.replay.kernel.payload_column import MOST_BYTES, MOST_ROWS, join_walks
from gitops.replay.kernel.protocol import (
    AddNumbers,
    CountKey,
    Kernels,
    Reason,
    Unreadable,
    ValueChange,
    Walk,
)
from gitops.schemas.avro.schema import Array, Enum, Fixed, Map, Record, Schema, Union, branch_name

_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_BITS: Final = {"int": 32, "long": 64}


class AvroRowWriter:
    """Writes values that an AvroRowReader answered with `schema` as reader: a RowWriter."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - any value that a schema can say
        """The payload, each array and map in one block; raises Unreadable."""
        out = bytearray()
        _ValueWriter(out).value(self._schema, value, "")
        return bytes(out)


class _ValueWriter:
    def __init__(self, out: bytearray) -> None:
        self._out = out

    def value(self, schema: Schema, value: Any, path: str) -> None:  # noqa: ANN401
        match schema:
            case Record() if isinstance(value, dict) and schema.by_name.keys() == value.keys():
                for field in schema.all_fields:
                    inner = f"{path}.{field.name}" if path else field.name
                    self.value(field.type, value[field.name], inner)
            case Union():
                self._union(schema, value, path)
            case Enum() if value in schema.symbols:
                self._number(schema.symbols.index(value))
            case Array() if isinstance(value, list):
                self._array(schema, value, path)
            case Map() if isinstance(value, dict):
                self._map(schema, value, path)
            case Fixed() if isinstance(value, bytes) and len(value) == schema.size:
                self._out += value
            case _:
                self._scalar(schema.kind, value, path)

    def _union(self, union: Union, value: Any, path: str) -> None:  # noqa: ANN401
        """The branch of its tag, else null or the only one that is not."""
        for index, branch in enumerate(union.branches):
            if isinstance(value, UnionValue):
                result = branch_name(branch) == value.branch
            else:
                result = (branch.kind == "null") is (value is None)
            if result:
                self._number(index)
                self.value(branch, value.value if isinstance(value, UnionValue) else value, path)
                return
        raise _unwritable("union", value, path)

    def _array(self, schema: Array, value: list[Any], path: str) -> None:
        if value:
            self._number(len(value))
        for item in value:
            self.value(schema.items, item, f"{path}[]")
        self._number(0)

    def _map(self, schema: Map, value: dict[str, Any], path: str) -> None:
        if value:
            self._number(len(value))
        for name, item in value.items():
            self._text(name)
            self.value(schema.values, item, f"{path}{{}}")
        self._number(0)

    def _scalar(self, kind: str, value: Any, path: str) -> None:  # noqa: ANN401
        match kind, value:
            case "null", None:
                pass
            case "boolean", bool():
                self._out.append(value)
            case (("int" | "long"), int()) if -1 <= value >> (_BITS[kind] - 1) <= 0:
                self._number(value)
            case (("float" | "double"), (int() | float())):
                self._out += (_FLOAT if kind == "float" else _DOUBLE).pack(value)
            case "string", str():
                self._text(value)
            case "bytes", bytes():
                self._bytes(value)
            case _:
                raise _unwritable(kind, value, path)

    def _text(self, text: str) -> None:
        """A default can hold half of a character, for which Java writes a question mark."""
        self._bytes(text.encode("utf-8", "replace"))

    def _bytes(self, data: bytes) -> None:
        self._number(len(data))
        self._out += data

    def _number(self, number: int) -> None:
        left = (number << 1) ^ (number >> 63)
        while left > 0x7F:  # noqa: PLR2004 - seven bits a byte
            self._out.append(left & 0x7F | 0x80)
            left >>= 7
        self._out.append(left)


def _unwritable(kind: str, value: Any, path: str) -> Unreadable:  # noqa: ANN401
    reason = f"not a value of the type {kind}"
    return Unreadable(Reason(path, reason), f"{path}: {value!r:.80} is {reason}")


# The kernel of an Avro payload, and its plain reader.


FEW: Final = 6
"""Rows below which one at a time is faster."""


class AvroKernel:
    """Reads columns of payloads by a plan: a Kernel, a ChangeReader and a NumberReader."""

    def __init__(self, plan: Plan, *, few: int = FEW) -> None:
        self._plan = plan
        self._few = few

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Read a column without nulls, of any binary type."""
        return join_walks([self._part(data, bounds) for data, bounds in _parts(payloads)])

    def changes(self, payload: bytes) -> Mapping[str, ValueChange]:
        """As ChangeReader has it."""
        row = Row(payload)
        row.changes = {}
        row.whole(self._plan)
        return row.changes

    def numbers(self, payloads: pyarrow.BinaryArray, add: AddNumbers) -> None:
        """As NumberReader has it."""
        for data, bounds in _parts(payloads):
            read_numbers(data, bounds, self._plan, self._few, add)

    def _part(self, data: pyarrow.Buffer, bounds: Positions) -> Walk:
        batch = Batch(data, bounds)
        frame = batch.everything()
        Columns(batch, self._few).group(frame, self._plan.top)
        left = frame.at < frame.end
        if numpy.count_nonzero(left):
            batch.stop(frame, true_indexes(left), "", row_counts.LEFT)
        return batch.walk()


class AvroRowReader:
    """Reads single payloads: a RowReader."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def read(self, payload: bytes) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value as the reader sees it; raises Unreadable."""
        return Row(payload).whole(self._plan)

    def counted(self, payload: bytes) -> tuple[Any, Counter[CountKey]]:
        """The value, and what `walk` counts for it; raises Unreadable."""
        row = Row(payload)
        value = row.whole(self._plan)
        return value, row.counts()


def avro_kernel(writer: Schema, reader: Schema, logical_types: LogicalTypes = "java") -> AvroKernel:
    """The kernel of a pair of parsed definitions."""
    return AvroKernel(make_plan(writer, reader, logical_types))


def avro_row_reader(
    writer: Schema, reader: Schema, logical_types: LogicalTypes = "java"
) -> AvroRowReader:
    """The plain reader of a pair of parsed definitions."""
    return AvroRowReader(make_plan(writer, reader, logical_types))


def _kernel(writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes) -> AvroKernel:
    return avro_kernel(schema_of(writer), schema_of(reader), logical_types)


def _row_reader(
    writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes
) -> AvroRowReader:
    return avro_row_reader(schema_of(writer), schema_of(reader), logical_types)


def _row_writer(schema: SchemaInfo) -> AvroRowWriter:
    return AvroRowWriter(schema_of(schema))


KERNELS: Final = Kernels(kernel=_kernel, row_reader=_row_reader, row_writer=_row_writer)


def _parts(payloads: pyarrow.Array) -> Iterator[tuple[pyarrow.Buffer, Positions]]:
    """The column in pieces of a size that is bounded, or of one payload."""
    large = payloads.cast(pyarrow.large_binary())
    _, offsets, data = large.buffers()
    count = len(large)
    bounds = numpy.frombuffer(offsets, numpy.int64)[large.offset : large.offset + count + 1]
    first = 0
    while first < count or not first:
        most = int(numpy.searchsorted(bounds, bounds[first] + MOST_BYTES, side="right")) - 1
        last = min(count, first + MOST_ROWS, max(first + 1, most))
        base, end = int(bounds[first]), int(bounds[last])
        yield data.slice(base, end - base), bounds[first : last + 1] - base
        first = last
        if not count:
            return
