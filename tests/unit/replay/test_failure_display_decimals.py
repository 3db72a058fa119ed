"""Decimals of a message that is shown to a person."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.failure_display import as_text
from gitops.replay.kernel.avro.values import UnionValue
from gitops.replay.kernel.schema_types import replace_decimals

_PRICE: Final = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
_FIXED: Final = {"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 4}
_TREE: Final = {
    "type": "record",
    "name": "Tree",
    "fields": [
        {"name": "price", "type": _PRICE},
        {"name": "below", "type": ["null", "Tree"]},
    ],
}


@pytest.mark.parametrize(
    ("schema", "value", "shown"),
    [
        (_PRICE, b"\x04\xd2", "12.34"),
        (_PRICE, b"\xfb\x2e", "-12.34"),
        (_PRICE, b"", '""'),
        (_PRICE, b"\x01" * 401, f'"{"01" * 401}"'),
        (_PRICE, b"\x7f" * 12, '"394587319188689053897258105.59"'),
        (_FIXED, b"\x04\xd2", "1234"),
        ("bytes", b"\x04\xd2", '"04d2"'),
        ({**_PRICE, "precision": 1}, b"\x04\xd2", '"04d2"'),
        (["null", _PRICE], b"\x04\xd2", "12.34"),
        (["null", _PRICE], None, "null"),
        ({"type": "array", "items": _PRICE}, [b"\x00", b"\x01"], "[0.0, 0.01]"),
        ({"type": "map", "values": _PRICE}, {"a": b"\x01"}, '{"a": 0.01}'),
        (
            _TREE,
            {"price": b"\x01", "below": {"price": b"\x02", "below": None}},
            '{"price": 0.01, "below": {"price": 0.02, "below": null}}',
        ),
    ],
)
def test_a_decimal_is_a_number(schema: object, value: object, shown: str) -> None:
    assert as_text(replace_decimals(value, _info(schema))) == shown


def test_a_branch_of_a_union_keeps_its_name() -> None:
    union = _info(["string", _PRICE, _FIXED])

    assert replace_decimals(UnionValue("F", b"\x04\xd2"), union) == UnionValue("F", 1234)
    assert str(replace_decimals(UnionValue("bytes", b"\x04\xd2"), union).value) == "12.34"
    assert replace_decimals(UnionValue("string", "decimal"), union) == UnionValue(
        "string", "decimal"
    )


def test_a_half_has_decimals_too() -> None:
    names = {f"{half}.schema.{of}": "" for half in ("key", "value") for of in ("name",)}
    pair = SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema=json.dumps({"key": "", "value": _PRICE}),
        properties={
            **names,
            "key.schema.type": "STRING",
            "key.schema.properties": "{}",
            "value.schema.type": "AVRO",
            "value.schema.properties": "{}",
        },
    )

    assert as_text(replace_decimals({"key": "k", "value": b"\x04\xd2"}, pair)) == (
        '{"key": "k", "value": 12.34}'
    )
    text = SchemaInfo(type=SchemaType.STRING, schema="decimal")
    assert replace_decimals("x", text) == "x"


def _info(schema: Any) -> SchemaInfo:  # noqa: ANN401 - JSON
    return SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(schema))
