"""Where fields stand, and what may hold a sensitive one."""

from __future__ import annotations

import json

import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.places import Path, Places, field_paths

CARD = {
    "type": "record",
    "name": "Card",
    "fields": [{"name": "pin", "type": "string"}, {"name": "issuer", "type": "string"}],
}
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "by", "type": {"type": "map", "values": {"type": "array", "items": CARD}}},
        {"name": "paid", "type": ["null", "Card"]},
        {"name": "notes", "type": {"type": "map", "values": "string"}},
        {"name": "parent", "type": ["null", "Order"]},
    ],
}


def info(definition: object, kind: SchemaType = SchemaType.JSON) -> SchemaInfo:
    return SchemaInfo(type=kind, schema=json.dumps(definition))


def test_fields_are_found_in_whatever_they_stand() -> None:
    assert field_paths(info(ORDER)) == [
        ("id",),
        ("by",),
        ("by", "pin"),
        ("by", "issuer"),
        ("paid",),
        ("paid", "pin"),
        ("paid", "issuer"),
        ("notes",),
        ("parent",),
    ]


def test_halves_have_names() -> None:
    halves = SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema=json.dumps({"key": "", "value": CARD}),
        properties={
            "key.schema.type": "STRING",
            "value.schema.type": "JSON",
            "kv.encoding.type": "SEPARATED",
        },
    )
    assert field_paths(halves) == [("key",), ("value",), ("value", "pin"), ("value", "issuer")]


@pytest.mark.parametrize(
    "schema",
    [
        info({"type": "recrd"}),
        SchemaInfo(type=SchemaType.STRING),
        info({"fileDescriptorSet": ""}, SchemaType.PROTOBUF_NATIVE),
    ],
)
def test_other_definitions_have_no_known_fields(schema: SchemaInfo) -> None:
    places = Places.of([schema], lambda _path: True)
    assert not places.known
    assert not places.may_hold(())


@pytest.mark.parametrize(
    ("at", "may"),
    [
        ((), True),
        (("paid",), True),
        (("by", "any key"), True),
        (("PAID",), True),
        (("paid", "PIN"), True),
        (("paid", "issuer"), False),
        (("by", "any key", "issuer"), False),
        (("notes", "any key"), False),
        (("id",), False),
    ],
)
def test_what_is_above_a_sensitive_field_may_hold_it(*, at: Path, may: bool) -> None:
    places = Places.of([info(ORDER)], lambda path: path[-1] == "pin")
    assert places.may_hold(at) is may
