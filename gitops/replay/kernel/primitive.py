"""Schema types without a definition: numbers, points in time, text, bytes."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.model.replay import LogicalTypes
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.avro.row_counts import ENDS, LEFT
from gitops.replay.kernel.payload_column import Column, as_doubles, column, to_binary
from gitops.replay.kernel.protocol import (
    INTEGER,
    NUMBER,
    AddNumbers,
    CountKey,
    CountKind,
    Kernels,
    Reason,
    Unreadable,
    Walk,
)
from gitops.replay.kernel.verdicts import Verdicts
from gitops.schemas.java_text import java_text

# How Pulsar's Java client writes the primitive types (Pulsar 4.0.7).


_MAX_NANO_OF_DAY: Final = 86_400 * 10**9 - 1
_EPOCH_DAY: Final = range(-365_243_219_162, 365_241_780_471 + 1)
_NANO_OF_DAY: Final = range(_MAX_NANO_OF_DAY + 1)
_INSTANT: Final = range(-31_557_014_167_219_200, 31_556_889_864_403_199 + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A big-endian number: its struct format, and what Java takes of it (None: all).

    `carried`: as many of the next part's number are one more of this, as Instant.ofEpochSecond
    has it.
    """

    name: str
    code: str
    within: range | None = None
    carried: int | None = None


FORMS: Final[Mapping[SchemaType, tuple[Part, ...]]] = {
    SchemaType.BOOLEAN: (Part(name="byte", code="b"),),
    SchemaType.INT8: (Part(name="number", code="b"),),
    SchemaType.INT16: (Part(name="number", code="h"),),
    SchemaType.INT32: (Part(name="number", code="i"),),
    SchemaType.INT64: (Part(name="number", code="q"),),
    SchemaType.FLOAT: (Part(name="number", code="f"),),
    SchemaType.DOUBLE: (Part(name="number", code="d"),),
    SchemaType.DATE: (Part(name="milliseconds", code="q"),),
    SchemaType.TIME: (Part(name="milliseconds", code="q"),),
    SchemaType.TIMESTAMP: (Part(name="milliseconds", code="q"),),
    SchemaType.INSTANT: (
        Part(name="seconds", code="q", within=_INSTANT, carried=10**9),
        Part(name="nanoseconds", code="i"),
    ),
    SchemaType.LOCAL_DATE: (Part(name="day", code="q", within=_EPOCH_DAY),),
    SchemaType.LOCAL_TIME: (Part(name="nanosecond of the day", code="q", within=_NANO_OF_DAY),),
    SchemaType.LOCAL_DATE_TIME: (
        Part(name="day", code="q", within=_EPOCH_DAY),
        Part(name="nanosecond of the day", code="q", within=_NANO_OF_DAY),
    ),
}
"""The numbers that make up a value, for each type of a fixed size."""


# Types of a fixed size: numbers, booleans, points in time.


_ENDS: Final = Reason("", ENDS)
_LEFT: Final = Reason("", LEFT)


