"""What Spark's workers make of rows that have no order."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import pyarrow
import pytest

from gitops.replay.counts import Tally, sorted_result
from gitops.replay.engines.spark_tasks import LATER, deep_work, merge_task, part_results, row_task
from gitops.replay.job import Job, Owner
from tests.support.pairs_kernel import PAIRS, sample, topic_replay

NUMBERS = [number * 37 % 61 for number in range(60)]
REPLAY = topic_replay(sample("lake.orders", format="table", version=0))
JOB = Job(replays={str(REPLAY.topic): REPLAY}, kernels=PAIRS)


def answer(*parts: Sequence[int]) -> list[Tally]:
    """What is counted of rows of one table, which are told by numbers only."""
    found = []
    for numbers in parts:
        rows = pyarrow.RecordBatch.from_pydict(
            {
                "payload": pyarrow.array([b"a=x"] * len(numbers), pyarrow.binary()),
                "row": pyarrow.array(numbers, pyarrow.int64()),
            }
        )
        names = {name: name for name in rows.schema.names}
        owners = [Owner(str(REPLAY.topic), 0)]
        work = row_task(JOB, owners, names, "lake.orders", in_order=False)
        found += list(work(iter([rows])))
    (merged,) = part_results(merge_task(JOB.limits)(iter(found)))
    return list(sorted_result(merged).tallies.values())


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_the_lowest_rows_are_shown_however_a_table_is_cut(parts: int) -> None:
    found = answer(*(NUMBERS[part::parts] for part in range(parts)))
    (failed,) = found[0].failures
    assert failed.rows == 60
    lowest = [f"lake.orders#{number}" for number in sorted(NUMBERS)[:5]]
    assert [one.where for one in failed.examples] == lowest


def test_rows_of_another_pass_are_counted_and_keep_their_numbers() -> None:
    rows = pyarrow.RecordBatch.from_pydict(
        {
            "payload": pyarrow.array([b"a=x", None, b"a=x", None, b"a=x"], pyarrow.binary()),
            "file": ["one", "one", "one", "two", "two"],
            "row": pyarrow.array([0, LATER, 0, LATER, 0], pyarrow.int64()),
        }
    )
    names = {name: name for name in rows.schema.names}
    owners = [Owner(str(REPLAY.topic), 0)]
    (found,) = part_results(row_task(JOB, owners, names, "lake", in_order=True)(iter([rows])))
    (tally,) = found.tallies.values()
    assert (found.rows, found.later, tally.rows) == (3, 2, 3)
    assert [one.where for one in tally.failures[0].examples] == ["one#1", "one#3", "two#2"]


def test_a_worker_has_room_for_the_deepest_definitions() -> None:
    limits: list[int] = []

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        limits.append(sys.getrecursionlimit())
        return batches

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)  # as a worker begins
    try:
        assert list(deep_work(work)(iter(()))) == []
    finally:
        sys.setrecursionlimit(before)
    assert limits[0] >= 20_000
