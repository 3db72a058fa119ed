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


def equal(one: Schema, other: Schema) -> bool:
    """Whether Avro for Java calls two definitions equal.

    Most pairs differ, and that shows long before all of either is looked at. What they share,
    versions nearly all, needs no look: a node equals itself.
    """
    return _schemas(one, other, set())


def _schemas(one: Schema, other: Schema, seen: set[tuple[int, int]]) -> bool:
    """`seen` are the pairs of records that are being compared, or are equal."""
    return one is other or (
        one.kind == other.kind and _props(one.props, other.props) and _parts(one, other, seen)
    )


def _parts(one: Schema, other: Schema, seen: set[tuple[int, int]]) -> bool:
    match one, other:
        case Record(), Record():
            return one.name == other.name and _records(one, other, seen)
        case Enum(), Enum():
            return one.name == other.name and one.symbols == other.symbols
        case Fixed(), Fixed():
            return one.name == other.name and one.size == other.size
        case Array(), Array():
            return _schemas(one.items, other.items, seen)
        case Map(), Map():
            return _schemas(one.values, other.values, seen)
        case Union(), Union():
            return len(one.branches) == len(other.branches) and all(
                _schemas(mine, theirs, seen)
                for mine, theirs in zip(one.branches, other.branches, strict=True)
            )
        case _:
            return True


def _records(one: Record, other: Record, seen: set[tuple[int, int]]) -> bool:
    if len(one.all_fields) != len(other.all_fields):
        return False
    pair = (id(one), id(other))
    if pair in seen:
        return True
    seen.add(pair)
    pairs = zip(one.all_fields, other.all_fields, strict=True)
    return all(mine is theirs or _fields(mine, theirs, seen) for mine, theirs in pairs)


def _fields(one: Field, other: Field, seen: set[tuple[int, int]]) -> bool:
    return (
        one.name == other.name
        and one.order == other.order
        and _defaults(one, other)
        and _props(one.props, other.props)
        and _schemas(one.type, other.type, seen)
    )


def _defaults(one: Field, other: Field) -> bool:
    mine, theirs = one.default, other.default
    if mine is theirs:
        return True
    return mine is not MISSING and theirs is not MISSING and json_key(mine) == json_key(theirs)


def _props(one: Mapping[str, Json] | None, other: Mapping[str, Json] | None) -> bool:
    """No members and None are the same."""
    return not (one or other) or json_key(one or {}) == json_key(other or {})


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


def is_read_alike(one: object, other: object) -> bool:
    """Whether two readings of one text are the same record to every check that follows.

    Also False where they may be: Avro 1.11 and 1.12 treat aliases otherwise, and a default of a
    union that is not null.
    """
    if not (isinstance(one, Record) and isinstance(other, Record)):
        return False
    mine, theirs = facts_of(one), facts_of(other)
    if mine.has_aliases or theirs.has_aliases or mine.refers_back != theirs.refers_back:
        return False
    if _has_only_simple_fields(one, other):
        return True
    records = (named for named in named_types(one) if isinstance(named, Record))
    return equal(one, other) and all(
        _has_plain_default(field) for record in records for field in record.all_fields
    )


def _has_only_simple_fields(one: Record, other: Record) -> bool:
    """Whether they are equal, and every field is a known one: so are most."""
    return (
        one.name == other.name
        and len(one.all_fields) == len(other.all_fields)
        and _props(one.props, other.props)
        and all(map(_is_simple_and_alike, one.all_fields, other.all_fields))
    )


@lru_cache(maxsize=2**14)
def _is_simple_and_alike(one: Field, other: Field) -> bool:
    """The same for a field that contains no named type; versions and topics share its nodes."""
    is_simple = one.is_plain and other.is_plain and _has_plain_default(one)
    return is_simple and _fields(one, other, set())


def _has_plain_default(field: Field) -> bool:
    """Whether no union decides about it, unless it is null."""
    default = field.default
    if default is MISSING or default is None or isinstance(field.type, _OF_ONE_TYPE):
        return True
    return isinstance(field.type, Array | Map) and not default
