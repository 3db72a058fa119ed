"""The fields of a record: order, aliases, defaults (Avro 1.11.4), and how one becomes nullable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from gitops.schemas.avro.errors import JavaError
from gitops.schemas.avro.json_text import Json, java_double
from gitops.schemas.avro.names import check_name, problem
from gitops.schemas.avro.schema import (
    MISSING,
    NO_PROPS,
    Array,
    Field,
    Map,
    Missing,
    Primitive,
    Record,
    Schema,
    Union,
    describe,
)

# Whether a JSON value may be the default of a type: Avro 1.11.4's isValidDefault.

_BITS = {"int": 31, "long": 63}


class IncompleteRecordError(ValueError):
    """A default of the record type whose fields are being read."""


def is_valid_default(schema: Schema, value: Json | Missing) -> bool:
    """Whether `value` is a default of `schema`; a missing one is not.

    A union takes what its first branch takes, from Avro 1.12.0 on what any takes. Text stands for
    string, bytes, enum and fixed, whatever it says. Raises IncompleteRecordError.
    """
    if value is MISSING:
        return False
    if isinstance(schema, Union):
        return any(is_valid_default(branch, value) for branch in schema.default_branches)
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


# Fields of a record: order, default, aliases; and the members that other nodes share.


_RESERVED: Final = frozenset(("default", "doc", "name", "order", "type", "aliases"))
_ORDERS: Final = frozenset(("ASCENDING", "DESCENDING", "IGNORE"))


def read(node: dict[str, Json], kind: Schema, at: str, *, validate: bool, signs: str) -> Field:
    """A field that has a name, and whose type is known; `signs` as for `check_name`."""
    name = str(node["name"])
    order = _order(node, at) if "order" in node else "ASCENDING"
    default = default_of(node["default"], kind, at) if "default" in node else MISSING
    check_name(name, at, "name", signs=signs)
    if validate:
        check_default(name, kind, default, at)
    return Field(
        name,
        kind,
        default,
        text(node, "doc"),
        order,
        aliases(node, at) if "aliases" in node else (),
        props(node, _RESERVED) or None,
    )


def props(node: dict[str, Json], reserved: frozenset[str]) -> Mapping[str, Json]:
    """The members that Avro has no meaning for; most nodes have none."""
    if reserved.issuperset(node):
        return NO_PROPS
    return {key: value for key, value in node.items() if key not in reserved}


def check_default(name: str, kind: Schema, default: Json | Missing, at: str) -> None:
    """Refuse a default that its type does not allow (of a union: a branch that may have one)."""
    if isinstance(default, Missing):
        return
    where = f"{at}/default"
    try:
        valid = is_valid_default(kind, default)
    except IncompleteRecordError:
        message = f"the default of '{name}' is of the record that is being defined"
        raise problem("invalid-default", message, where, java=JavaError.RUNTIME) from None
    if not valid:
        message = f"the default of '{name}' is no {describe(kind)}"
        raise problem("invalid-default", message, where, java=JavaError.RUNTIME)


def has_valid_default(field: Field) -> bool:
    """Whether `check_default` would let it pass."""
    try:
        return is_valid_default(field.type, field.default)
    except IncompleteRecordError:
        return False


def text(node: dict[str, Json], key: str) -> str | None:
    """A member that counts only if it is text."""
    value = node.get(key)
    return value if isinstance(value, str) else None


def aliases(node: dict[str, Json], at: str) -> tuple[str, ...]:
    """The member `aliases` as it stands: a list of text."""
    given = node["aliases"]
    if not isinstance(given, list) or not all(isinstance(value, str) for value in given):
        raise problem("bad-aliases", "'aliases' must be a list of text", f"{at}/aliases")
    return tuple(dict.fromkeys(given))


def _order(node: dict[str, Json], at: str) -> str:
    order = text(node, "order")
    if order is None or order.upper() not in _ORDERS:
        message = "'order' is one of ascending, descending, ignore"
        raise problem("bad-order", message, f"{at}/order", java=JavaError.RUNTIME)
    return order.upper()


def default_of(default: Json, kind: Schema, at: str) -> Json:
    """The default of the field `at`; text in the place of a number is read as one, as Java does."""
    if isinstance(default, str) and kind.kind in ("float", "double"):
        number = java_double(default)
        if number is None:
            message = f"the default '{default}' is not a number"
            raise problem("invalid-default", message, f"{at}/default", java=JavaError.RUNTIME)
        return number
    return default


# How a field becomes nullable, as text that can be pasted.


def null_hint(field: Field, owner: Record | None = None) -> str:
    """How to let a field be null, as a whole field where its type is one name.

    `owner`: the record around it, which the field may be of by its name.
    """
    kind, name = field.type, ""
    if isinstance(kind, Primitive) and not kind.props:
        name = kind.kind
    elif isinstance(kind, Record) and kind is owner:
        name = kind.name
    if name in ("", "null"):
        return 'make it nullable with the default null: a union with "null" first'
    whole = {"name": field.name, "type": ["null", name], "default": None}
    return f"make it nullable with the default null: {json.dumps(whole, ensure_ascii=False)}"
