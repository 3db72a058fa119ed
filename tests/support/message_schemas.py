"""Schemas of all kinds for one topic, and values that are written with them."""

from __future__ import annotations

import json
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from gitops.messaging.values.key_value import pair_info
from gitops.messaging.values.schema import ValueSchema
from gitops.messaging.values.table import schema_of, value_schema
from gitops.model.schema import KeyValueEncodingType, SchemaInfo, SchemaType


def record(*names: str) -> str:
    """An Avro record `Order` with an id and optional texts."""
    more = [{"name": name, "type": ["null", "string"], "default": None} for name in names]
    fields = [{"name": "id", "type": "string"}, *more]
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


def avro(*names: str) -> ValueSchema:
    """The schema of that record."""
    return value_schema(SchemaInfo(type=SchemaType.AVRO, schema=record(*names)))


def parcel_class() -> type[Message]:
    """A generated class, made without protoc."""
    file = FileDescriptorProto(name="parcel.proto", package="shop", syntax="proto3")
    message = file.message_type.add(name="Parcel")
    message.field.add(name="id", number=1, type="TYPE_STRING", label="LABEL_OPTIONAL")
    message.field.add(name="grams", number=2, type="TYPE_INT32", label="LABEL_OPTIONAL")
    pool = DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName("shop.Parcel"))


PARCEL: Final = parcel_class()
JSON_INFO: Final = SchemaInfo(type=SchemaType.JSON, schema=record("note"))
STRING: Final = SchemaInfo(type=SchemaType.STRING)
AVRO_INFO: Final = SchemaInfo(type=SchemaType.AVRO, schema=record())
INLINE: Final = pair_info(STRING, AVRO_INFO, KeyValueEncodingType.INLINE)
SEPARATED: Final = pair_info(STRING, JSON_INFO, KeyValueEncodingType.SEPARATED)

MIXED: Final[dict[str, ValueSchema]] = {
    "avro": avro(),
    "avro with a note": avro("note"),
    "json": value_schema(JSON_INFO),
    "protobuf": schema_of(PARCEL),
    "inline": value_schema(INLINE),
    "separated": value_schema(SEPARATED),
}


def value_for(name: str, number: int) -> Any:  # noqa: ANN401 - a value of each schema's own kind
    """A value for the schema of that name in MIXED."""
    text = str(number)
    return {
        "avro": {"id": text},
        "avro with a note": {"id": text, "note": "é"},
        "json": {"id": text, "note": "é"},
        "protobuf": PARCEL(id=text, grams=number),
        "inline": (f"k{text}", {"id": text}),
        "separated": (f"k{text}", {"id": text, "note": "é"}),
    }[name]
