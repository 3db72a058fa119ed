"""An order with cards in it, as a schema of every type."""

from __future__ import annotations

import json

from gitops.model.schema import SchemaInfo, SchemaType
from tests.support.protos import order

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


CARD_IN_OLD_FORM = {"type": "object", "properties": {"pin": {"type": "string"}}}
OLD_FORM = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "paid": CARD_IN_OLD_FORM,
        "notes": {"type": "object", "additionalProperties": {"type": "string"}},
        "by": {"type": "array", "items": CARD_IN_OLD_FORM},
        "other": {"type": "any"},
    },
}
NATIVE = order(
    "int32 id = 1; Card paid = 2; map<string, Card> by = 3; map<string, string> notes = 4;"
    " Order parent = 5; oneof choice { Card gift = 6; string coupon = 7; }",
    more="message Card { string pin = 1; }",
)
PARSING_INFO = [
    {"number": 1, "name": "id", "type": "INT64", "label": "LABEL_OPTIONAL"},
    {"number": 2, "name": "paid", "type": "MESSAGE", "label": "LABEL_OPTIONAL"},
    {"number": 3, "name": "by", "type": "MESSAGE", "label": "LABEL_REPEATED"},
]
UNTOLD = {"number": 4, "name": "untold", "type": "MESSAGE", "label": "LABEL_OPTIONAL"}


def protobuf(*infos: object) -> SchemaInfo:
    return SchemaInfo(
        type=SchemaType.PROTOBUF,
        schema=json.dumps(ORDER),
        properties={"__PARSING_INFO__": json.dumps(infos)},
    )


PROTOBUF = protobuf(*PARSING_INFO)
