"""A column that is walked in pieces gives what it gives as a whole."""

from __future__ import annotations

import pyarrow
import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel import payload_column
from gitops.replay.kernel.schema_types import kernel_for

INFO = SchemaInfo(
    type=SchemaType.JSON,
    schema='{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}',
)
PAYLOADS = [b'{"a":1}', b"x", b"", b'{"a":"b"}', b'{"a":2}', b"y" * 30, b'{"a":3}']


@pytest.mark.parametrize("most", [(1, 100), (10, 100), (2**20, 1), (2**20, 2), (20, 3)])
def test_pieces_make_a_whole(monkeypatch: pytest.MonkeyPatch, most: tuple[int, int]) -> None:
    kernel = kernel_for(INFO, INFO)
    column = pyarrow.array([b"", *PAYLOADS], pyarrow.binary()).slice(1)
    whole = kernel.walk(column)
    monkeypatch.setattr(payload_column, "MOST_BYTES", most[0])
    monkeypatch.setattr(payload_column, "MOST_ROWS", most[1])
    walk = kernel.walk(column)
    assert walk.verdicts.tolist() == whole.verdicts.tolist() == [0, 1, 2, 3, 0, 1, 0]
    assert (walk.reasons, walk.counts) == (whole.reasons, whole.counts)
    assert len(kernel.walk(column.slice(0, 0)).verdicts) == 0
