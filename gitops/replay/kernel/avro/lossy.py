"""Whole numbers that a reader takes as numbers with a point."""

from __future__ import annotations

from typing import Final

import numpy
from numpy.typing import NDArray

from gitops.replay.kernel.avro.values import to_float

_DIGITS: Final = {"float": 24, "double": 53}
"""The bits that a number of that kind has for its digits."""

_OUTSIDE: Final = 2.0**63


def changed_numbers(numbers: NDArray[numpy.int64], reads: str) -> NDArray[numpy.int64]:
    """The indexes of the numbers that are another one as `float` or `double`."""
    limit = 2 ** _DIGITS[reads]
    if numbers.max() <= limit and numbers.min() >= -limit:
        return numpy.empty(0, numpy.int64)
    kind = numpy.float32 if reads == "float" else numpy.float64
    taken = numbers.astype(kind).astype(numpy.float64)
    outside = taken >= _OUTSIDE
    back = numpy.where(outside, 0, taken).astype(numpy.int64)
    return numpy.flatnonzero(outside | (back != numbers))


def single_of(number: int) -> float:
    """The nearest number of 32 bits, half to even, as Java's cast rounds."""
    size = abs(number)
    spare = size.bit_length() - _DIGITS["float"]
    if spare > 0:  # by hand: the way over 64 bits would round twice
        low = size & ((1 << spare) - 1)
        half = 1 << (spare - 1)
        size >>= spare
        size = (size + (low > half or (low == half and size & 1))) << spare
    return to_float(float(size if number >= 0 else -size))
