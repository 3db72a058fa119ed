"""What a parsed Avro schema says, as values that Python compares."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from gitops.schemas.avro.equality import json_key
from gitops.schemas.avro.schema import (
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


def shape(schema: Schema, seen: set[int] | None = None) -> Hashable:
    """All that a parsed schema says, but not how it is shared."""
    seen = set() if seen is None else seen
    if isinstance(schema, Record):
        if id(schema) in seen:
            return ("again", schema.name)
        seen.add(id(schema))
    says: list[Hashable] = [schema.kind, repr(schema.props)]
    if isinstance(schema, Record | Enum | Fixed):
        says += [schema.name, schema.aliases, schema.doc]
    match schema:
        case Record():
            says += [_field_shape(field, seen) for field in schema.all_fields]
        case Enum():
            says += [schema.symbols, schema.default]
        case Fixed():
            says.append(schema.size)
        case _:
            says += [shape(inner, seen) for inner in _inner(schema)]
    return tuple(says)


def _inner(schema: Schema) -> tuple[Schema, ...]:
    match schema:
        case Array():
            return (schema.items,)
        case Map():
            return (schema.values,)
        case Union():
            return schema.branches
        case _:
            return ()


def _field_shape(field: Field, seen: set[int]) -> Hashable:
    says = (field.name, field.doc, field.order, field.aliases)
    return (*says, repr(field.default), repr(field.props), shape(field.type, seen))


def whole_key(schema: Schema, seen: set[str] | None = None) -> Hashable:
    """What Avro 1.11.4's Schema.equals looks at, all of it, whatever the other schema is.

    Names must be unique in the definition, as they are unless aliases have changed them.
    """
    seen = set() if seen is None else seen
    if isinstance(schema, Record):
        if schema.name in seen:
            return ("named", schema.name)
        seen.add(schema.name)
    says: list[Hashable] = [schema.kind, _props_key(schema.props)]
    match schema:
        case Record():
            says += [schema.name, *(_field_key(field, seen) for field in schema.all_fields)]
        case Enum():
            says += [schema.name, schema.symbols]
        case Fixed():
            says += [schema.name, schema.size]
        case _:
            says += [whole_key(inner, seen) for inner in _inner(schema)]
    return tuple(says)


def _field_key(field: Field, seen: set[str]) -> Hashable:
    default = None if isinstance(field.default, Missing) else (json_key(field.default),)
    kind = whole_key(field.type, seen)
    return (field.name, field.order, default, _props_key(field.props), kind)


def _props_key(props: Mapping[str, Any] | None) -> Hashable:
    return frozenset((name, json_key(value)) for name, value in (props or {}).items())
