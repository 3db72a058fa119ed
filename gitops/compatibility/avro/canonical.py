"""Avro for Java's Schema.equals, as a key: two schemas are equal if their keys are.

What counts (Avro 1.11.4): full names, fields in order with type, default and sort order, symbols,
sizes, branches, and every member that Avro has no meaning for. What does not: `doc`, `aliases`,
an enum's `default`, record or error, layout, the order of members.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from gitops.compatibility.avro.json_text import Json
from gitops.compatibility.avro.schema import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Missing,
    Record,
    Schema,
    Union,
)


def key(schema: Schema) -> Hashable:
    """Equal for two schemas exactly if Avro for Java calls them equal."""
    facts = schema.facts if isinstance(schema, Record | Union) else None
    if facts is None:
        return _node(schema, set())
    if facts.key is None:
        facts.key = _node(schema, set())
    return facts.key


def _node(schema: Schema, seen: set[str]) -> Hashable:
    props = _props(schema.props)
    match schema:
        case Record():
            if schema.name in seen:
                return ("named", schema.name)
            seen.add(schema.name)
            fields = tuple(_field(f, seen) for f in schema.all_fields)
            return ("record", schema.name, props, fields)
        case Enum():
            return ("enum", schema.name, props, schema.symbols)
        case Fixed():
            return ("fixed", schema.name, props, schema.size)
        case Array():
            return ("array", props, _node(schema.items, seen))
        case Map():
            return ("map", props, _node(schema.values, seen))
        case Union():
            return ("union", tuple(_node(branch, seen) for branch in schema.branches))
        case _:
            return (schema.kind, props)


def _field(field: Field, seen: set[str]) -> Hashable:
    """Definitions share fields, so that Python often sees that keys are equal without a look."""
    if not field.is_plain:
        return _field_parts(field, seen)
    if field.key is None:
        field.key = _field_parts(field, seen)
    return field.key


def _field_parts(field: Field, seen: set[str]) -> Hashable:
    default = field.default
    value = None if isinstance(default, Missing) else (json_key(default),)
    return (field.name, _node(field.type, seen), value, field.order, _props(field.props))


def _props(props: Mapping[str, Json] | None) -> Hashable:
    return frozenset((name, json_key(value)) for name, value in props.items()) if props else None


def json_key(value: Json) -> Hashable:
    """Equal for two values exactly if Jackson's nodes are: 1 is not 1.0, members in any order."""
    match value:
        case dict():
            return frozenset((name, json_key(member)) for name, member in value.items())
        case list():
            return tuple(json_key(item) for item in value)
        case float():
            return ("float", repr(value))
        case _:
            return (type(value).__name__, value)
