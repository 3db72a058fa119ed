"""Answers add up, in whatever order and pieces they come."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.replay import counts as merging
from gitops.replay.counts import (
    ChangedValue,
    Counts,
    Example,
    FailedRows,
    ForwardMessage,
    Key,
    Limits,
    PartResult,
    Tally,
    decode,
    encode,
    lowest_hashes,
    merge,
    natural_order,
    sorted_result,
)
from gitops.replay.histograms import histogram_of

LIMITS = Limits(examples=3, forward_rows={"t": 4})

wheres = st.builds(lambda file, row: f"{file}#{row}", st.sampled_from("ab"), st.integers(1, 30))
numbers = st.integers(0, 5)
values = st.builds(
    ChangedValue,
    file=st.sampled_from("ab"),
    row=st.integers(-1, 30),
    digest=st.sampled_from([b"", b"d"]),
    reason=st.sampled_from("rs"),
)
counts = st.builds(
    Counts,
    read=numbers,
    changed=numbers,
    symbols=st.dictionaries(st.sampled_from("XY"), numbers),
    histograms=st.dictionaries(
        st.sampled_from(["integer", "date"]),
        st.lists(st.integers(-(2**62), 2**62)).map(
            lambda its: histogram_of(numpy.array(its, numpy.int64))
        ),
    ),
    example=st.none() | values,
)
failures = st.lists(
    st.builds(
        FailedRows,
        path=st.just(""),
        reason=st.sampled_from(["r", "s"]),
        rows=numbers,
        examples=st.lists(
            st.builds(
                Example,
                wheres,
                st.sampled_from("mn"),
                st.sampled_from([None, "v"]),
                st.sampled_from([b"", b"d"]),
            ),
            max_size=3,
            unique=True,
        ),
    ),
    max_size=2,
    unique_by=lambda one: one.reason,
)
tallies = st.builds(
    Tally,
    rows=numbers,
    failed=numbers,
    failures=failures,
    fields=st.dictionaries(st.sampled_from("pq"), counts),
)
keys = st.builds(Key, topic=st.just("t"), version=st.sampled_from([None, 1, 2]), reader=st.just(""))
chosen = st.lists(
    st.builds(
        ForwardMessage,
        hash=st.integers(0, 9),
        where=wheres,
        sample=st.just(0),
        payload=st.binary(max_size=2),
    ),
    max_size=5,
)
answers = st.builds(
    PartResult,
    rows=numbers,
    tallies=st.dictionaries(keys, tallies),
    unread=st.lists(
        st.tuples(st.just("t"), numbers, st.just("file"), st.just("why"), st.just("")), max_size=1
    ),
    chosen=st.dictionaries(st.tuples(st.just("t"), st.sampled_from([1, 2])), chosen),
)


def merged(parts: list[bytes]) -> bytes:
    total = PartResult()
    for part in parts:
        merge(total, decode(part), LIMITS)
    return encode(sorted_result(total))


@pytest.mark.slow
@given(st.lists(answers, max_size=5), st.randoms(use_true_random=False))
def test_neither_order_nor_pieces_make_a_difference(
    found: list[PartResult], chance: random.Random
) -> None:
    parts = [encode(each) for each in found]
    shuffled = chance.sample(parts, len(parts))
    middle = len(parts) // 2
    assert merged(parts) == merged(shuffled)
    assert merged(parts) == merged([merged(parts[:middle]), merged(parts[middle:])])


def test_what_travels_comes_back() -> None:
    key = Key(topic="t", version=None, reader="proposed", sample=2)
    one = ForwardMessage(2**64 - 1, "a#1", 0, b"\xff")
    sent = PartResult(
        rows=3,
        tallies={
            key: Tally(rows=3, failures=[FailedRows("p", "r", 1, [Example("a#1", "m", None)])])
        },
        unread=[("t", 0, "file", "why", "hint")],
        chosen={("t", 1): [one]},
    )
    assert decode(encode(sent)) == sent


def test_rows_stand_in_the_order_of_their_numbers() -> None:
    long = "a#" + "9" * 5_000  # of a message's own id, which is no number of a row
    places = ["a#9", "a#10", "b#1", "5:10:-1", "5:2:0", "5:2:-1", "10:1:-1:0", "a#x", long]
    found = sorted(places, key=natural_order)
    ids = ["5:2:-1", "5:2:0", "5:10:-1", "10:1:-1:0"]
    assert found == [*ids, "a#9", "a#10", long, "a#x", "b#1"]
    assert all(natural_order(one) < natural_order(other) for one, other in pairwise(found))


def test_few_large_payloads_are_kept() -> None:
    size = merging.MOST_CHOSEN_BYTES // 2
    found = [ForwardMessage(number, "a", 0, bytes(size)) for number in (3, 1, 2)]
    assert [one.hash for one in lowest_hashes(found, 10)] == [1, 2]


@given(st.lists(st.binary(max_size=30), max_size=12), st.integers(0, 12))
def test_few_large_payloads_are_the_same_however_they_are_cut(
    payloads: list[bytes], cut: int
) -> None:
    found = [ForwardMessage(number, "a", 0, payload) for number, payload in enumerate(payloads)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "MOST_CHOSEN_BYTES", 32)
        parts = (lowest_hashes(found[:cut], 10), lowest_hashes(found[cut:], 10))
        assert lowest_hashes([*parts[1], *parts[0]], 10) == lowest_hashes(found, 10)
