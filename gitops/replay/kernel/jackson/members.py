"""How many members the objects of each payload have, told from the bytes alone."""

from __future__ import annotations

from typing import Final

import numpy
from numpy.typing import NDArray

from gitops.replay.kernel.columns import Column

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
    found: NDArray[numpy.int64] = totals[before[1]] - totals[before[0]]
    return found


def _bytes(data: NDArray[numpy.uint8], at: NDArray[numpy.int64]) -> NDArray[numpy.uint8]:
    """What stands there; before the first byte, that one."""
    return data.take(at, mode="clip")
