"""Whole numbers that a reader takes as numbers with a point."""

from __future__ import annotations

from typing import Final

import numpy
from numpy.typing import NDArray

_EXACT: Final = {True: 2**24, False: 2**53}
"""Below that every whole number is one of 32, of 64 bits."""

_OUTSIDE: Final = 2.0**63


def changed_numbers(numbers: NDArray[numpy.int64], single: bool) -> NDArray[numpy.int64]:  # noqa: FBT001
    """The indexes of the numbers that are another one afterwards."""
    limit = _EXACT[single]
    if numbers.max() <= limit and numbers.min() >= -limit:
        return numpy.empty(0, numpy.int64)
    taken = numbers.astype(numpy.float32 if single else numpy.float64).astype(numpy.float64)
    outside = taken >= _OUTSIDE
    back = numpy.where(outside, 0, taken).astype(numpy.int64)
    return numpy.flatnonzero(outside | (back != numbers))
