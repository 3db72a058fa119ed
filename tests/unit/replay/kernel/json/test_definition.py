"""Definitions in the old form of Jackson's JsonSchema, and messages of such topics."""

from __future__ import annotations

import json

import pyarrow
import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.json.definition import schema_of
from gitops.replay.kernel.protocol import CountKey, CountKind, Reason
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for

OLD = SchemaInfo(
    type=SchemaType.JSON,
    schema=json.dumps(
        {
            "type": "object",
            "id": "urn:jsonschema:shop:Order",
            "properties": {
                "id": {"type": "integer"},
                "price": {"type": "number"},
                "paid": {"type": "boolean"},
                "color": {"type": "string", "enum": ["RED", "GREEN"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "attrs": {"type": "object", "additionalProperties": {"type": "integer"}},
                "inner": {"type": "object", "properties": {"x": {"type": "integer"}}},
                "self": {"type": "object", "$ref": "urn:jsonschema:shop:Order"},
                "any": {"type": "any"},
            },
        }
    ),
)
AVRO_FORM = SchemaInfo(
    type=SchemaType.JSON,
    schema=json.dumps(
        {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
    ),
)
PAYLOAD = json.dumps(
    {
        "id": 1,
        "price": 2.5,
        "paid": True,
        "color": "RED",
        "tags": ["a"],
        "attrs": {"k": 1},
        "inner": {"x": 1},
        "any": [1, {"y": None}],
    }
).encode()


def test_messages_are_read() -> None:
    walk = kernel_for(OLD, OLD).walk(pyarrow.array([PAYLOAD, b"{}"]))
    assert not walk.verdicts.any(), walk.reasons
    assert walk.counts[CountKey("inner.x", CountKind.READ)] == 1
    assert walk.counts[CountKey("attrs{}", CountKind.READ)] == 1
    assert walk.counts[CountKey("color", CountKind.SYMBOL, "RED")] == 1
    assert row_reader_for(OLD, OLD).read(b'{"id":5}')["id"] == 5


@pytest.mark.parametrize(
    ("payload", "path", "reason"),
    [
        (b'{"id":"1"}', "id", "expected long, found text"),
        (b'{"color":"BLUE"}', "color", "the reader's enum does not have a symbol that the "),
        (b'{"tags":[1]}', "tags[]", "expected string, found an integer"),
    ],
)
def test_what_does_not_fit_fails(payload: bytes, path: str, reason: str) -> None:
    (found,) = kernel_for(OLD, OLD).walk(pyarrow.array([payload])).reasons
    assert found.path == path
    assert found.reason.startswith(reason)


def test_the_upgrade_from_the_old_form() -> None:
    walk = kernel_for(OLD, AVRO_FORM).walk(pyarrow.array([PAYLOAD, b"{}"]))
    reason = Reason("id", "it is missing, and the reader has no default for it")
    assert walk.reasons == (reason,)
    assert walk.counts[CountKey("id", CountKind.PROMOTED)] == 0
    assert walk.counts[CountKey("tags", CountKind.DROPPED)] == 1
    back = kernel_for(AVRO_FORM, OLD).walk(pyarrow.array([b'{"id":1}']))
    assert back.counts[CountKey("id", CountKind.PROMOTED)] == 1
    assert back.counts[CountKey("price", CountKind.DEFAULTED)] == 1


def test_a_definition_of_null_takes_anything() -> None:
    info = SchemaInfo(type=SchemaType.JSON, schema="null")
    assert not kernel_for(info, info).walk(pyarrow.array([PAYLOAD, b"5"])).verdicts.any()


@pytest.mark.parametrize("second", ["[]", "{}", "null", "3", '["string"]'])
def test_a_type_that_is_there_twice_may_be_anything_the_second_time(second: str) -> None:
    """Jackson goes by the first one that is a word (jackson-module-jsonSchema 2.17.2)."""
    inner = f'{{"type": "string", "type": {second}}}'
    text = f'{{"type": "object", "type": {second}, "properties": {{"a": {inner}}}}}'

    schema_of(SchemaInfo(type=SchemaType.JSON, schema=text))
