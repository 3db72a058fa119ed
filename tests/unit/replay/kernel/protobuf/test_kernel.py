"""Protobuf messages against the protobuf library, and what is counted of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

import pyarrow
import pytest
from google.protobuf.message import DecodeError, Message
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.definition import DefinitionError
from gitops.replay.kernel.protobuf.columns import message_class as message_class_of
from gitops.replay.kernel.protobuf.definition import message_of
from gitops.replay.kernel.protobuf.rows import read
from gitops.replay.kernel.protobuf.schema_pair import pair
from gitops.replay.kernel.protocol import (
    READ,
    CountKey,
    CountKind,
    Kernel,
    Reason,
    RowReader,
    Unreadable,
    Walk,
)
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for, row_writer_for
from tests.support.proto_rows import broken, fill, keeps_entries_apart, message_class, plain
from tests.support.proto_wire import ProtoWire, varint
from tests.support.protos import order

PROTO3 = """int32 a = 1; int64 b = 2; uint32 c = 3; sint32 d = 4; bool e = 5; string f = 6;
    bytes g = 7; float h = 8; double i = 9; fixed32 j = 10; sfixed64 k = 11; Color l = 12;
    repeated int32 m = 13; repeated string n = 14; Inner o = 15; map<string, Inner> p = 16;
    map<int32, string> q = 17; oneof r { int32 s = 18; Inner t = 19; string u = 20; }
    optional int32 v = 21; repeated Inner w = 22; Order x = 23; repeated Color y = 24;
    sint64 z = 25; uint64 aa = 26;
    enum Color { RED = 0; GREEN = 1; BLUE = 2; } message Inner { int32 a = 1; string b = 2; }"""
LATER3 = (
    PROTO3.replace("int32 a = 1; int64", "int64 a = 1; int32", 1)
    .replace("string f = 6;", "bytes f = 6;")
    .replace("bytes g = 7", "string g = 7")
    .replace("GREEN = 1; BLUE = 2", "LIME = 1")
    .replace("double i", "fixed64 i")
    .replace("uint32 c = 3;", "")
)
PROTO2 = """required int32 a = 1; optional string b = 2; optional Color c = 3;
    repeated int32 d = 4 [packed = true]; repeated Color e = 5;
    optional group G = 6 { optional int32 x = 1; required int32 y = 2; }
    optional Order o = 7; repeated string s = 8; optional bool t = 9 [default = true];
    enum Color { RED = 1; GREEN = 2; }"""
LATER2 = PROTO2.replace(" GREEN = 2;", "").replace("required int32 a", "optional int64 a")
WIDER3 = (
    PROTO3.replace("int32 a = 1; int64 b", "int64 a = 1; sint64 b")
    .replace("bool e = 5;", "uint64 e = 5; double ab = 27; int32 ac = 28;")
    .replace("string f = 6;", "bytes f = 6;")
    .replace("bytes g = 7", "string g = 7")
    .replace("GREEN = 1; BLUE = 2", "LIME = 1")
    .replace("uint32 c = 3;", "")
    .replace("int32 s = 18;", "int64 s = 18;")
    .replace("map<string, Inner> p = 16;", "map<string, Inner> p = 16; map<int32, Color> ad = 29;")
)
CHECKED2 = """optional string a = 1; map<string, string> b = 2; optional int32 c = 3;
    oneof d { string e = 4; Inner f = 5; int32 g = 6; } message Inner { optional string a = 1; }"""
_SYNTAXES = {
    PROTO3: "proto3",
    LATER3: "proto3",
    PROTO2: "proto2",
    LATER2: "proto2",
    CHECKED2: "proto2",
}
_MORE = {CHECKED2: "option java_string_check_utf8 = true;"}


@cache
def _info(body: str) -> SchemaInfo:
    return order(body, syntax=_SYNTAXES.get(body, "proto3"), more=_MORE.get(body, ""))


@cache
def _kernel(writer: str, reader: str) -> Kernel:
    return kernel_for(_info(writer), _info(reader))


@cache
def _rows(writer: str, reader: str) -> RowReader:
    return row_reader_for(_info(writer), _info(reader))


@cache
def _class(body: str) -> type[Message]:
    return message_class(_info(body))


def _walk(writer: str, reader: str, *payloads: bytes) -> Walk:
    return _kernel(writer, reader).walk(pyarrow.array(payloads, pyarrow.binary()))


def _ordered(value: Any) -> Any:  # noqa: ANN401 - any value
    """Comparable by its text: NaN is itself, and members have no order."""
    if isinstance(value, Mapping):
        return sorted((repr(key), _ordered(inner)) for key, inner in value.items())
    return [_ordered(one) for one in value] if isinstance(value, list) else repr(value)


def _parsed(body: str, payload: bytes) -> dict[str, Any] | None:
    """What the library makes of it; None where it refuses it."""
    try:
        message = _class(body).FromString(payload)
    except DecodeError:
        return None
    return plain(message) if message.IsInitialized() else None


@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        (PROTO3, PROTO3),
        (PROTO3, LATER3),
        (LATER3, PROTO3),
        (PROTO2, PROTO2),
        (PROTO2, LATER2),
        (PROTO2, PROTO3),
        (PROTO3, PROTO2),
    ],
)
@given(seed=st.integers(0, 2**64))
def test_it_reads_what_the_library_reads(writer: str, reader: str, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - hypothesis' own would be slow
    payload = fill(_class(writer)(), random).SerializePartialToString()
    payload = broken(payload, random)
    rows = _rows(writer, reader)
    expected = _parsed(reader, payload)
    try:
        found = rows.read(payload)
    except Unreadable:
        assert expected is None
        return
    if re.search(rb"[\x80-\xff]{9}[\x00\x02-\x7f]", payload):
        return  # of a tenth byte Java sees other bits: the broker tests look at that
    if expected is None:  # the library minds bits of a varint that Java does not look at
        assert any(byte & 0x80 for byte in payload)
        return
    if keeps_entries_apart(_class(reader).FromString(payload)):
        return
    assert _ordered(found) == _ordered(expected)
    written = row_writer_for(_info(reader)).write(found)
    assert _ordered(_parsed(reader, written)) == _ordered(expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("writer", "reader"),
    [(PROTO3, PROTO3), (PROTO3, LATER3), (PROTO3, WIDER3), (PROTO2, LATER2), (PROTO2, PROTO2)],
)
@given(seed=st.integers(0, 2**64))
def test_a_column_is_what_its_rows_are(writer: str, reader: str, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - hypothesis' own would be slow for so many rows
    wire, message = ProtoWire(random), message_of(_info(writer))
    payloads = [
        broken(
            fill(_class(writer)(), random).SerializePartialToString()
            if random.random() < 0.5
            else wire.message(message),
            random,
        )
        for _ in range(random.randint(0, 30))
    ]
    _agrees_with_its_rows(writer, reader, payloads)


REPLACING = (
    *("0a01ff", "0a02ffff", "0a03ffffff", "0a0161", "0a02c3a9"),  # the field
    *("1200", "12020a00", "12031201ff", "12060a01ff0a0161", "120512030a016b"),  # the map
    *("1801", "18ffffffff0f"),  # the number: -1 in five bytes, which others write in ten
    *("2201ff", "2202ffff", "220161", "2a030a01ff", "2a00", "3001"),  # the oneof
)
"""Parts of CHECKED2: broken text, what replaces it, and what the library writes longer."""


@pytest.mark.slow
@given(seed=st.integers(0, 2**64))
def test_a_column_tells_of_text_that_is_replaced(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - as above
    rows = [
        bytes.fromhex("".join(random.choices(REPLACING, k=random.randint(1, 5)))) for _ in range(20)
    ]
    _agrees_with_its_rows(CHECKED2, CHECKED2, rows)
    for row in rows:
        _agrees_with_its_rows(CHECKED2, CHECKED2, [row])


def _agrees_with_its_rows(writer: str, reader: str, payloads: list[bytes]) -> None:
    plan = pair(message_of(_info(writer)), message_of(_info(reader)))
    reasons: list[Reason | None] = []
    counts: Counter[CountKey] = Counter()
    for payload in payloads:
        try:
            counts.update(read(plan, payload)[1])
        except Unreadable as unreadable:
            reasons.append(unreadable.reason)
        else:
            reasons.append(None)
    column = pyarrow.array([b"", *payloads], pyarrow.binary()).slice(1)
    walk = _kernel(writer, reader).walk(column)
    assert [walk.reasons[v - 1] if v else None for v in walk.verdicts.tolist()] == reasons
    assert walk.counts == counts


def test_an_entry_without_its_value_is_not_taken_for_one_that_has_it() -> None:
    walk = _walk(PROTO3, WIDER3, bytes.fromhex("ea010608ffffffff07"))
    assert walk.counts[CountKey("ad{}", CountKind.DEFAULTED)] == 1
    assert CountKey("ad{}", CountKind.READ) not in walk.counts


def test_the_library_is_used_where_it_can_tell() -> None:
    plan = pair(message_of(_info(PROTO3)), message_of(_info(WIDER3)))
    assert message_class_of(_info(WIDER3), plan) is not None
    narrower = pair(message_of(_info(WIDER3)), message_of(_info(PROTO3)))
    assert message_class_of(_info(PROTO3), narrower) is None


@pytest.mark.parametrize(
    ("reader", "payload", "path", "reason"),
    [
        (PROTO3, "08", "a", "it ends too early"),
        (PROTO3, "32ffffffff0f", "f", "it ends too early"),
        (PROTO3, "32ffffff7f", "f", "it ends too early"),
        (PROTO3, "3201ff", "f", "the text is not UTF-8"),
        (PROTO3, "7a0212ff", "o.b", "it ends too early"),
        (PROTO3, "720161" + "7201ff", "n[]", "the text is not UTF-8"),
        (PROTO3, "8201030a01ff", "p{}.key", "the text is not UTF-8"),
        (PROTO3, "82010512031201ff", "p{}.b", "the text is not UTF-8"),
        (PROTO3, "00", "", "a field has the number 0"),
        (PROTO3, "0c", "a", "a field has no known wire type"),
        (PROTO3, "ff" * 11, "", "a number is too long"),
        (PROTO3, "fb0708", "", "it ends too early"),
        (PROTO2, "", "a", "a required field is missing"),
        (PROTO2, "08013334", "g.y", "a required field is missing"),
        (PROTO2, "080133", "g", "a group has no end"),
    ],
)
def test_a_row_that_fails_says_why(reader: str, payload: str, path: str, reason: str) -> None:
    assert _walk(reader, reader, bytes.fromhex(payload)).reasons == (Reason(path, reason),)


def test_messages_nest_a_hundred_deep() -> None:
    payload = b""
    for _ in range(100):
        payload = b"\xba\x01" + varint(len(payload)) + payload
    deeper = b"\xba\x01" + varint(len(payload)) + payload
    groups = b"\xfb\x07" * 101 + b"\xfc\x07" * 101
    walk = _walk(PROTO3, PROTO3, payload, deeper, groups)
    assert walk.verdicts.tolist() == [READ, 1, 2]
    assert {reason.reason for reason in walk.reasons} == {"its messages nest too deep"}
    assert walk.counts[CountKey("x", CountKind.READ)] == 101  # the innermost one is not set


def test_what_is_counted() -> None:
    writer = """int32 a = 1; string gone = 2; repeated Inner lines = 3;
        map<string, Inner> attrs = 4; optional int32 maybe = 5; Color color = 6;
        oneof pay { int32 card = 7; string cash = 8; } sint32 zig = 9; double ratio = 10;
        message Inner { int32 x = 1; } enum Color { RED = 0; OLD = 1; GREY = 2; }"""
    reader = """int64 a = 1; repeated Inner lines = 3; map<string, Inner> attrs = 4;
        optional int32 maybe = 5; Color color = 6; oneof pay { int32 card = 7; string cash = 8; }
        int32 zig = 9; float ratio = 10; string added = 11;
        message Inner { int32 x = 1; } enum Color { RED = 0; GRAY = 2; }"""
    message = _class(writer)()
    message.a, message.gone, message.color, message.card = 5, "x", 1, 3  # type: ignore[attr-defined]
    message.zig, message.ratio = -1, 0.5  # type: ignore[attr-defined]
    message.lines.add().x = 1  # type: ignore[attr-defined]
    message.lines.add().x = 2  # type: ignore[attr-defined]
    message.attrs["k"].x = 3  # type: ignore[attr-defined]
    other = _class(writer)()
    other.color = 2  # type: ignore[attr-defined]
    payload = message.SerializeToString() + b"\x98\x06\x01"
    walk = _walk(writer, reader, payload, other.SerializeToString())
    assert not walk.verdicts.any()
    assert walk.counts == {
        CountKey("", CountKind.READ): 2,
        CountKey("a", CountKind.READ): 2,
        CountKey("a", CountKind.PROMOTED): 2,
        CountKey("gone", CountKind.DROPPED): 1,
        CountKey("*", CountKind.DROPPED): 1,
        CountKey("lines", CountKind.READ): 2,
        CountKey("lines[]", CountKind.READ): 2,
        CountKey("lines[].x", CountKind.READ): 2,
        CountKey("attrs", CountKind.READ): 2,
        CountKey("attrs{}", CountKind.READ): 1,
        CountKey("attrs{}.x", CountKind.READ): 1,
        CountKey("maybe", CountKind.READ): 2,
        CountKey("maybe", CountKind.NULLS): 2,
        CountKey("color", CountKind.READ): 2,
        CountKey("color", CountKind.CHANGED): 2,
        CountKey("color", CountKind.SYMBOL, "GRAY"): 1,
        CountKey("pay", CountKind.READ): 2,
        CountKey("pay", CountKind.NULLS): 1,
        CountKey("pay", CountKind.BRANCH, "card"): 1,
        CountKey("pay", CountKind.BRANCH, "null"): 1,
        CountKey("card", CountKind.READ): 2,
        CountKey("card", CountKind.NULLS): 1,
        CountKey("cash", CountKind.READ): 2,
        CountKey("cash", CountKind.NULLS): 2,
        CountKey("zig", CountKind.READ): 2,
        CountKey("zig", CountKind.PROMOTED): 2,
        CountKey("zig", CountKind.CHANGED): 1,
        CountKey("ratio", CountKind.DEFAULTED): 2,
        CountKey("ratio", CountKind.DROPPED): 1,
        CountKey("added", CountKind.DEFAULTED): 2,
    }


def test_a_number_that_a_closed_enum_does_not_name_is_dropped() -> None:
    walk = _walk(PROTO2, LATER2, b"\x08\x01\x18\x02\x28\x02")
    assert walk.counts[CountKey("c", CountKind.DROPPED)] == 1
    assert walk.counts[CountKey("e[]", CountKind.DROPPED)] == 1
    assert walk.counts[CountKey("c", CountKind.NULLS)] == 1


PARSING_INFO = json.dumps(
    [
        {"number": 1, "name": "a", "type": "INT32", "label": "LABEL_OPTIONAL", "definition": None},
        {"number": 15, "name": "o", "type": "MESSAGE", "label": "LABEL_OPTIONAL"},
        {"number": 12, "name": "l", "type": "ENUM", "label": "LABEL_OPTIONAL"},
        {"number": 13, "name": "m", "type": "INT32", "label": "LABEL_REPEATED"},
    ]
)
AVRO_FORM = '{"type":"record","name":"Order","fields":[]}'


def test_a_protobuf_definition_tells_the_outermost_fields() -> None:
    info = SchemaInfo(
        type=SchemaType.PROTOBUF, schema=AVRO_FORM, properties={"__PARSING_INFO__": PARSING_INFO}
    )
    message = _class(PROTO3)()
    message.a, message.l, message.o.a = 1, 2, 3  # type: ignore[attr-defined]
    message.m.extend([1, 2])  # type: ignore[attr-defined]
    payload = message.SerializeToString()
    walk = kernel_for(info, info).walk(pyarrow.array([payload, payload[:-1]]))
    assert walk.verdicts.tolist() == [READ, 1]
    assert walk.counts == {
        CountKey("", CountKind.READ): 1,
        CountKey("a", CountKind.READ): 1,
        CountKey("o", CountKind.READ): 1,
        CountKey("l", CountKind.READ): 1,
        CountKey("m", CountKind.READ): 1,
        CountKey("m[]", CountKind.READ): 2,
    }
    value = row_reader_for(info, info).read(payload)
    assert value == {"a": 1, "o": b"\x08\x03", "l": 2, "m": [1, 2]}
    written = row_writer_for(info).write(value)
    assert row_reader_for(info, info).read(written) == value
    assert not kernel_for(info, _info(PROTO3)).walk(pyarrow.array([payload])).verdicts.any()


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"__PARSING_INFO__": "x"},
        {"__PARSING_INFO__": '[{"number":1,"name":"a","type":"X","label":"LABEL_OPTIONAL"}]'},
    ],
)
def test_a_protobuf_definition_without_numbers_says_so(properties: dict[str, str]) -> None:
    info = SchemaInfo(type=SchemaType.PROTOBUF, schema=AVRO_FORM, properties=properties)
    with pytest.raises(DefinitionError, match="needs the property __PARSING_INFO__"):
        kernel_for(info, info)