class Fixed:
    """A Kernel, a NumberReader, a RowReader and a RowWriter of one type.

    A value of several parts is a tuple.

    Java takes a longer INSTANT or LOCAL_DATE_TIME, and in a consumer a longer BOOLEAN, and looks at
    its beginning only; here bytes that are left over fail, since nobody who writes the type writes
    them.
    """

    def __init__(self, kind: SchemaType) -> None:
        self._kind = kind
        self._parts = FORMS[kind]
        self._struct = struct.Struct(">" + "".join(part.code for part in self._parts))

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Sizes, and the ranges of dates and times."""
        rows = column(to_binary(payloads))
        verdicts = Verdicts(len(payloads))
        verdicts.stop_where(rows.lengths < self._struct.size, _ENDS)
        verdicts.stop_where(rows.lengths > self._struct.size, _LEFT)
        offset = 0
        for part in self._parts:
            if part.within is not None:
                verdicts.stop_where(_outside(rows, verdicts, part, offset), _out_of_range(part))
            offset += struct.calcsize(f">{part.code}")
        read = int(verdicts.read.sum())
        return verdicts.walk(Counter({CountKey("", CountKind.READ): read} if read else {}))

    def numbers(self, payloads: pyarrow.BinaryArray, add: AddNumbers) -> None:
        """As NumberReader has it."""
        if self._kind in _UNITS and len(payloads):
            rows = column(to_binary(payloads))
            at = rows.starts[:, None] + numpy.arange(self._struct.size)
            parts = rows.data[at].view(_dtype(self._parts)).ravel()
            unit, numbers_of = _UNITS[self._kind]
            add("", unit, numbers_of(*(parts[name] for name in parts.dtype.names or ())))

    def read(self, payload: bytes) -> Any:  # noqa: ANN401 - a number, a bool, a tuple of numbers
        """The number, or the numbers in the order in which they are written."""
        if len(payload) != self._struct.size:
            size = f"size {len(payload)}, where {self._kind.value} has {self._struct.size}"
            raise Unreadable(_ENDS if len(payload) < self._struct.size else _LEFT, size)
        numbers = self._struct.unpack(payload)
        for part, number, after in zip(self._parts, numbers, (*numbers[1:], 0), strict=True):
            whole = number + after // part.carried if part.carried else number
            if part.within is not None and whole not in part.within:
                reason = _out_of_range(part)
                raise Unreadable(reason, f"{reason.reason}: {whole}")
        if self._kind is SchemaType.BOOLEAN:
            return numbers[0] != 0
        return numbers[0] if len(numbers) == 1 else numbers

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - what `read` answers
        """The bytes of a value."""
        try:
            return self._struct.pack(*(value if isinstance(value, tuple) else (value,)))
        except (struct.error, OverflowError) as error:
            reason = Reason("", f"not a value of {self._kind.value}")
            raise Unreadable(reason, f"{reason.reason}: {error}") from None


def _dtype(parts: tuple[Part, ...]) -> numpy.dtype[Any]:
    kinds = {"f": "f", "d": "f"}
    return numpy.dtype(
        [
            (part.name, f">{kinds.get(part.code, 'i')}{struct.calcsize(f'>{part.code}')}")
            for part in parts
        ]
    )


_DAY: Final = 86_400_000
_NANOS: Final = 1_000_000
"""Milliseconds of a day, nanoseconds of a millisecond."""

_FURTHEST: Final = 9 * 10**15
"""Seconds whose milliseconds are 64 bits."""


def _whole(numbers: NDArray[Any]) -> NDArray[Any]:
    return numbers.astype(numpy.int64)


def _instant(seconds: NDArray[Any], nanos: NDArray[Any]) -> NDArray[Any]:
    kept = _whole(seconds).clip(-_FURTHEST, _FURTHEST)
    positions: NDArray[Any] = kept * 1_000 + _whole(nanos) // _NANOS
    return positions


def _local(days: NDArray[Any], nanos: NDArray[Any]) -> NDArray[Any]:
    most = 1_000 * _FURTHEST // _DAY
    positions: NDArray[Any] = _whole(days).clip(-most, most) * _DAY + _whole(nanos) // _NANOS
    return positions


_UNITS: Final[Mapping[SchemaType, tuple[str, Callable[..., NDArray[Any]]]]] = {
    **dict.fromkeys(
        (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64), (INTEGER, _whole)
    ),
    **dict.fromkeys((SchemaType.FLOAT, SchemaType.DOUBLE), (NUMBER, as_doubles)),
    **dict.fromkeys(
        (SchemaType.DATE, SchemaType.TIME, SchemaType.TIMESTAMP), ("timestamp", _whole)
    ),
    SchemaType.INSTANT: ("timestamp", _instant),
    SchemaType.LOCAL_DATE: ("date", _whole),
    SchemaType.LOCAL_TIME: ("time", lambda nanos: _whole(nanos) // _NANOS),
    SchemaType.LOCAL_DATE_TIME: ("local-timestamp", _local),
}
"""By type: the unit of its numbers, and how its parts make them."""


def _outside(rows: Column, verdicts: Verdicts, part: Part, offset: int) -> NDArray[numpy.bool_]:
    """Which rows hold a number that Java refuses; only rows of the right size are looked at."""
    failing = numpy.zeros(len(rows.starts), numpy.bool_)
    whole = numpy.flatnonzero(verdicts.read)
    numbers = _numbers(rows, whole, offset, 8)
    if part.carried:  # beyond 64 bits it comes out at the other end, where it is outside, too
        numbers = numbers + _numbers(rows, whole, offset + 8, 4) // part.carried
    within = part.within or range(0)
    failing[whole] = (numbers < within.start) | (numbers >= within.stop)
    return failing


def _numbers(rows: Column, which: NDArray[Any], offset: int, size: int) -> NDArray[numpy.int64]:
    places = rows.starts[which, None] + (offset + numpy.arange(size))
    big_endian = rows.data[places].view(f">i{size}")
    return numpy.asarray(big_endian.ravel(), numpy.int64)


def _out_of_range(part: Part) -> Reason:
    return Reason("", f"{part.name} out of range")


# STRING, and the types whose value is the payload as it is.


class Opaque:
    """BYTES and NONE: every payload is a value."""

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Nothing fails."""
        return Walk(verdicts=numpy.zeros(len(payloads), numpy.int32), counts=_read(len(payloads)))

    def read(self, payload: bytes) -> bytes:
        """The payload."""
        return payload

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - what any RowReader answers
        """The value, if it is bytes."""
        if not isinstance(value, bytes):
            raise Unreadable(Reason("", "not a value of BYTES"), "not a value of BYTES")
        return value


