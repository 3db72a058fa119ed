"""Where protobuf-java reads otherwise than others do: maps, closed enums, extensions, text."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pyarrow
import pytest

from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.protobuf.definition import message_of
from gitops.replay.kernel.protobuf.rows import read
from gitops.replay.kernel.protobuf.schema_pair import pair
from gitops.replay.kernel.protocol import READ, CountKey, CountKind, Reason
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for
from tests.support.protos import native, order


@pytest.mark.parametrize("payload", ["0a03 0a01ff", "0a03 1201ff", "0a06 0a01ff 0a016b"])
def test_text_in_a_map_is_looked_at_in_every_file(payload: str) -> None:
    info = order("map<string, string> m = 1; optional string t = 2;", syntax="proto2")
    rows = [bytes.fromhex(one) for one in ("0a03 0a016b", payload, "1201ff")]
    walk = kernel_for(info, info).walk(pyarrow.array(rows, pyarrow.binary()))
    assert walk.verdicts.tolist() == [READ, 1, READ]
    assert {reason.reason for reason in walk.reasons} == {"the text is not UTF-8"}


def test_a_file_of_proto2_can_ask_for_utf_8() -> None:
    head = 'syntax = "proto2"; option java_string_check_utf8 = true;'
    info = native({"a.proto": f"{head} message A {{ optional string t = 1; }}"}, "a.proto", "A")
    walk = kernel_for(info, info).walk(pyarrow.array([b"\x0a\x01k", b"\x0a\x01\xff"]))
    assert walk.reasons == (Reason("t", "the text is not UTF-8"),)


CHECKED2 = """optional string t = 1; map<string, string> m = 3; optional int32 n = 4;
    oneof o { string a = 5; int32 b = 6; In c = 7; } map<int32, In> d = 8;
    optional group G = 9 { map<string, string> m = 1; } optional bytes raw = 10;
    message In { optional string a = 5; }"""


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ("0a02ffff 0a0161 1a00", "t"),
        ("0a03ffffff 0a0161 20ffffffff0f", "t"),
        ("0a0261c3 82010162 0a0161 1a00", "t"),
        ("2a02ffff 3001 1a00", "a"),
        ("2a02ffff 2a0161 1a00", "a"),
        ("1a0a 0a016b 1202ffff 120161 1a00", "m{}"),
        ("1a09 0a02ffff 0a016b 1200 1a00", "m{}.key"),
        ("3a03 2a01ff 3001 20ffffffff0f", "c.a"),
        ("4207 0801 1203 2a01ff 4204 0801 1200 1a00 20ffffffff0f", "d{}.a"),
        ("4b 0a0a 0a016b 1202ffff 120161 4c 1a00", "g.m{}"),
    ],
)
def test_text_that_is_replaced_is_looked_at_whatever_stands_beside_it(
    payload: str, path: str
) -> None:
    info = order(CHECKED2, syntax="proto2", more="option java_string_check_utf8 = true;")
    row, text = bytes.fromhex(payload), bytes.fromhex("0a02c3a9 5201ff")
    for rows in ([row], [row, text], [row, b"\x0a\x01\xff"], [text] * 9 + [row]):
        walk = kernel_for(info, info).walk(pyarrow.array(rows, pyarrow.binary()))
        found = [walk.reasons[v - 1].path if v else None for v in walk.verdicts.tolist()]
        assert found == [{row: path, text: None}.get(one, "t") for one in rows]


MAPS2 = """required int32 a = 1; map<string, Inner> m = 2; map<int32, Color> c = 3;
    optional Open o = 4; extensions 100 to 199;
    message Inner { required int32 x = 1; } enum Color { NONE = 0; RED = 1; }"""


@cache
def _maps() -> SchemaInfo:
    more = "extend Order { optional string more = 100; }"
    head = 'syntax = "proto2"; package shop; import "a.proto";'
    files = {
        "order.proto": f"{head} message Order {{ {MAPS2} }} {more}",
        "a.proto": 'syntax = "proto3"; package shop; enum Open { ZERO = 0; ONE = 1; }',
    }
    return native(files, "order.proto", "shop.Order")


def _in_maps(payload: str) -> tuple[dict[str, Any], Counter[CountKey]]:
    """What is read and counted of a message, also as a column of it."""
    info, row = _maps(), bytes.fromhex(payload)
    value, counted = read(pair(message_of(info), message_of(info)), row)
    walk = kernel_for(info, info).walk(pyarrow.array([row] * 3))
    counts = Counter(counted)
    assert walk.counts == Counter({one: 3 * times for one, times in counts.items()})
    return value, counts


def test_an_entry_without_its_message_lacks_what_the_message_must_have() -> None:
    info = _maps()
    payloads = [
        "0801 1205 0a016b 1200",
        "0801 1203 0a016b",
        "0801 1203 0a016b 1207 0a016b 12020801",
    ]
    rows = [bytes.fromhex(one) for one in payloads]
    walk = kernel_for(info, info).walk(pyarrow.array(rows, pyarrow.binary()))
    assert walk.verdicts.tolist() == [1, 1, READ]
    assert walk.reasons == (Reason("m{}.x", "a required field is missing"),)


@pytest.mark.parametrize(
    ("payload", "value"),
    [
        ("1a04 0801 1007", {}),
        ("1a04 0801 1001 1a04 0801 1007", {1: "RED"}),
        ("1a06 0801 1007 1001", {1: "RED"}),
        ("1a02 0801", {1: "NONE"}),
    ],
)
def test_an_entry_with_a_number_that_a_closed_enum_does_not_name_is_none(
    payload: str, value: dict[int, str]
) -> None:
    found, counts = _in_maps(f"0801 {payload}")
    assert found["c"] == value
    unknown = payload.count("1007") - payload.count("1007 1001")
    assert counts[CountKey("c{}", CountKind.DROPPED)] == unknown


@pytest.mark.parametrize(
    ("payload", "value"), [("2001", "ONE"), ("2009", None), ("2009 2001", "ONE")]
)
def test_an_open_enum_is_closed_for_a_file_of_proto2(payload: str, value: str | None) -> None:
    found, counts = _in_maps(f"0801 {payload}")
    assert found["o"] == value
    assert counts[CountKey("o", CountKind.DROPPED)] == payload.count("2009")


@pytest.mark.parametrize("payload", ["0801 2009 2001 1a020801", "0801 2009 2009 2001 1a00"])
def test_a_number_that_is_replaced_is_dropped_whatever_else_is_there(payload: str) -> None:
    found, counts = _in_maps(payload)
    assert found["o"] == "ONE"
    assert counts[CountKey("o", CountKind.DROPPED)] == payload.count("2009")


def test_an_extension_is_dropped() -> None:
    assert _in_maps("0801 a20601 78")[1][CountKey("[shop.more]", CountKind.DROPPED)] == 1


def test_text_that_is_not_utf_8_is_what_java_makes_of_it() -> None:
    info = order("optional string a = 1;", syntax="proto2")
    assert row_reader_for(info, info).read(b"\x0a\x03\xed\xa0\x80") == {"a": "\ufffd"}


def test_an_entry_without_a_key_has_the_empty_one() -> None:
    info = order("required int32 id = 1; map<string, string> ms = 2;", syntax="proto2")
    payload = bytes.fromhex("0801 1203 0a0161 1200 1200")
    value, counted = read(pair(message_of(info), message_of(info)), payload)
    assert value == {"id": 1, "ms": {"a": "", "": ""}}
    assert Counter(counted)[CountKey("ms{}", CountKind.READ)] == 2
