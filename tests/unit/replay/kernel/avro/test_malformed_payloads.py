"""Bytes that nobody wrote: each is stopped at its place, in columns and by itself."""

from __future__ import annotations

from typing import Any

import pyarrow
import pytest

from gitops.replay.kernel.avro import row_counts
from gitops.replay.kernel.avro.kernel import AvroKernel
from gitops.replay.kernel.protocol import Reason, Unreadable
from tests.replay.avro_rows import by_columns
from tests.support.avro_kernels import plan_of, reader_of

NODE = {
    "type": "record",
    "name": "Node",
    "fields": [
        {"name": "next", "type": ["null", "Node"]},
        {"name": "all", "type": {"type": "array", "items": "Node"}},
    ],
}
NULLS = {"type": "array", "items": "null"}
LONGS = {"type": "array", "items": "long"}
FLOATS = {"type": "array", "items": "float"}
TEXTS = {"type": "map", "values": "string"}
KIND = {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}
PAIR = {
    "type": "record",
    "name": "Pair",
    "fields": [{"name": "a", "type": LONGS}, {"name": "b", "type": "boolean"}],
}
HUGE = "80 80 80 80 80 80 80 80 80 01"  # 2^62
LEAST = "ff ff ff ff ff ff ff ff ff 01"  # -2^63

CASES: list[tuple[Any, str, str, str]] = [
    ("int", "", "", row_counts.ENDS),
    ("int", "80", "", row_counts.ENDS),
    ("int", "ff ff ff ff 0f", "", ""),
    ("int", "80 80 80 80 10", "", row_counts.INT),
    ("int", "80 80 80 80 80 00", "", row_counts.INT),
    ("int", "80 80 80 80 00", "", ""),
    ("long", "80 80 80 80 80 80 80 80 80 80 00", "", row_counts.LONG),
    ("long", "ff ff ff ff ff ff ff ff ff 01", "", ""),
    ("long", "ff ff ff ff ff ff ff ff ff 02", "", row_counts.LONG),
    ("long", "02 00", "", row_counts.LEFT),
    ("null", "", "", ""),
    ("null", "00", "", row_counts.LEFT),
    ("boolean", "02", "", row_counts.BOOLEAN),
    ("float", "00 00 00", "", row_counts.ENDS),
    ("string", "01", "", row_counts.LENGTH),
    ("string", LEAST, "", row_counts.LENGTH),
    ("string", "04 61", "", row_counts.ENDS),
    ("string", HUGE, "", row_counts.ENDS),
    ("bytes", "fe ff ff ff ff ff ff ff ff 01", "", row_counts.ENDS),
    (KIND, "04", "", row_counts.SYMBOL),
    (KIND, "01", "", row_counts.SYMBOL),
    (["null", "int"], "04", "", row_counts.BRANCH),
    (["null", "int"], "01", "", row_counts.BRANCH),
    ([], "00", "", row_counts.BRANCH),
    (LONGS, "02 02", "", row_counts.ENDS),
    (LONGS, HUGE, "", row_counts.COUNT),
    (LONGS, LEAST + "00", "", row_counts.COUNT),
    (LONGS, "03 04 02 04 00", "", ""),
    (LONGS, "03 02 02 04 00", "", row_counts.BLOCK),
    (LONGS, "03 06 02 04 00", "", row_counts.BLOCK),
    (LONGS, "03 01 02 04 00", "", row_counts.BLOCK),
    (LONGS, "03" + HUGE + "02 04 00", "", row_counts.BLOCK),
    (LONGS, "03 04 02 04 03 04 02 04 00", "", ""),
    (FLOATS, "02 00 00 00", "", row_counts.COUNT),
    (FLOATS, "02 00 00 00 00", "", row_counts.ENDS),
    (NULLS, "d0 0f 00", "", ""),
    (NULLS, "d2 0f 00", "", row_counts.EMPTY),
    (NULLS, "90 03 90 03 90 03 90 03 90 03 02 00", "", row_counts.EMPTY),
    (NULLS, HUGE + "00", "", row_counts.EMPTY),
    (NULLS, LEAST + "00 00", "", row_counts.EMPTY),
    (TEXTS, "02 01", "", row_counts.COUNT),
    (TEXTS, "02 01 00 00", "", row_counts.LENGTH),
    (TEXTS, "02 02 61 06 61 00", "{}", row_counts.ENDS),
    (PAIR, "02 01 00 03", "b", row_counts.BOOLEAN),
    (NODE, "02 02 00 00", "all", row_counts.ENDS),
]


@pytest.mark.parametrize(("schema", "payload", "path", "reason"), CASES)
@pytest.mark.parametrize("few", [0, 16])
def test_bytes_that_nobody_wrote(
    schema: object, payload: str, path: str, reason: str, few: int
) -> None:
    data = bytes.fromhex(payload)
    # A neighbour behind it, whose bytes are none of its own.
    column = pyarrow.array([data, b"\x02" * 20, data], pyarrow.binary())
    expected = Reason(path, reason) if reason else None

    found = by_columns(AvroKernel(plan_of(schema, schema), few=few).walk(column))

    assert found[0] == found[2] == expected
    assert _by_itself(schema, data) == expected


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 16])
@pytest.mark.parametrize("step", [b"\x02", b"\x00\x02"])
def test_a_message_that_nests_without_end_is_stopped(step: bytes, few: int) -> None:
    deep = step * 100_000
    column = pyarrow.array([deep] * 20, pyarrow.binary())
    kernel = AvroKernel(plan_of(NODE, NODE), few=few)

    found = set(by_columns(kernel.walk(column)))

    assert {one.reason for one in found if one} == {row_counts.DEEP}
    assert found == {_by_itself(NODE, deep)}


@pytest.mark.parametrize("few", [0, 16])
def test_what_nests_not_so_deep_is_read(few: int) -> None:
    deep = b"\x02" * 499 + b"\x00" + b"\x00" * 500
    column = pyarrow.array([deep] * 20, pyarrow.binary())

    found = by_columns(AvroKernel(plan_of(NODE, NODE), few=few).walk(column))

    assert set(found) == {None}
    assert _by_itself(NODE, deep) is None


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 16])
def test_a_record_may_hold_itself_as_often_as_it_has_bytes_for(few: int) -> None:
    trees = {"type": "array", "items": "Tree"}
    tree = {"type": "record", "name": "Tree", "fields": [{"name": "all", "type": trees}]}
    wide = bytes.fromhex("a0 1f") + b"\0" * 2000 + b"\0"

    walk = AvroKernel(plan_of(tree, tree), few=few).walk(pyarrow.array([wide, wide[:-1]] * 9))

    assert by_columns(walk)[:2] == [None, Reason("all", row_counts.ENDS)]
    assert _by_itself(tree, wide) is None


def test_what_is_dropped_has_to_be_well_formed_too() -> None:
    writer = {"type": "record", "name": "R", "fields": [{"name": "a", "type": KIND}]}
    reader = {"type": "record", "name": "R", "fields": []}

    found = AvroKernel(plan_of(writer, reader), few=0).walk(
        pyarrow.array([b"\x02", b"\x04", b""], pyarrow.binary())
    )

    assert by_columns(found) == [None, Reason("a", row_counts.SYMBOL), Reason("a", row_counts.ENDS)]


def _by_itself(schema: object, data: bytes) -> Reason | None:
    try:
        reader_of(schema, schema).read(data)
    except Unreadable as error:
        return error.reason
    return None
