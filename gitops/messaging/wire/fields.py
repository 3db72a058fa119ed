"""Fields of many protobuf messages at once, by numpy: what Python would do for each takes longer.

https://protobuf.dev/programming-guides/encoding has the encoding.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy
from numpy.typing import NDArray

from gitops.messaging.errors import ProtocolError

Integers = NDArray[numpy.int64]
Octets = NDArray[numpy.uint8]
Flags = NDArray[numpy.bool_]

PADDING: Final = bytes(32)
"""What follows the messages, so that a number that ends them may be looked for behind them."""

_MOST_FIELDS: Final = 10_000
"""Of one message; each takes a turn of all."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Fields(NamedTuple):
    """Fields of messages, each an array of all: first fields first, of one message in its order.

    `owners` are the numbers of their messages, `values` their numbers or, where `kinds` says bytes,
    how many, from the places `starts` on.
    """

    owners: Integers
    numbers: Integers
    kinds: Integers
    values: Integers
    starts: Integers

    def select(self, chosen: Flags | Integers) -> Fields:
        """Some of them."""
        return Fields(*(values[chosen] for values in self))

    @property
    def is_bytes(self) -> Flags:
        """Which are texts, bytes or messages."""
        positions: Flags = self.kinds == _BYTES
        return positions

    @property
    def is_number(self) -> Flags:
        """Which are integers, enums or booleans."""
        positions: Flags = self.kinds == _VARINT
        return positions


def scan_fields(data: Octets, starts: Integers, ends: Integers) -> Fields:
    """The fields of the messages between two places each; raises ProtocolError.

    `data` ends with PADDING.
    """
    owners = numpy.flatnonzero(starts < ends)
    at, ends = starts[owners], ends[owners]
    fields = [Fields(*(numpy.zeros(0, numpy.int64),) * len(Fields._fields))]
    for _ in range(_MOST_FIELDS):
        if not len(owners):
            return Fields(*map(numpy.concatenate, zip(*fields, strict=True)))
        tags, at = _numbers(data, at)
        values, contents = _numbers(data, at)
        kinds = tags & 7
        at = _next(kinds, values, at, contents)
        if (at > ends).any():
            raise ProtocolError("the server sent metadata of a message that are not whole")
        fields.append(Fields(owners, tags >> 3, kinds, values, contents))
        column = at < ends
        if not column.all():
            owners, at, ends = owners[column], at[column], ends[column]
    raise ProtocolError(f"the server sent a message with more than {_MOST_FIELDS} fields")


def _next(kinds: Integers, values: Integers, at: Integers, contents: Integers) -> Integers:
    """Where the next fields are."""
    sizes = numpy.where(kinds == _BYTES, values, 0)
    if ((sizes < 0) | (sizes > _LONGEST)).any():
        raise ProtocolError("the server sent metadata of a message that are not whole")
    positions = contents + sizes
    if ((kinds != _VARINT) & (kinds != _BYTES)).any():
        if not numpy.isin(kinds, (_VARINT, _FIXED64, _BYTES, _FIXED32)).all():
            raise ProtocolError("the server sent metadata of a message that cannot be read")
        positions = numpy.where(kinds == _FIXED64, at + 8, positions)
        positions = numpy.where(kinds == _FIXED32, at + 4, positions)
    return positions


_LONGEST: Final = 2**31 - 1
_SHIFTS: Final = range(7, 64, 7)


def _numbers(data: Octets, at: Integers) -> tuple[Integers, Integers]:
    """The numbers in seven bits a byte, and what follows them."""
    octets = data[at].astype(numpy.int64)
    values, at = octets & 127, at + 1
    long = numpy.flatnonzero(octets > 127)  # noqa: PLR2004 - the eighth bit
    for shift in _SHIFTS:
        if not len(long):
            return values, at
        octets = data[at[long]].astype(numpy.int64)
        values[long] |= (octets & 127) << shift
        at[long] += 1
        long = long[octets > 127]  # noqa: PLR2004 - as above
    if len(long):
        raise ProtocolError("the server sent a number of more than ten bytes")
    return values, at
