"""Histograms of numbers that add up: the same bins in whatever pieces the numbers come.

The width of the bins is a power of two, the smallest with which there are at most MOST_BINS from
the least number to the greatest. Each bin begins at a multiple of the width, so that two of them
are one bin of twice the width: the counts are exact, and nothing but the numbers decides them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

if TYPE_CHECKING:  # a check without a replay does without it
    from numpy.typing import NDArray

MOST_BINS: Final = 32
_DIGITS: Final = 53
"""Of a double: narrower bins than its last digit say nothing."""
_LOWEST: Final = -1074
"""The exponent of the smallest double."""


class Histogram(Struct):
    """`bins` are counts by number n: of the values from n * 2**exponent to below the next.

    `least` and `most` are of the values in bins; `other` are those that are no number: NaN, the
    infinities, and what is beyond a double.
    """

    exponent: int = 0
    bins: dict[int, int] = field(default_factory=dict)
    least: int | float = 0
    most: int | float = 0
    other: int = 0


def histogram_of(numbers: NDArray[Any]) -> Histogram:
    """Of whole numbers (int64) or of others (float64)."""
    import numpy

    if numbers.dtype != numpy.int64:
        finite = numbers[numpy.isfinite(numbers)]
        other, numbers = len(numbers) - len(finite), finite
    else:
        other = 0
    if not len(numbers):
        return Histogram(other=other)
    least, most = numbers.min().item(), numbers.max().item()
    exponent = _exponent(least, most)
    positions, counts = numpy.unique(_bins(numbers, exponent), return_counts=True)
    bins = dict(zip(positions.tolist(), counts.tolist(), strict=True))
    return Histogram(exponent=exponent, bins=bins, least=least, most=most, other=other)


def add_histogram(into: Histogram, histogram: Histogram) -> None:
    """Add the counts of the other one, which stays as it is."""
    into.other += histogram.other
    if not histogram.bins:
        return
    if into.bins:
        into.least, into.most = min(into.least, histogram.least), max(into.most, histogram.most)
    else:
        into.exponent, into.least, into.most = histogram.exponent, histogram.least, histogram.most
    exponent = max(into.exponent, histogram.exponent, _exponent(into.least, into.most))
    bins = coarser(into.bins, exponent - into.exponent)
    for number, count in coarser(histogram.bins, exponent - histogram.exponent).items():
        bins[number] = bins.get(number, 0) + count
    into.exponent, into.bins = exponent, dict(sorted(bins.items()))


def coarser(bins: dict[int, int], doublings: int) -> dict[int, int]:
    """The same counts in bins whose width is doubled so often."""
    grouped: dict[int, int] = {}
    for number, count in bins.items():
        grouped[number >> doublings] = grouped.get(number >> doublings, 0) + count
    return grouped


def _exponent(least: float, most: float) -> int:
    """The smallest with which no more than MOST_BINS lie between the two."""
    if isinstance(least, int) and isinstance(most, int):
        exponent = max(0, (most - least).bit_length() - MOST_BINS.bit_length())
    else:
        size = max(abs(least), abs(most))
        exponent = max(_LOWEST, math.frexp(size)[1] - _DIGITS) if size else _LOWEST
        if half := most / 2 - least / 2:  # the whole may be beyond a double
            exponent = max(exponent, math.frexp(half)[1] - MOST_BINS.bit_length())
    while _bin(most, exponent) - _bin(least, exponent) >= MOST_BINS:
        exponent += 1
    return exponent


def _bin(number: float, exponent: int) -> int:
    """Scaling by a power of two is exact but for what becomes too small: it keeps its sign."""
    if isinstance(number, int):
        return number >> exponent
    scaled = math.ldexp(number, -exponent)
    return math.floor(scaled) - (scaled == 0 > number)


def _bins(numbers: NDArray[Any], exponent: int) -> NDArray[Any]:
    """The same of a column."""
    import numpy

    if numbers.dtype == numpy.int64:
        return numbers >> exponent
    scaled = numpy.ldexp(numbers, -exponent)
    floor: NDArray[Any] = numpy.floor(scaled) - ((scaled == 0) & (numbers < 0))
    return floor.astype(numpy.int64)


def edge(number: int, exponent: int) -> int | float:
    """Where the bin n begins."""
    return number << exponent if exponent >= 0 else math.ldexp(number, exponent)
