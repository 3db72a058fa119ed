"""The builder refuses what Pulsar's refuses; test_java_builder.py compares the texts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitops.builder import record
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo, SchemaType


def test_a_record_is_a_schema_with_properties() -> None:
    made = record("com.acme.Order").property("owner", "ada").field("id", "string").build("JSON")
    text = (
        '{"type":"record","name":"Order","namespace":"com.acme",'
        '"fields":[{"name":"id","type":"string"}]}'
    )
    assert made == SchemaInfo(type=SchemaType.JSON, schema=text, properties={"owner": "ada"})


def test_a_record_in_two_fields_is_defined_once() -> None:
    line = record("Line").field("sku", "string")
    made = record("Order").field("a", line, aliases=["Row"]).optional("b", line).build("AVRO")
    first, second = json.loads(made.schema)["fields"]
    assert first["type"]["aliases"] == ["Row"]
    assert second["type"] == ["null", "Line"]


@pytest.mark.parametrize(
    "field",
    [
        {"type": "varchar"},
        {"type": "int", "default": "x"},
        {"type": "int", "default": 2**31},
        {"type": "date", "default": 1},
        {"type": "bytes", "default": "x"},
        {"type": "int", "aliases": ["other"]},
    ],
)
def test_a_field_that_pulsar_refuses_is_an_error(field: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as raised:
        record("Order").field("id", **field).build("AVRO")
    assert raised.value.hint


def test_a_schema_that_pulsar_refuses_is_an_error() -> None:
    twice: Any = record("Order").field("id", "string").field("id", "string")
    with pytest.raises(UsageError, match="Pulsar would not accept"):
        twice.build("AVRO")
    with pytest.raises(UsageError, match="no schema of type STRING"):
        twice.build("STRING")
    both = record("Order").field("a", record("X")).field("b", record("X"))
    with pytest.raises(UsageError, match="two records have the name X"):
        both.build("AVRO")
