"""Whole columns against single rows."""

from __future__ import annotations

import secrets

import pyarrow
import pytest

from gitops.replay.kernel.avro import kernel, row_counts
from gitops.replay.kernel.avro.kernel import AvroKernel
from gitops.replay.kernel.protocol import CountKey, CountKind, Reason
from tests.replay.avro_rows import by_columns, by_rows, differences, logical_case
from tests.support.avro_kernels import kernel_of, plan_of, reader_of

LINES = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["NEW", "OLD"]}},
        {"name": "lines", "type": {"type": "array", "items": ["null", "long"]}},
        {"name": "attrs", "type": {"type": "map", "values": "bytes"}},
        {"name": "note", "type": "string"},
    ],
}
READER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["NEW"]}},
        {"name": "lines", "type": {"type": "array", "items": ["null", "double"]}},
        {"name": "attrs", "type": {"type": "map", "values": "string"}},
        {"name": "country", "type": "string", "default": "DE"},
    ],
}
GOOD = bytes.fromhex("00 04 00 02 06 00 02 02 6b 02 ff 00 02 61")
OLD = bytes.fromhex("02 00 00 00")


@pytest.mark.slow
def test_columns_and_single_rows_say_the_same() -> None:
    first = secrets.randbelow(10**9)

    found = [
        f"seed {seed}: {difference}"
        for seed, _, difference in differences(first, first + 150, rows=40)
        if difference
    ]

    assert not found


@pytest.mark.slow
def test_columns_and_single_rows_make_the_same_of_logical_types() -> None:
    first = secrets.randbelow(10**9)

    found = [
        f"seed {seed}: {difference}"
        for seed, _, difference in differences(first, first + 150, 40, logical_case)
        if difference
    ]

    assert not found


@pytest.mark.slow
def test_what_long_arrays_count_is_added_up_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_counts, "_MOST", 500)
    first = secrets.randbelow(10**9)

    found = [
        f"seed {seed}: {difference}"
        for seed, _, difference in differences(first, first + 80, rows=40)
        if difference
    ]

    assert not found


def test_what_happens_to_each_value_is_counted_by_path() -> None:
    walk = kernel_of(LINES, READER).walk(pyarrow.array([GOOD] * 20 + [OLD], pyarrow.binary()))

    assert by_columns(walk) == [None] * 20 + [
        Reason("kind", "the reader's enum has neither OLD nor a default")
    ]
    assert walk.counts == {
        CountKey("kind", CountKind.READ): 20,
        CountKey("kind", CountKind.SYMBOL, "NEW"): 20,
        CountKey("lines", CountKind.READ): 20,
        CountKey("lines[]", CountKind.READ): 40,
        CountKey("lines[]", CountKind.NULLS): 20,
        CountKey("lines[]", CountKind.PROMOTED): 20,
        CountKey("lines[]", CountKind.BRANCH, "null"): 20,
        CountKey("lines[]", CountKind.BRANCH, "long"): 20,
        CountKey("attrs", CountKind.READ): 20,
        CountKey("attrs{}", CountKind.READ): 20,
        CountKey("attrs{}", CountKind.PROMOTED): 20,
        CountKey("attrs{}", CountKind.CHANGED): 20,
        CountKey("note", CountKind.DROPPED): 20,
        CountKey("country", CountKind.DEFAULTED): 20,
    }


@pytest.mark.parametrize("number", [1, 20])
def test_a_record_within_itself_is_counted_where_it_stands_and_its_fields_once(number: int) -> None:
    kids = {"name": "kids", "type": {"type": "array", "items": "Node"}}
    node = {"type": "record", "name": "Node", "fields": [{"name": "x", "type": "int"}, kids]}
    new = {**node, "fields": [kids, {"name": "y", "type": "int", "default": 1}]}
    tree, gone = ({"name": name, "type": node} for name in ("tree", "gone"))
    writer = {"type": "record", "name": "R", "fields": [tree, {**gone, "type": "Node"}]}
    reader = {"type": "record", "name": "R", "fields": [{"name": "tree", "type": new}]}
    payload = bytes.fromhex("02 04 02 00 02 00 00") + bytes.fromhex("02 02 02 00 00")

    walk = kernel_of(writer, reader).walk(pyarrow.array([payload] * number, pyarrow.binary()))

    assert walk.counts == {
        CountKey("tree", CountKind.READ): number,
        CountKey("tree.x", CountKind.DROPPED): 3 * number,
        CountKey("tree.y", CountKind.DEFAULTED): 3 * number,
        CountKey("tree.kids", CountKind.READ): 3 * number,
        CountKey("tree.kids[]", CountKind.READ): 2 * number,
        CountKey("gone", CountKind.DROPPED): number,
    }
    assert by_rows(reader_of(writer, reader), [payload] * number) == ([None] * number, walk.counts)


def test_a_row_that_failed_counts_nothing() -> None:
    walk = kernel_of(LINES, READER).walk(pyarrow.array([GOOD[:-1]] * 30, pyarrow.binary()))

    assert set(by_columns(walk)) == {Reason("note", "the message ends too early")}
    assert not walk.counts


@pytest.mark.parametrize("kind", [pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view()])
def test_any_binary_column_and_any_slice_of_one_is_read(kind: pyarrow.DataType) -> None:
    rows = [b"\xff" * 9, *[GOOD] * 30, OLD, b"", GOOD + b"\0"]
    column = pyarrow.array(rows, kind)

    whole = kernel_of(LINES, READER).walk(column)
    part = kernel_of(LINES, READER).walk(column.slice(1, 31))

    assert by_columns(whole) == by_rows(reader_of(LINES, READER), rows)[0]
    assert by_columns(part) == by_columns(whole)[1:32]
    assert part.counts == whole.counts


@pytest.mark.parametrize("few", [0, 16])
def test_a_column_without_rows_has_no_answer(few: int) -> None:
    walk = AvroKernel(plan_of(LINES, READER), few=few).walk(pyarrow.array([], pyarrow.binary()))

    assert not len(walk.verdicts)
    assert not walk.counts


def test_a_large_column_is_walked_over_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [GOOD, OLD, GOOD[:-1], GOOD + b"\0", b"", GOOD * 50] * 60
    whole = kernel_of(LINES, READER).walk(pyarrow.array(rows, pyarrow.binary()))

    monkeypatch.setattr(kernel, "MOST_ROWS", 50)
    by_number = kernel_of(LINES, READER).walk(pyarrow.array(rows, pyarrow.binary()))
    monkeypatch.setattr(kernel, "MOST_BYTES", 300)
    by_size = kernel_of(LINES, READER).walk(pyarrow.array(rows, pyarrow.binary()))

    assert by_columns(by_number) == by_columns(by_size) == by_columns(whole)
    assert by_number.counts == by_size.counts == whole.counts


def test_the_same_rows_have_the_same_counts_in_any_order_and_number() -> None:
    rows = [GOOD, OLD, GOOD[:-1], GOOD] * 25
    together = kernel_of(LINES, READER).walk(pyarrow.array(rows, pyarrow.binary()))
    singly = [kernel_of(LINES, READER).walk(pyarrow.array([row], pyarrow.binary())) for row in rows]

    assert [reason for walk in singly for reason in by_columns(walk)] == by_columns(together)
    assert sum((walk.counts for walk in singly), start=type(together.counts)()) == together.counts
