"""Whether a JSON value may be the default of a type: Avro 1.11.4's isValidDefault."""

from __future__ import annotations

from gitops.compatibility.avro.json_text import Json
from gitops.compatibility.avro.schema import (
    MISSING,
    Array,
    Map,
    Missing,
    Primitive,
    Record,
    Schema,
    Union,
)

_BITS = {"int": 31, "long": 63}


class IncompleteRecordError(ValueError):
    """A default of the record type whose fields are being read."""


def is_valid_default(schema: Schema, value: Json | Missing) -> bool:
    """Whether `value` is a default of `schema`; a missing one is not.

    A union takes what its first branch takes. Text stands for string, bytes, enum and fixed,
    whatever it says. Raises IncompleteRecordError.
    """
    if value is MISSING:
        return False
    if isinstance(schema, Union):
        return bool(schema.branches) and is_valid_default(schema.branches[0], value)
    if isinstance(schema, Primitive):  # most types are, so they are asked for early
        return _is_valid_scalar(schema.kind, value)
    match schema:
        case Array():
            return isinstance(value, list) and all(is_valid_default(schema.items, v) for v in value)
        case Map():
            return isinstance(value, dict) and all(
                is_valid_default(schema.values, v) for v in value.values()
            )
        case Record():
            return isinstance(value, dict) and _is_valid_record(schema, value)
        case _:
            return _is_valid_scalar(schema.kind, value)


def _is_valid_record(record: Record, value: dict[str, Json]) -> bool:
    """A field that `value` leaves out has its own default, which was looked at with the field.

    Were it looked at again, records that default to records could take time without end.
    """
    if record.fields is None:
        raise IncompleteRecordError(record.name)
    return all(
        is_valid_default(f.type, value[f.name]) if f.name in value else f.has_default
        for f in record.fields
    )


def _is_valid_scalar(kind: str, value: Json) -> bool:
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "int" | "long":
            return is_whole(value) and -(2 ** _BITS[kind]) <= value < 2 ** _BITS[kind]
        case "float" | "double":
            return is_number(value)
        case _:
            return isinstance(value, str)


def is_whole(value: Json) -> bool:
    """A JSON number without point or exponent."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Json) -> bool:
    """A JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
