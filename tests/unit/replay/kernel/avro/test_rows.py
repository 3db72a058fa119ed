"""What one row is read as."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest

from gitops.replay.kernel.avro.kernel import AvroRowReader, AvroRowWriter
from gitops.replay.kernel.avro.schema_pair import make_plan
from gitops.replay.kernel.avro.steps import Fail
from gitops.replay.kernel.avro.values import UnionValue, shown
from gitops.replay.kernel.protocol import CountKey, CountKind, Reason, Unreadable
from gitops.schemas.avro.parser import AVRO_1_11
from tests.replay.avro_rows import case, parsed
from tests.support.avro_kernels import reader_of

parse = AVRO_1_11.parse

A = {"type": "record", "name": "A", "fields": [{"name": "x", "type": "int"}]}
B = {"type": "record", "name": "B", "fields": [{"name": "x", "type": "int"}]}
INTS = {"type": "array", "items": "int"}
BY_NAME = {"type": "map", "values": "int"}
FIXED = {"type": "fixed", "name": "F", "size": 2}


def record(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields)}


def field(name: str, kind: object, **more: object) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


@pytest.mark.parametrize(
    ("writer", "reader", "payload", "value"),
    [
        ("int", "long", "03", -2),
        ("int", "float", "03", -2.0),
        ("long", "float", "82 80 80 10", 16777216.0),
        ("long", "double", "ff ff ff ff ff ff ff ff ff 01", -(2.0**63)),
        ("float", "double", "00 00 c0 3f", 1.5),
        ("bytes", "string", "04 c3 a9", "é"),
        ("bytes", "string", "02 ff", "\ufffd"),
        ("string", "bytes", "02 ff", b"\xff"),
        ("string", "string", "06 ed a0 80", "\ufffd"),
        ("string", ["null", "bytes"], "02 61", b"a"),
        (["null", "string"], ["string", "null"], "02 02 61", "a"),
        (["null", "int"], ["null", "long", "string"], "02 02", UnionValue("long", 1)),
        (["null", "int"], ["null", "long", "string"], "00", None),
        ([A, B], [B, A], "00 02", UnionValue("A", {"x": 1})),
        (INTS, INTS | {"items": "long"}, "04 02 04 00", [1, 2]),
        (BY_NAME, BY_NAME, "04 02 61 02 02 61 04 00", {"a": 2}),
        (FIXED, FIXED, "01 02", b"\x01\x02"),
    ],
)
def test_the_value_is_what_the_reader_sees(
    writer: object, reader: object, payload: str, value: object
) -> None:
    assert reader_of(writer, reader).read(bytes.fromhex(payload)) == value


def test_a_record_has_the_readers_order_names_and_defaults() -> None:
    union = ["null", "int", "string"]
    writer = record(field("old", "int"), field("gone", "string"), field("kept", "boolean"))
    reader = record(
        field("kept", "boolean"),
        field("new", "int", aliases=["old"]),
        field("text", "string", default="t"),
        field("bytes", "bytes", default="\u00ff"),
        field("float", "float", default=0.1),
        field("list", {"type": "array", "items": "int"}, default=[1]),
        field("union", union[::-1], default="u"),
        field("null", union, default=None),
        field("inner", A | {"fields": [field("x", "int", default=3)]}, default={}),
    )

    value = reader_of(writer, reader).read(bytes.fromhex("02 02 61 01"))

    assert list(value) == [one["name"] for one in reader["fields"]]
    assert value == {
        "kept": True,
        "new": 1,
        "text": "t",
        "bytes": b"\xff",
        "float": 0.10000000149011612,
        "list": [1],
        "union": UnionValue("string", "u"),
        "null": None,
        "inner": {"x": 3},
    }


@pytest.mark.parametrize(("default", "value"), [(0, []), ({"k": [1]}, [[1]]), ([2, []], [[], []])])
def test_a_default_that_is_no_list_is_what_java_makes_of_it(default: object, value: object) -> None:
    kind = {"type": "array", "items": {"type": "array", "items": "int"}}

    assert reader_of(record(), record(field("a", kind, default=default))).read(b"") == {"a": value}


def test_a_default_is_one_value_however_often_it_is_taken() -> None:
    reader = reader_of(
        record(), record(field("all", {"type": "array", "items": "int"}, default=[]))
    )

    assert reader.read(b"")["all"] is reader.read(b"")["all"]


def test_an_unreadable_row_says_where_and_what_was_read() -> None:
    inner = field("b", {"type": "array", "items": ["null", "int"]})
    schema = record(field("a", "string"), inner)

    with pytest.raises(Unreadable) as found:
        reader_of(schema, schema).read(bytes.fromhex("02 61 06 00 02 04 08"))

    assert found.value.reason == Reason("b[]", "a branch that the writer's union does not have")
    assert found.value.message == (
        "b[]: a branch that the writer's union does not have (4 of 2), at byte 7 of 7"
    )
    assert found.value.value == {"a": "a", "b": [None, 2]}


def test_a_single_row_counts_as_a_column_of_one() -> None:
    _, counts = reader_of(["null", "long"], ["null", "float"]).counted(bytes.fromhex("02 82808010"))

    assert counts == {
        CountKey("", CountKind.READ): 1,
        CountKey("", CountKind.BRANCH, "long"): 1,
        CountKey("", CountKind.PROMOTED): 1,
        CountKey("", CountKind.CHANGED): 1,
    }


@pytest.mark.slow
def test_what_was_read_can_be_written_and_read_again() -> None:
    first, written = secrets.randbelow(10**9), 0
    for seed in range(first, first + 150):
        found = case(seed, 15, spoilt=0)
        if found is None:
            continue
        writer, reader = parsed(found.writer), parsed(found.reader)
        assert writer is not None
        assert reader is not None
        again_by = make_plan(reader, reader)
        if isinstance(again_by.top.step, Fail):  # a record that contains itself: nothing reads it
            continue
        before, after = AvroRowReader(make_plan(writer, reader)), AvroRowReader(again_by)
        for payload in found.payloads:
            try:
                value = before.read(payload)
            except Unreadable:
                continue
            written += 1
            again = after.read(AvroRowWriter(reader).write(value))
            assert repr(again) == repr(value), f"seed {seed}: {payload.hex()}"
    assert written


def test_half_a_character_of_a_default_is_written_as_java_does() -> None:
    names = {"type": "map", "values": "string"}
    schema = record(field("a", names, default={"\ud800": "\udfff"}))

    value = reader_of(record(), schema).read(b"")

    assert AvroRowWriter(parse(json.dumps(schema))).write(value) == b"\x02\x02?\x02?\x00"


@pytest.mark.parametrize(
    ("schema", "value", "path"),
    [
        ("int", 2**31, ""),
        ("int", "1", ""),
        (record(field("a", "string")), {"a": b""}, "a"),
        (record(field("a", "string")), {}, ""),
        (["null", "int", "string"], UnionValue("long", 1), ""),
        ({"type": "array", "items": {"type": "fixed", "name": "F", "size": 2}}, [b"1"], "[]"),
    ],
)
def test_what_the_schema_cannot_say_is_not_written(
    schema: object, value: object, path: str
) -> None:
    with pytest.raises(Unreadable) as found:
        AvroRowWriter(parse(json.dumps(schema))).write(value)

    assert found.value.reason.path == path


def test_a_value_is_shown_as_json() -> None:
    assert shown({"a": [UnionValue("bytes", b"\xff"), None, 1.5, "é"]}) == (
        '{"a": [{"bytes": "ÿ"}, null, 1.5, "é"]}'
    )
