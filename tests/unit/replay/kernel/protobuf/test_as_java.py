"""Where protobuf-java reads otherwise than others do: maps, closed enums, extensions, text."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pyarrow
import pytest

from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.choose import kernel_for, row_reader_for
from gitops.replay.kernel.protobuf.definition import message_of
from gitops.replay.kernel.protobuf.plan import pair
from gitops.replay.kernel.protobuf.reading import read
from gitops.replay.kernel.walk import READ, Counted, Reason, What
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


MAPS2 = """required int32 a = 1; map<string, Inner> m = 2; map<int32, Color> c = 3;
    optional Open o = 4; extensions 100 to 199;
    message Inner { required int32 x = 1; } enum Color { NONE = 0; RED = 1; }"""


@cache
def _maps() -> SchemaInfo:
    more = "extend Order { optional string more = 100; }"
    head = 'syntax = "proto2"; package shop; import "open.proto";'
    files = {
        "order.proto": f"{head} message Order {{ {MAPS2} }} {more}",
        "open.proto": 'syntax = "proto3"; package shop; enum Open { ZERO = 0; ONE = 1; }',
    }
    return native(files, "order.proto", "shop.Order")


def _in_maps(payload: str) -> tuple[dict[str, Any], Counter[Counted]]:
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
    assert counts[Counted("c{}", What.DROPPED)] == unknown


@pytest.mark.parametrize(
    ("payload", "value"), [("2001", "ONE"), ("2009", None), ("2009 2001", "ONE")]
)
def test_an_open_enum_is_closed_for_a_file_of_proto2(payload: str, value: str | None) -> None:
    found, counts = _in_maps(f"0801 {payload}")
    assert found["o"] == value
    assert counts[Counted("o", What.DROPPED)] == payload.count("2009")


def test_an_extension_is_dropped() -> None:
    assert _in_maps("0801 a20601 78")[1][Counted("[shop.more]", What.DROPPED)] == 1


def test_text_that_is_not_utf_8_is_what_java_makes_of_it() -> None:
    info = order("optional string a = 1;", syntax="proto2")
    assert row_reader_for(info, info).read(b"\x0a\x03\xed\xa0\x80") == {"a": "\ufffd"}


def test_an_entry_without_a_key_has_the_empty_one() -> None:
    info = order("required int32 id = 1; map<string, string> ms = 2;", syntax="proto2")
    payload = bytes.fromhex("0801 1203 0a0161 1200 1200")
    value, counted = read(pair(message_of(info), message_of(info)), payload)
    assert value == {"id": 1, "ms": {"a": "", "": ""}}
    assert Counter(counted)[Counted("ms{}", What.READ)] == 2
