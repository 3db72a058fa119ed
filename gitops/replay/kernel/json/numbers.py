"""Numbers in JSON text, many at once, and rows whose exponents are too long for a decoder."""

from __future__ import annotations

from typing import Final

import numpy
import pyarrow
import pyarrow.compute
from numpy.typing import NDArray

from gitops.replay.kernel.payload_column import Column

# Numbers in JSON text, many at once: which have a form that leaves nothing to ask.

Positions = NDArray[numpy.int64]
Mask = NDArray[numpy.bool_]
Words = NDArray[numpy.uint64]

MOST: Final = 24
"""Characters of a number that is looked at here, without its sign."""

_WORD: Final = 8
_EVERY: Final = 0x0101010101010101
_HIGH: Final = numpy.uint64(0x80 * _EVERY)
_LOW: Final = numpy.uint64(0x7F * _EVERY)
_ZEROS: Final = numpy.uint64(ord("0") * _EVERY)
_TO_HIGH: Final = numpy.uint64((0x80 - 10) * _EVERY)
_POINTS: Final = numpy.uint64((ord("0") ^ ord(".")) * _EVERY)
_LAST: Final = numpy.array(
    [(2**64 - 1) >> (8 * (_WORD - size)) << (8 * (_WORD - size)) for size in range(_WORD + 1)],
    numpy.uint64,
)
"""Of a word: its last so many bytes."""


class Numbers:
    """Text from each `start` to its `end`; `words` (little-endian) has one for each position."""

    def __init__(
        self, data: NDArray[numpy.uint8], words: Words, at: Positions, end: Positions
    ) -> None:
        self._data, self._words, self._end = data, words, end
        self._start = at + (data[at] == ord("-"))
        self.size = end - self._start

    def whole(self, digits: int) -> Mask:
        """Which are whole, with at most so many digits."""
        fits: Mask = (self.size > 0) & (self.size <= digits)
        others, _ = self._others(min(digits, MOST))
        fits &= (others == 0) & ((self._data[self._start] != ord("0")) | (self.size == 1))
        return fits

    def decimal(self, digits: int) -> Mask:
        """Which are whole or have a point and digits on both sides, and no exponent."""
        fits: Mask = (self.size > 0) & (self.size <= digits)
        others, points = self._others(min(digits, MOST))
        first, second = self._data[self._start], self._data[self._start + 1]
        plain = (others == points) & (points <= 1)
        plain &= (first != ord(".")) & (self._data[self._end - 1] != ord("."))
        fits &= plain & ((first != ord("0")) | (self.size == 1) | (second == ord(".")))
        return fits

    def _others(self, most: int) -> tuple[Words, Words]:
        """How many characters are no digits, and how many are points; right up to `most`."""
        others = numpy.zeros(len(self.size), numpy.uint64)
        points = numpy.zeros(len(self.size), numpy.uint64)
        size = numpy.maximum(numpy.minimum(self.size, most), 0)
        for behind in range(0, int(size.max(initial=0)), _WORD):
            mask = _LAST.take(size - behind, mode="clip")
            positions = self._words[self._end - (behind + _WORD)] ^ _ZEROS
            no_digit = ((positions & _LOW) + _TO_HIGH | positions) & _HIGH & mask
            others += _count(no_digit)
            if no_digit.any():
                differs = positions ^ _POINTS
                no_point = ((differs & _LOW) + _LOW | differs) & _HIGH
                points += _count(~no_point & no_digit)
        return others, points


def _count(high: Words) -> Words:
    """How many bytes of each word have their highest bit; no byte has another one."""
    return (high >> numpy.uint64(7)) * numpy.uint64(_EVERY) >> numpy.uint64(56)


def values(data: pyarrow.Buffer, start: Positions, end: Positions) -> NDArray[numpy.float64]:
    """Decimal numbers as the nearest 64-bit ones."""
    value = pyarrow.compute.cast(texts(data, start, end), pyarrow.float64())
    numbers: NDArray[numpy.float64] = value.to_numpy(zero_copy_only=False)[::2]
    return numbers


def texts(data: pyarrow.Buffer, start: Positions, end: Positions) -> pyarrow.LargeStringArray:
    """The texts, and between two of them what is null; positions rise."""
    count = len(start)
    bounds = numpy.empty(2 * count, numpy.int64)
    bounds[::2], bounds[1::2] = start, end
    present = numpy.full((2 * count + 7) // 8, 0x55, numpy.uint8)
    return pyarrow.Array.from_buffers(
        pyarrow.large_string(),
        2 * count - 1,
        [pyarrow.py_buffer(present), pyarrow.py_buffer(bounds), data],
        count - 1,
    )


# Rows of JSON with numbers whose exponents are so long that decoders read them as zero or not.


LONG: Final = 9
"""Digits of an exponent; those of fewer leave any BigDecimal its scale."""

_E, _LOWER = ord("e"), 0x20
_ZERO, _TEN = ord("0"), 10


def rows_with_long_exponents(rows: Column) -> NDArray[numpy.int64]:
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