class Text:
    """STRING: Java puts U+FFFD where a payload is not UTF-8, so that nothing fails.

    Such a value is counted as CHANGED.
    """

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Which texts Java changes."""
        counts = _read(len(payloads))
        if changed := _not_utf8(to_binary(payloads)):
            counts[CountKey("", CountKind.CHANGED)] = changed
        return Walk(verdicts=numpy.zeros(len(payloads), numpy.int32), counts=counts)

    def read(self, payload: bytes) -> str:
        """The text as Java reads it."""
        return payload.decode() if _is_utf8(payload) else java_text(payload)

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - what any RowReader answers
        """The text in UTF-8; what has no UTF-8 is written as a question mark, as Java does."""
        if not isinstance(value, str):
            raise Unreadable(Reason("", "not a value of STRING"), "not a value of STRING")
        return value.encode("utf-8", "replace")


def _read(rows: int) -> Counter[CountKey]:
    return Counter({CountKey("", CountKind.READ): rows} if rows else {})


def _not_utf8(payloads: pyarrow.BinaryArray) -> int:
    rows = column(payloads)
    if not len(rows.starts) or not (rows.data[rows.starts[0] : rows.ends[-1]] & 0x80).any():
        return 0
    return sum(not _is_utf8(payload) for payload in payloads.to_pylist())


def _is_utf8(payload: bytes) -> bool:
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True


# Every one is its own row reader and row writer.


def _primitive(kind: SchemaType) -> Fixed | Text | Opaque:
    if kind in FORMS:
        return Fixed(kind)
    return Text() if kind is SchemaType.STRING else Opaque()


def _kernel(
    _writer: SchemaInfo, reader: SchemaInfo, _logical_types: LogicalTypes
) -> Fixed | Text | Opaque:
    return _primitive(reader.type)


def _row_writer(schema: SchemaInfo) -> Fixed | Text | Opaque:
    return _primitive(schema.type)


KERNELS: Final = Kernels(kernel=_kernel, row_reader=_kernel, row_writer=_row_writer)
