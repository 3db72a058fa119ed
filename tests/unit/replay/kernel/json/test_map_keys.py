"""Maps whose keys are no text: what Java's client writes of them, and what it takes for a key."""

from __future__ import annotations

import json
from typing import Any

import pyarrow
import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.protocol import READ, CountKey, CountKind, Reason, Walk
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for, row_writer_for


def _map(key: Any, value: Any = "int", name: str = "Pair1") -> dict[str, Any]:  # noqa: ANN401 - JSON
    pair = {
        "type": "record",
        "name": name,
        "namespace": "org.apache.avro.reflect",
        "fields": [{"name": "key", "type": key}, {"name": "value", "type": value}],
    }
    return {"type": "array", "items": pair, "java-class": "java.util.Map"}


def _info(kind: Any) -> SchemaInfo:  # noqa: ANN401 - JSON
    record = {"type": "record", "name": "R", "fields": [{"name": "m", "type": kind}]}
    return SchemaInfo(type=SchemaType.JSON, schema=json.dumps(record))


def _walk(info: SchemaInfo, *payloads: bytes) -> Walk:
    return kernel_for(info, info).walk(pyarrow.array(payloads, pyarrow.binary()))


_KEYS: dict[str, tuple[Any, tuple[str, ...], tuple[str, ...]]] = {
    "boolean": ("boolean", ("true", "false"), ("1", "True", "")),
    "int": ("int", ("0", "-2147483648"), ("2147483648", "1.0", "x", "", " 1")),
    "Short": ({"type": "int", "java-class": "java.lang.Short"}, ("-32768",), ("32768",)),
    "long": ("long", ("-9223372036854775808",), ("9223372036854775808", "1e5")),
    "double": ("double", ("1.0E300", "-1.5", "NaN", "-Infinity"), ("x", "", "INF")),
    "Character": (
        {"type": "int", "java-class": "java.lang.Character"},
        ("a", "\uffff"),
        ("ab", "", "97", "\U0001f600"),
    ),
    "enum": ({"type": "enum", "name": "C", "symbols": ["RED"]}, ("RED",), ("red", "0", "")),
    "UUID": (
        {"type": "string", "logicalType": "uuid"},
        ("00000000-0000-0001-0000-000000000002",),
        ("1", ""),
    ),
    "LocalDate": (
        {"type": "int", "logicalType": "date"},
        ("-999999999-01-01",),
        ("2024-02-30", "1"),
    ),
    "LocalTime": ({"type": "int", "logicalType": "time-millis"}, ("12:00",), ("12", "1")),
    "LocalDateTime": (
        {"type": "long", "logicalType": "local-timestamp-millis"},
        ("-999999999-01-01T00:00",),
        ("2024-01-01T00:00Z", "1"),
    ),
    "Instant": (
        {"type": "long", "logicalType": "timestamp-micros"},
        ("+1000000000-12-31T23:59:59.999999999Z",),
        ("2024-01-01T00:00:00", "2024-01-01T00:00:00+0000", "1"),
    ),
    "Date": ({"type": "record", "name": "java.util.Date", "fields": []}, ("anything",), ()),
}


@pytest.mark.parametrize("name", _KEYS)
def test_keys(name: str) -> None:
    key, taken, refused = _KEYS[name]
    info = _info(_map(key))
    payloads = [json.dumps({"m": {each: 1}}).encode() for each in (*taken, *refused)]
    walk = _walk(info, *payloads)
    found = [verdict == READ for verdict in walk.verdicts.tolist()]
    assert found == [True] * len(taken) + [False] * len(refused)
    assert walk.counts[CountKey("m{}", CountKind.READ)] == len(taken)


@pytest.mark.parametrize(
    ("java", "taken", "refused"),
    [
        ("java.math.BigInteger", "1" * 1001, "1e5"),
        ("java.math.BigDecimal", "1E+3", "x"),
        ("java.net.URI", "a:b", "a b"),
    ],
)
def test_classes_that_avro_has_as_text(java: str, taken: str, refused: str) -> None:
    info = _info({"type": "map", "values": "int", "java-key-class": java})
    walk = _walk(info, *(json.dumps({"m": {key: 1}}).encode() for key in (taken, refused)))
    assert [verdict == READ for verdict in walk.verdicts.tolist()] == [True, False]


def test_the_reason_says_that_it_is_a_key() -> None:
    info = _info(_map("int"))
    reason = Reason("m", "a key of the map: the text is no int")
    assert _walk(info, b'{"m":{"x":1}}', b'{"m":{"1":1}}').reasons == (reason,)
    assert _walk(info, b'{"m":[]}').reasons == (Reason("m", "expected an object, found an array"),)


def test_a_map_of_maps_is_written_again() -> None:
    line = {"type": "record", "name": "L", "fields": [{"name": "a", "type": ["null", "int"]}]}
    info = _info(["null", _map("int", _map("boolean", line), "Pair2")])
    payload = b'{"m":{"1":{"true":{"a":5},"false":{"a":null}}}}'
    value = row_reader_for(info, info).read(payload)
    assert value == {"m": {"1": {"true": {"a": 5}, "false": {"a": None}}}}
    again = row_writer_for(info).write(value)
    assert again == b'{"m":{"1":{"true":{"a":5},"false":{}}}}'


def test_a_list_of_other_records_is_an_array() -> None:
    kind = _map("int")
    kind["items"] |= {"name": "Pair", "namespace": "shop"}
    info = _info(kind)
    assert not _walk(info, b'{"m":[{"key":1,"value":2}]}').verdicts.any()
