"""The definitions of JSON schemas: Avro's form, and the old form of Jackson's JsonSchema."""

from __future__ import annotations

import json
from typing import Any, Final

from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.definition import DefinitionError
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import ANY_AVRO
from gitops.schemas.avro.schema import Array, Enum, Field, Map, Primitive, Record, Schema, Union
from gitops.schemas.json import legacy_parser

_OPEN: Final = ("java.", "com.fasterxml.jackson.databind.")
"""Packages whose classes are written in forms of their own."""

_SCALARS: Final = {
    "string": "string",
    "number": "double",
    "integer": "long",
    "boolean": "boolean",
    "null": "null",
}


def schema_of(info: SchemaInfo) -> Schema:
    """What a JSON definition says, as an Avro schema; raises DefinitionError.

    In the old form every member may be null or absent, and what it leaves open may be anything.
    """
    try:
        return ANY_AVRO.parse(info.schema)
    except (AvroParseError, RecursionError) as error:
        try:
            legacy_parser.read(info.schema)
            value = json.JSONDecoder().raw_decode(info.schema.lstrip("\ufeff \t\r\n"))[0]
        except (ValueError, RecursionError):
            raise DefinitionError(f"the JSON definition is not valid: {error}") from None
    return _schema(value if isinstance(value, dict) else {}, "Root")


def is_anything(schema: Schema) -> bool:
    """Whether it is a Java class that the definition says nothing about."""
    return isinstance(schema, Record) and not schema.all_fields and schema.name.startswith(_OPEN)


def _schema(node: dict[str, Any], name: str) -> Schema:
    symbols = node.get("enum")
    if isinstance(symbols, list) and symbols and all(isinstance(symbol, str) for symbol in symbols):
        return Enum(name, tuple(dict.fromkeys(symbols)))
    kind = _kind(node)
    if kind == "object":
        return _object(node, name)
    if kind == "array":
        items = node.get("items")
        return Array(_schema(items, f"{name}Item") if isinstance(items, dict) else _any_object())
    return Primitive(_SCALARS[kind]) if kind in _SCALARS else _any_object()


def _kind(node: dict[str, Any]) -> str:
    """The word in `type`; empty for what only a member of that name before it could excuse."""
    kind = node.get("type")
    return kind if isinstance(kind, str) else ""


def _object(node: dict[str, Any], name: str) -> Schema:
    properties, others = node.get("properties"), node.get("additionalProperties")
    if isinstance(properties, dict) and properties:
        record = Record(name)
        record.set_fields(tuple(_field(name, *member) for member in properties.items()))
        return record
    return Map(_schema(others, f"{name}Value") if isinstance(others, dict) else _any_object())


def _field(record: str, name: str, node: Any) -> Field:  # noqa: ANN401 - JSON
    kind = _schema(node, f"{record}_{name}") if isinstance(node, dict) else _any_object()
    return Field(name, Union((Primitive("null"), kind)), None)


def _any_object() -> Schema:
    """What the definition says nothing about, as of a Java class."""
    record = Record("java.lang.Object")
    record.set_fields(())
    return record
