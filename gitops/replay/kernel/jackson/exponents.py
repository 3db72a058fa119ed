"""Rows of JSON with numbers whose exponents are so long that decoders read them as zero or not."""

from __future__ import annotations

from typing import Final

import numpy
from numpy.typing import NDArray

from gitops.replay.kernel.columns import Column

LONG: Final = 9
"""Digits of an exponent; those of fewer leave any BigDecimal its scale."""

_E, _LOWER = ord("e"), 0x20
_ZERO, _TEN = ord("0"), 10


def with_long_exponents(rows: Column) -> NDArray[numpy.int64]:
    """The rows (rising) that hold an exponent of so many digits, or text that looks like one."""
    if not len(rows.starts):
        return numpy.zeros(0, numpy.int64)
    first = rows.starts[0]
    data = rows.data[first : rows.ends[-1]]
    digits = data - numpy.uint8(_ZERO) < _TEN
    at = numpy.flatnonzero((data[1:] | _LOWER == _E) & digits[:-1]) + 2
    signs = data.take(at, mode="clip")
    at = at + ((signs == ord("+")) | (signs == ord("-")))
    for behind in range(LONG):
        at = at[digits.take(at + behind, mode="clip")]
    return numpy.unique(rows.starts.searchsorted(at + first, side="right") - 1)
