"""Types of a fixed size: numbers, booleans, points in time."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any, Final

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.model.schema import SchemaType
from gitops.replay.kernel.avro.reasons import ENDS, LEFT
from gitops.replay.kernel.columns import Column, as_binary, column
from gitops.replay.kernel.primitive.forms import FORMS, Part
from gitops.replay.kernel.verdicts import Verdicts
from gitops.replay.kernel.walk import Counted, Reason, Unreadable, Walk, What

_ENDS: Final = Reason("", ENDS)
_LEFT: Final = Reason("", LEFT)


class Fixed:
    """A Kernel, a RowReader and a RowWriter of one type; a value of several parts is a tuple.

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
        rows = column(as_binary(payloads))
        verdicts = Verdicts(len(payloads))
        verdicts.stop_where(rows.lengths < self._struct.size, _ENDS)
        verdicts.stop_where(rows.lengths > self._struct.size, _LEFT)
        offset = 0
        for part in self._parts:
            if part.within is not None:
                verdicts.stop_where(_outside(rows, verdicts, part, offset), _out_of_range(part))
            offset += struct.calcsize(f">{part.code}")
        read = int(verdicts.read.sum())
        return verdicts.walk(Counter({Counted("", What.READ): read} if read else {}))

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
