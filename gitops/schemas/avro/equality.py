"""Avro for Java's Schema.equals: whether two definitions are one to the registry.

What counts (Avro 1.11.4): full names, fields in order with type, default and sort order, symbols,
sizes, branches, and every member that Avro has no meaning for. What does not: `doc`, `aliases`,
an enum's `default`, record or error, layout, the order of members.

And whether two versions of Avro read one definition alike, so that all that follows is the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Final

from gitops.schemas.avro.json_text import Json
from gitops.schemas.avro.schema import (
    MISSING,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
    facts_of,
    named_types,
)


def equal(left: Schema, right: Schema) -> bool:
    """Whether Avro for Java calls two definitions equal.

    Most pairs differ, and that shows long before all of either is looked at. What they share,
    versions nearly all, needs no look: a node equals itself.
    """
    return _schemas(left, right, set())


def _schemas(left: Schema, right: Schema, seen: set[tuple[int, int]]) -> bool:
    """`seen` are the pairs of records that are being compared, or are equal."""
    return left is right or (
        left.kind == right.kind and _props(left.props, right.props) and _parts(left, right, seen)
    )


def _parts(left: Schema, right: Schema, seen: set[tuple[int, int]]) -> bool:
    match left, right:
        case Record(), Record():
            return left.name == right.name and _records(left, right, seen)
        case Enum(), Enum():
            return left.name == right.name and left.symbols == right.symbols
        case Fixed(), Fixed():
            return left.name == right.name and left.size == right.size
        case Array(), Array():
            return _schemas(left.items, right.items, seen)
        case Map(), Map():
            return _schemas(left.values, right.values, seen)
        case Union(), Union():
            return len(left.branches) == len(right.branches) and all(
                _schemas(schema, other_schema, seen)
                for schema, other_schema in zip(left.branches, right.branches, strict=True)
            )
        case _:
            return True


def _records(left: Record, right: Record, seen: set[tuple[int, int]]) -> bool:
    if len(left.all_fields) != len(right.all_fields):
        return False
    pair = (id(left), id(right))
    if pair in seen:
        return True
    seen.add(pair)
    pairs = zip(left.all_fields, right.all_fields, strict=True)
    return all(
        field is other_field or _fields(field, other_field, seen) for field, other_field in pairs
    )


def _fields(left: Field, right: Field, seen: set[tuple[int, int]]) -> bool:
    return (
        left.name == right.name
        and left.order == right.order
        and _defaults(left, right)
        and _props(left.props, right.props)
        and _schemas(left.type, right.type, seen)
    )


def _defaults(left: Field, right: Field) -> bool:
    left_default, right_default = left.default, right.default
    if left_default is right_default:
        return True
    return (
        left_default is not MISSING
        and right_default is not MISSING
        and json_key(left_default) == json_key(right_default)
    )


def _props(left: Mapping[str, Json] | None, right: Mapping[str, Json] | None) -> bool:
    """No members and None are the same."""
    return not (left or right) or json_key(left or {}) == json_key(right or {})


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


# Whether two versions of Avro read one definition alike.

_OF_ONE_TYPE: Final = (Primitive, Enum, Fixed)


def is_read_alike(left: object, right: object) -> bool:
    """Whether two readings of one text are the same record to every check that follows.

    Also False where they may be: Avro 1.11 and 1.12 treat aliases otherwise, and a default of a
    union that is not null.
    """
    if not (isinstance(left, Record) and isinstance(right, Record)):
        return False
    left_facts, right_facts = facts_of(left), facts_of(right)
    if (
        left_facts.has_aliases
        or right_facts.has_aliases
        or left_facts.refers_back != right_facts.refers_back
    ):
        return False
    if _has_only_simple_fields(left, right):
        return True
    records = (named for named in named_types(left) if isinstance(named, Record))
    return equal(left, right) and all(
        _has_plain_default(field) for right in records for field in right.all_fields
    )


def _has_only_simple_fields(left: Record, right: Record) -> bool:
    """Whether they are equal, and every field is a known one: so are most."""
    return (
        left.name == right.name
        and len(left.all_fields) == len(right.all_fields)
        and _props(left.props, right.props)
        and all(map(_is_simple_and_alike, left.all_fields, right.all_fields))
    )


@lru_cache(maxsize=2**14)
def _is_simple_and_alike(left: Field, right: Field) -> bool:
    """The same for a field that contains no named type; versions and topics share its nodes."""
    is_simple = left.is_plain and right.is_plain and _has_plain_default(left)
    return is_simple and _fields(left, right, set())


def _has_plain_default(field: Field) -> bool:
    """Whether no union decides about it, unless it is null."""
    default = field.default
    if default is MISSING or default is None or isinstance(field.type, _OF_ONE_TYPE):
        return True
    return isinstance(field.type, Array | Map) and not default
