"""Whole numbers as numbers with a point."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.replay.kernel.avro.rows import rounded_numbers, single_of

LONGS = st.integers(-(2**63), 2**63 - 1)
NEAR = st.builds(
    lambda power, off: power * 2 + off, st.sampled_from([2**23, 2**52]), st.integers(-9, 9)
)


@given(st.lists(LONGS | NEAR | st.sampled_from([2**63 - 1, -(2**63), 2**62]), min_size=1))
@pytest.mark.parametrize("reads", ["float", "double"])
def test_a_number_changes_if_it_is_another_one_afterwards(reads: str, numbers: list[int]) -> None:
    found = rounded_numbers(numpy.array(numbers, numpy.int64), reads)

    taken = [single_of(number) if reads == "float" else float(number) for number in numbers]
    pairs = enumerate(zip(numbers, taken, strict=True))
    assert found.tolist() == [index for index, (number, other) in pairs if number != other]


@given(LONGS | NEAR)
def test_a_long_is_rounded_once(number: int) -> None:
    assert single_of(number) == float(numpy.int64(number).astype(numpy.float32))
