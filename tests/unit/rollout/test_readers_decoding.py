"""Which consumer decodes what, by types that the random worlds do not have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitops.model.names import TopicName
from gitops.model.rollout import Role
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.rollout.model import Use, UsedSchema
from gitops.rollout.readers import unreadable_reason
from tests.support.protos import native, order

TOPIC = TopicName.parse("t/n/events")
TEXT = SchemaInfo(type=SchemaType.STRING)


def record(name: str, *fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def field(name: str, kind: object, **more: object) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def enum(*symbols: str, **more: str) -> dict[str, Any]:
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


def of(kind: SchemaType, definition: object) -> SchemaInfo:
    return SchemaInfo(type=kind, schema=json.dumps(definition))


def pair(key: str, value: object, encoding: str = "INLINE") -> SchemaInfo:
    properties = {
        "key.schema.type": key,
        "value.schema.type": "AVRO",
        "kv.encoding.type": encoding,
    }
    text = json.dumps({"key": "", "value": value})
    return SchemaInfo(type=SchemaType.KEY_VALUE, schema=text, properties=properties)


def message(body: str, more: str = "") -> SchemaInfo:
    source = f'syntax = "proto2"; package shop; message Order {{ {body} }} {more}'
    return native({"order.proto": source}, "order.proto", "shop.Order")


def why(written: UsedSchema, *readers: UsedSchema) -> str | None:
    return unreadable_reason(Use(topic=TOPIC, role=Role.CONSUMER, schemas=readers), written)


A = record("Made", field("a", "int"))
WIDE = record("Made", field("a", "long"))
MORE = record("Made", field("a", "int"), field("b", "string"))


@pytest.mark.parametrize("kind", [SchemaType.AVRO, SchemaType.JSON])
def test_structs_are_resolved(kind: SchemaType) -> None:
    assert why(of(kind, A), of(kind, WIDE)) is None
    assert "int cannot read long" in (why(of(kind, WIDE), of(kind, A)) or "")
    assert "no default" in (why(of(kind, A), of(kind, MORE)) or "")


def test_a_symbol_that_the_reader_lacks() -> None:
    """The broker lets it pass (Pulsar 4.0.7)."""
    few, many = (of(SchemaType.AVRO, record("R", field("e", enum(*"XY"[:n])))) for n in (1, 2))
    assert why(few, many) is None
    assert "at 'e': " in (why(many, few) or "")
    fallback = record("R", field("e", enum("X", default="X")))
    assert why(many, of(SchemaType.AVRO, fallback)) is None


def test_a_pair_is_read_half_by_half() -> None:
    assert why(pair("STRING", A), pair("STRING", WIDE)) is None
    assert (why(pair("STRING", WIDE), pair("STRING", A)) or "").startswith("value: ")
    assert why(pair("INT64", A), pair("STRING", A)) == (
        "key: it reads STRING, and messages are INT64"
    )


def test_a_pair_that_is_laid_out_otherwise() -> None:
    """The key is in the payload, or beside it: the client looks where its own schema says."""
    apart, together = pair("STRING", A, "SEPARATED"), pair("STRING", A)
    assert why(apart, apart) is None
    assert why(apart, together) == "it looks for keys INLINE, and messages have them SEPARATED"
    assert why(together, apart) == "it looks for keys SEPARATED, and messages have them INLINE"


def test_other_types_are_not_read() -> None:
    assert why(TEXT, SchemaInfo(type=SchemaType.INT64)) == "it reads INT64, and messages are STRING"
    assert why(of(SchemaType.JSON, A), of(SchemaType.AVRO, A)) is not None
    assert why(TEXT, TEXT) is None


def test_a_kind_of_event_is_read_by_the_reader_of_its_kind() -> None:
    """One of another kind that happens to fit does not help."""
    old, new = of(SchemaType.AVRO, A), of(SchemaType.AVRO, MORE)
    other = of(SchemaType.AVRO, record("Sent", field("a", "int")))
    assert why(old, new, other) is not None
    assert why(old, old, other) is None
    assert why(of(SchemaType.AVRO, record("Lost", field("a", "int"))), new, other) is None


@pytest.mark.parametrize("takes_all", ["NONE", "AUTO_CONSUME"])
def test_who_has_no_schema_takes_all(takes_all: UsedSchema) -> None:
    assert why(of(SchemaType.AVRO, A), takes_all) is None
    assert why("NONE", of(SchemaType.AVRO, A)) is None


def test_protobuf_skips_what_it_does_not_know_and_misses_what_it_must_have() -> None:
    plain = message("optional int32 id = 1;")
    more = message("optional int32 id = 1; optional string note = 2;")
    demands = message("optional int32 id = 1; required string note = 2;")
    inner = message("optional Line id = 1;", "message Line { optional int32 n = 1; }")
    strict = message("optional Line id = 1;", "message Line { required int32 n = 1; }")
    assert why(plain, more) is None
    assert why(more, plain) is None
    assert why(demands, plain) is None
    assert "'note' is required" in (why(plain, demands) or "")
    assert "'n' is required" in (why(inner, strict) or "")
    assert why(strict, inner) is None


def test_text_is_no_encoded_message() -> None:
    text = message("optional string id = 1;")
    inner = message("optional Line id = 1;", "message Line { optional int32 n = 1; }")
    assert "fail" in (why(text, inner) or "")
    assert why(inner, text) is None  # parsers of proto2 check no text, those of proto3 do
    checked = order("string id = 1;")
    assert "fail" in (
        why(order("Line id = 1;", more="message Line { int32 n = 1; }"), checked) or ""
    )
