"""Schemas of every type, and what a caller may hand over as one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.messaging.errors import InvalidValueError
from gitops.messaging.values.schema import BytesSchema, from_wire
from gitops.messaging.values.table import (
    AutoProduceSchema,
    schema_of,
    stored_value_schema,
    value_schema,
)
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo, SchemaType
from tests.support.message_schemas import MIXED, PARCEL, avro, value_for


def schema(kind: SchemaType, text: str = "", **properties: str) -> SchemaInfo:
    return SchemaInfo(type=kind, schema=text, properties=properties)


@pytest.mark.parametrize("name", MIXED)
def test_what_is_encoded_is_valid(name: str) -> None:
    one = MIXED[name]
    one.validate(one.encode(value_for(name, 7)))


@pytest.mark.parametrize("name", MIXED)
def test_a_schema_survives_the_protocol(name: str) -> None:
    one = MIXED[name]
    again = stored_value_schema(one.to_wire())
    assert again.info.type is one.info.type
    assert from_wire(one.to_wire()) == one.stored
    again.validate(one.encode(value_for(name, 7)))


@pytest.mark.parametrize("name", sorted(set(MIXED) - {"protobuf"}))
@given(payload=st.binary(max_size=60))
def test_bytes_are_valid_or_refused(name: str, payload: bytes) -> None:
    try:
        MIXED[name].validate(payload)
    except InvalidValueError as error:
        assert "does not fit" in error.what  # noqa: PT017 - both ways are right


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("avro", {"id": 5}),
        ("avro", None),
        ("json", object()),
        ("protobuf", "text"),
        ("protobuf", {"unknown": 1}),
        ("inline", "no pair"),
        ("inline", (1, {"id": "a"})),
        ("separated", ("k", object())),
    ],
)
def test_values_that_do_not_fit(name: str, value: object) -> None:
    with pytest.raises(InvalidValueError, match="does not fit the"):
        MIXED[name].encode(value)


def test_the_same_schema_has_the_same_digest() -> None:
    assert avro().digest == avro().digest
    assert len({one.digest for one in MIXED.values()}) == len(MIXED)
    plain = schema(SchemaType.AVRO, avro().info.schema)
    named = SchemaInfo(type=plain.type, schema=plain.schema, properties={"a": "b"})
    assert value_schema(plain).digest != value_schema(named).digest


def test_a_protobuf_class_is_a_schema() -> None:
    assert schema_of(PARCEL).digest == MIXED["protobuf"].digest
    assert schema_of(PARCEL).encode({"id": "a", "grams": 3}) == b"\n\x01a\x10\x03"
    assert schema_of(PARCEL) is schema_of(PARCEL)


def test_schemas_of_pulsar_client_are_schemas_as_they_are() -> None:
    pulsar_schema: Any = pytest.importorskip("pulsar.schema", reason="no extra 'pulsar'")

    class Order(pulsar_schema.Record):  # type: ignore[misc]  # it has no types
        id = pulsar_schema.String()

    theirs = pulsar_schema.AvroSchema(Order)
    ours = schema_of(theirs)
    assert ours.info.type is SchemaType.AVRO
    assert ours.stored.data == theirs.schema_info().schema().encode()
    assert ours.encode(Order(id="a")) == theirs.encode(Order(id="a"))
    ours.validate(ours.encode(Order(id="a")))
    with pytest.raises(InvalidValueError, match="AVRO"):
        ours.encode("no order")
    assert schema_of(pulsar_schema.StringSchema()).encode("é") == "é".encode()
    assert not schema_of(pulsar_schema.BytesSchema()).has_definition


def test_what_is_no_schema() -> None:
    with pytest.raises(UsageError, match="int is no schema"):
        schema_of(5)
    with pytest.raises(UsageError, match="AUTO_CONSUME"):
        value_schema(schema(SchemaType.AUTO_CONSUME))


@pytest.mark.parametrize(
    "info",
    [
        schema(SchemaType.AVRO, "no json"),
        schema(SchemaType.AVRO, '{"type": "unknown"}'),
        schema(SchemaType.AVRO, "[" * 5000),
        schema(SchemaType.PROTOBUF_NATIVE, "{}"),
        schema(SchemaType.KEY_VALUE, "{}"),
        schema(SchemaType.KEY_VALUE, '{"key": "", "value": "x"}', **{"value.schema.type": "AVRO"}),
    ],
)
def test_definitions_that_nobody_can_write_with(info: SchemaInfo) -> None:
    with pytest.raises(UsageError):
        value_schema(info)


def test_bytes_are_sent_without_a_schema_or_with_any() -> None:
    assert not BytesSchema().has_definition
    assert BytesSchema().to_wire().type == 0
    other = BytesSchema(avro().info)
    assert other.digest == avro().digest
    assert other.encode(b"anything") == b"anything"
    with pytest.raises(InvalidValueError, match="not str"):
        other.encode("text")


def test_auto_produce_wraps_an_actual_schema() -> None:
    wrapped = AutoProduceSchema(MIXED["inline"])
    payload = MIXED["inline"].encode(("k", {"id": "a"}))
    assert wrapped.encode(payload) == payload
    assert wrapped.digest == MIXED["inline"].digest
    not_bytes: Any = "text"
    with pytest.raises(InvalidValueError, match="not str"):
        wrapped.encode(not_bytes)
    for damaged in (payload[:-1], payload + b"x", b"\xff" * 9, b"\0\0"):
        with pytest.raises(InvalidValueError):
            wrapped.encode(damaged)


def test_halves_that_are_null() -> None:
    pair = MIXED["inline"]
    assert pair.encode((None, None)) == b"\xff\xff\xff\xff" * 2
    pair.validate(b"\xff\xff\xff\xff" * 2)
    assert json.loads(MIXED["separated"].encode(("k", {"id": "a"}))) == {"id": "a"}
