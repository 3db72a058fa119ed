"""The messages that are rewritten do not depend on how the data is cut."""

from __future__ import annotations

import pyarrow
import pytest

from gitops.replay.batch_reader import ForwardSelection, hash_bounds
from gitops.replay.batches import MessageLocations, batch, rows_from
from gitops.replay.counts import ForwardMessage, Limits
from gitops.replay.reader_counts import Messages

LIMITS = Limits(examples=5, forward_rows={"t": 20, "none": 0})
ROWS = 1000


def chosen(size: int, *, below: dict[tuple[str, int], int] | None = None) -> list[ForwardMessage]:
    choosing = ForwardSelection(LIMITS, below or {})
    for first in range(0, ROWS, size):
        payload = pyarrow.array([b"%d" % n for n in range(first, first + size)], pyarrow.binary())
        made = batch(payload, "f", row=rows_from(first + 1, size))
        choosing.add("t", 1, 0, Messages(payload, MessageLocations.of(made)))
    return choosing.end().get(("t", 1), [])


@pytest.mark.parametrize("size", [1, 10, 500])
def test_the_same_are_chosen_from_pieces_of_any_size(size: int) -> None:
    found = chosen(size)
    assert found == chosen(ROWS)
    assert len(found) == 20
    assert all(one.where == f"f#{int(one.payload) + 1}" for one in found)


def test_what_others_have_enough_of_is_not_kept() -> None:
    found = chosen(ROWS)
    known = hash_bounds({("t", 1): found, ("t", 2): found[:3]}, LIMITS)
    assert known == {("t", 1): found[-1].hash}
    assert chosen(100, below={("t", 1): found[4].hash}) == found[:5]
    assert not chosen(100, below={("t", 1): found[0].hash - 1})


def test_nothing_is_kept_where_nobody_reads_it() -> None:
    choosing = ForwardSelection(LIMITS, {})
    payload = pyarrow.array([b"x"], pyarrow.binary())
    made = batch(payload, "f")
    choosing.add("none", 1, 0, Messages(payload, MessageLocations.of(made)))
    assert not choosing.end()
