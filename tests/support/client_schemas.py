"""Schemas of every kind that clients come with: the known one, changes of each sort, rubbish."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from gitops.model.decision import StoredSchema
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import to_stored
from tests.support.protos import native, order

_ID: Final = {"name": "id", "type": "int"}
_NOTE: Final = {"name": "note", "type": "string"}
_MORE: Final = {"name": "more", "type": "long", "default": 0}
_OWED: Final = {"name": "owed", "type": "long"}

KNOWN: Final = "known"
"""What every topic with a history begins with."""

AVRO_CHANGES: Final[dict[str, list[dict[str, Any]]]] = {
    KNOWN: [_ID, _NOTE],
    "both ways": [_ID, _NOTE, _MORE],
    "backward": [_ID],
    "forward": [_ID, _NOTE, _OWED],
    "neither": [{"name": "id", "type": "string"}, _NOTE, _OWED],
}


def record(fields: list[dict[str, Any]]) -> str:
    """An Avro definition of these fields."""
    return json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": fields})


@cache
def offers_of(kind: SchemaType) -> Mapping[str, StoredSchema]:
    """What a client of that type can come with, by name."""
    match kind:
        case SchemaType.AVRO | SchemaType.JSON | SchemaType.PROTOBUF:
            texts = {name: record(fields) for name, fields in AVRO_CHANGES.items()}
            infos = {name: SchemaInfo(type=kind, schema=text) for name, text in texts.items()}
        case SchemaType.KEY_VALUE:
            infos = {name: _pair(record(fields)) for name, fields in AVRO_CHANGES.items()}
            infos["other key"] = _pair(record(AVRO_CHANGES[KNOWN]), key="INT64")
            infos["invalid"] = _pair('{"type": "nothing"}')
        case SchemaType.PROTOBUF_NATIVE:
            sale = 'syntax = "proto3"; package shop; message Sale { int32 id = 1; }'
            infos = {
                KNOWN: order("int32 id = 1;"),
                "field": order("string id = 1;"),
                "neither": native({"sale.proto": sale}, "sale.proto", "shop.Sale"),
            }
        case _:
            infos = {KNOWN: SchemaInfo(type=kind)}
    offers = {name: to_stored(info) for name, info in infos.items()}
    return {"invalid": StoredSchema(type=kind, data=b'{"type": '), **offers}


def _pair(value: str, key: str = "STRING") -> SchemaInfo:
    return SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema=f'{{"key": "", "value": {value}}}',
        properties={
            "key.schema.type": key,
            "value.schema.type": "AVRO",
            "kv.encoding.type": "INLINE",
        },
    )
