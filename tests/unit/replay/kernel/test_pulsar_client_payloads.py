"""Messages that pulsar-client's own schema classes write."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pyarrow
import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.protocol import CountKey, CountKind, Reason
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for

schema: Any = pytest.importorskip("pulsar.schema", reason="pulsar-client is not installed")


class Color(Enum):
    """As Python's clients declare an enum."""

    RED = 1
    GREEN = 2


class Inner(schema.Record):  # type: ignore[misc] # the library has no types
    """A record within another one."""

    a = schema.Integer()
    b = schema.String()


class Order(schema.Record):  # type: ignore[misc] # as above
    """All that JSON can hold."""

    id = schema.Integer(required=True)
    total = schema.Long()
    ratio = schema.Float()
    score = schema.Double()
    active = schema.Boolean()
    note = schema.String()
    tags = schema.Array(schema.String())
    attrs = schema.Map(schema.Integer())
    inner = Inner()


class Painted(schema.Record):  # type: ignore[misc] # as above
    """An enum."""

    color = schema.CustomEnum(Color)


def _order() -> Order:
    return Order(
        id=1,
        total=2**60,
        ratio=0.5,
        score=0.1,
        active=True,
        note="ü",
        tags=["a", "b"],
        attrs={"k": 1},
        inner=Inner(a=1, b="x"),
    )


def _info(kind: SchemaType, client: Any) -> SchemaInfo:  # noqa: ANN401 - a class of the library
    return SchemaInfo(type=kind, schema=client.schema_info().schema())


@pytest.mark.parametrize("kind", [SchemaType.AVRO, SchemaType.JSON])
def test_records_are_read(kind: SchemaType) -> None:
    make = schema.AvroSchema if kind is SchemaType.AVRO else schema.JsonSchema
    client = make(Order)
    info = _info(kind, client)
    payloads = [client.encode(_order()), client.encode(Order(id=2))]
    walk = kernel_for(info, info).walk(pyarrow.array(payloads))
    assert not walk.verdicts.any(), walk.reasons
    assert walk.counts[CountKey("note", CountKind.NULLS)] == 1
    assert walk.counts[CountKey("tags[]", CountKind.READ)] == 2
    assert row_reader_for(info, info).read(payloads[0]) == {
        "id": 1,
        "total": 2**60,
        "ratio": 0.5,
        "score": 0.1,
        "active": True,
        "note": "ü",
        "tags": ["a", "b"],
        "attrs": {"k": 1},
        "inner": {"a": 1, "b": "x"},
    }


def test_an_enum_in_json_is_a_number_which_java_takes_for_another_symbol() -> None:
    client = schema.JsonSchema(Painted)
    info = _info(SchemaType.JSON, client)
    walk = kernel_for(info, info).walk(pyarrow.array([client.encode(Painted(color=Color.RED))]))
    assert walk.reasons == (Reason("color", "expected an enum's symbol, found an integer"),)
