"""Values as a reader sees them, the defaults among them.

Logical types are left as the types that carry them. A record is a dict in the reader's order, an
enum its symbol, bytes and fixed are bytes, text is text with U+FFFD for what is not UTF-8.
"""

from __future__ import annotations

import json
import struct
from typing import Any, Final, NamedTuple

from gitops.schemas.avro.schema import Array, Enum, Fixed, Map, Record, Schema, Union, branch_name

_FLOAT: Final = struct.Struct("<f")


class UnionValue(NamedTuple):
    """A value of a union that has more than one branch beside null; `branch` is its name."""

    branch: str
    value: Any


def needs_tag(union: Union) -> bool:
    """Whether a value alone does not tell its branch."""
    return sum(branch.kind != "null" for branch in union.branches) > 1


def to_float(number: float) -> float:
    """The nearest number of 32 bits; infinite beyond them, as in Java."""
    try:
        result: float = _FLOAT.unpack(_FLOAT.pack(number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
    return result


def default_value(schema: Schema, default: Any) -> Any:  # noqa: ANN401 - JSON in, a value out
    """The value that a default stands for; it was looked at before (`check_usable`)."""
    match schema:
        case Union():
            return _union_default(schema, default)
        case Record():
            given = default if isinstance(default, dict) else {}
            return {
                field.name: default_value(field.type, given.get(field.name, field.default))
                for field in schema.all_fields
            }
        case Array():
            return [default_value(schema.items, item) for item in _items_of(default)]
        case Map():
            members = default.items() if isinstance(default, dict) else ()
            return {name: default_value(schema.values, value) for name, value in members}
        case Enum():
            return default
        case Fixed():
            return default.encode("latin-1", "replace")[: schema.size].ljust(schema.size, b"\0")
        case _:
            return _primitive_default(schema.kind, default)


def _items_of(default: Any) -> list[Any]:  # noqa: ANN401 - JSON
    """What Java finds in it: the members of an object too, and nothing in a scalar."""
    if isinstance(default, dict):
        return list(default.values())
    return default if isinstance(default, list) else []


def _union_default(union: Union, default: Any) -> Any:  # noqa: ANN401 - JSON in, a value out
    """Of the first branch, as Avro has it."""
    branch = union.branches[0]
    value = default_value(branch, default)
    if value is None or not needs_tag(union):
        return value
    return UnionValue(branch_name(branch), value)


def _primitive_default(kind: str, default: Any) -> Any:  # noqa: ANN401 - JSON in, a value out
    match kind:
        case "int" | "long":
            bits = 32 if kind == "int" else 64
            return (int(default) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
        case "float":
            return to_float(float(default))
        case "double":
            return float(default)
        case "bytes":
            return default.encode("latin-1", "replace")
        case _:
            return default


def shown(value: Any) -> str:  # noqa: ANN401 - any value that a schema can say
    """A value as text for a person: JSON, bytes as Avro's JSON writes them."""
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value that a schema can say
    match value:
        case UnionValue():
            return {value.branch: _plain(value.value)}
        case bytes():
            return value.decode("latin-1")
        case dict():
            return {name: _plain(inner) for name, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
        case _:
            return value
