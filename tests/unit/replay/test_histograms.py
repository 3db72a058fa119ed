"""Histograms of the same numbers are equal, in whatever pieces and order they come."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gitops.replay.histograms import (
    MOST_BINS,
    Histogram,
    add_histogram,
    coarser,
    edge,
    histogram_of,
)

_WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 100)
_FRACTION = st.floats(width=64) | st.floats(5, 6)
_columns = st.lists(_WHOLE).map(lambda its: numpy.array(its, numpy.int64)) | st.lists(
    _FRACTION
).map(lambda its: numpy.array(its, numpy.float64))


@given(_columns, st.lists(st.integers(0, 30), max_size=4), st.randoms(use_true_random=False))
def test_pieces_add_up(numbers: NDArray[Any], cuts: list[int], random: Any) -> None:  # noqa: ANN401
    pieces = numpy.split(numbers, sorted(min(cut, len(numbers)) for cut in cuts))
    random.shuffle(pieces)
    total = Histogram()
    for piece in pieces:
        add_histogram(total, histogram_of(piece))
    assert total == histogram_of(numbers)


@given(_columns)
def test_every_number_lies_in_its_bin(numbers: NDArray[Any]) -> None:
    found = histogram_of(numbers)
    kept = [one for one in numbers.tolist() if math.isfinite(one)]
    assert found.other == len(numbers) - len(kept)
    assert sum(found.bins.values()) == len(kept)
    if kept:
        assert (found.least, found.most) == (min(kept), max(kept))
        assert max(found.bins) - min(found.bins) < MOST_BINS
        for number, count in found.bins.items():
            start = edge(number, found.exponent)
            assert count == sum(start <= one < start + edge(1, found.exponent) for one in kept)


@pytest.mark.parametrize(
    ("numbers", "exponent", "bins"),
    [
        ([3, 3, 5], 0, {3: 2, 5: 1}),
        ([0, 31], 0, {0: 1, 31: 1}),
        ([0, 32], 1, {0: 1, 16: 1}),
        ([-1, 0], 0, {-1: 1, 0: 1}),
    ],
)
def test_whole_numbers(numbers: list[int], exponent: int, bins: dict[int, int]) -> None:
    found = histogram_of(numpy.array(numbers, numpy.int64))
    assert (found.exponent, found.bins) == (exponent, bins)


def test_fractions_have_narrow_bins() -> None:
    found = histogram_of(numpy.array([0.25, 0.5, 0.75]))
    assert found.exponent < 0
    assert coarser(found.bins, -found.exponent) == {0: 3}
