"""Rows of files that come in their order are numbered as they stand in them."""

from __future__ import annotations

import pyarrow
import pytest

from gitops.replay.engines.spark_tasks import RowsInOrder

FILES = [*"aaaaa", *"b", *"ccc"]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 9])
def test_rows_are_counted_from_one_in_each_file_however_batches_are_cut(size: int) -> None:
    in_order = RowsInOrder()
    found: list[int] = []
    for start in range(0, len(FILES), size):
        files = FILES[start : start + size]
        batch = pyarrow.RecordBatch.from_pydict({"file": files, "row": [0] * len(files)})
        found += in_order.numbered(batch).column("row").to_pylist()
    assert found == [1, 2, 3, 4, 5, 1, 1, 2, 3]


def test_a_batch_without_rows_stays_as_it_is() -> None:
    nothing = {"file": pyarrow.array([], pyarrow.string()), "row": pyarrow.array([], "int64")}
    batch = pyarrow.RecordBatch.from_pydict(nothing)
    assert RowsInOrder().numbered(batch).equals(batch)
