"""One JSON payload at a time, slowly, as the reader has it; and back to JSON."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec
import numpy

from gitops.replay.kernel.definition import lacks_symbol
from gitops.replay.kernel.json.map_keys import Key, entries_of
from gitops.replay.kernel.json.parser import Pairs, parse
from gitops.replay.kernel.json.scalars import MAX_FLOAT, describe_value
from gitops.replay.kernel.json.schema_pair import (
    Anything,
    Entries,
    Items,
    Leaf,
    Member,
    Members,
    Node,
    OneOf,
    Recursion,
    Symbols,
)
from gitops.replay.kernel.protocol import (
    CountKey,
    CountKind,
    Reason,
    Unreadable,
    ValueMismatchError,
)
from gitops.replay.kernel.verdicts import join_path
from gitops.schemas.avro.schema import Array, Map, Record, Schema, Union

# Numbers that lose digits in a reader's narrower type, or do not fit it.

_EXACT: Final = 2**53
_FLOAT: Final = struct.Struct("f")
_MOST: Final = {"float": math.nextafter(MAX_FLOAT, 0), "double": sys.float_info.max}


def is_rounded(kind: str, value: Any) -> bool:  # noqa: ANN401 - a number, or text as "NaN"
    """Whether a float or a double is another number than `value`."""
    if isinstance(value, str):
        return False
    if kind == "double":
        return isinstance(value, int) and abs(value) > _EXACT and int(float(value)) != value
    (number,) = _FLOAT.unpack(_FLOAT.pack(float(value)))
    return Decimal(number) != Decimal(value)


def count_rounded(kind: str, values: Sequence[float]) -> int:
    """How many of some numbers are another one in a float or a double."""
    if max(values) > _EXACT or min(values) < -_EXACT:
        return sum(is_rounded(kind, value) for value in values)
    if kind == "double":
        return 0
    numbers = numpy.array(values, numpy.float64)
    return int((numbers.astype(numpy.float32) != numbers).sum())


def in_range(kind: str, values: Sequence[float]) -> bool:
    """Whether all fit into a float or a double."""
    most = _MOST[kind]
    return max(values) <= most and min(values) >= -most


# One payload, slowly: its value as the reader sees it, and what was counted on the way.


def read(node: Node, payload: bytes) -> tuple[Any, list[CountKey]]:
    """The value of a payload, and what there is to count; raises Unreadable, with the JSON."""
    value = parse(payload)
    counted: list[CountKey] = []
    try:
        return take(node, value, counted), counted
    except Unreadable as unreadable:
        unreadable.value = value
        raise
    except RecursionError:
        reason = Reason("", "nested too deep to be read")
        raise Unreadable(reason, reason.reason) from None


def take(node: Node, value: Any, counted: list[CountKey]) -> Any:  # noqa: ANN401 - JSON
    """A JSON value as the reader sees it; adds to `counted`, raises Unreadable."""
    return _TAKERS[type(node)](node, value, counted)


def _leaf(node: Leaf, value: Any, counted: list[CountKey]) -> Any:  # noqa: ANN401 - JSON
    try:
        taken = node.scalar.take(value)
    except ValueMismatchError as error:
        raise _unreadable(node.path, str(error), value) from None
    counted.append(CountKey(node.path, CountKind.READ))
    if value is None:
        counted.append(CountKey(node.path, CountKind.NULLS))
        return taken
    if node.promoted:
        counted.append(CountKey(node.path, CountKind.PROMOTED))
    if node.rounds and is_rounded(node.scalar.kind, taken):
        counted.append(CountKey(node.path, CountKind.CHANGED))
    return taken


def _symbols(node: Symbols, value: Any, counted: list[CountKey]) -> str:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        raise _mismatch(node.path, "an enum's symbol", value)
    symbol = node.counted.get(value)
    if symbol is None:
        named = value if value in node.written else "a symbol that the writer's lacks too"
        raise _unreadable(node.path, lacks_symbol(named), value)
    counted += (CountKey(node.path, CountKind.READ), symbol)
    return value


def _items(node: Items, value: Any, counted: list[CountKey]) -> list[Any]:  # noqa: ANN401 - JSON
    if not isinstance(value, list):
        raise _mismatch(node.path, "an array", value)
    counted.append(CountKey(node.path, CountKind.READ))
    return [take(node.item, item, counted) for item in value]


def _entries(node: Entries, value: Any, counted: list[CountKey]) -> dict[str, Any]:  # noqa: ANN401 - JSON
    members = _object(node.path, value)
    if node.key is not None:
        _check_keys(node.key, node.path, members)
    counted.append(CountKey(node.path, CountKind.READ))
    return {name: take(node.value, inner, counted) for name, inner in members.items()}


def _check_keys(key: Key, path: str, names: Iterable[str]) -> None:
    for name in names:
        try:
            key.check(name)
        except ValueMismatchError as error:
            raise _unreadable(path, f"a key of the map: {error}", name) from None


def _anything(node: Anything, value: Any, counted: list[CountKey]) -> Any:  # noqa: ANN401 - JSON
    counted.append(CountKey(node.path, CountKind.READ))
    return value


def _one_of(node: OneOf, value: Any, counted: list[CountKey]) -> Any:  # noqa: ANN401 - JSON
    items = branch_of(node, value)
    if items is None:
        raise _unreadable(node.path, "no branch of the reader's union accepts it", value)
    branch, name = items
    counted.append(CountKey(node.path, CountKind.BRANCH, name))
    return take(branch, value, counted)


def branch_of(node: OneOf, value: Any) -> tuple[Node, str] | None:  # noqa: ANN401 - JSON
    """The branch of a value, and its name.

    What is in the value decides nothing, so that none is looked at twice at every depth.
    """
    other = node.optional
    for branch, name in zip(node.branches, node.names, strict=True):
        if (branch is other and value is not None) or _fits(branch, value):
            return branch, name
    return None


def _fits(node: Node, value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a value is of the kind of a branch; an object has what a record needs."""
    match node:
        case Leaf():
            return _takes(node, value)
        case Symbols():
            return isinstance(value, str) and value in node.counted
        case Items():
            return isinstance(value, list)
        case Members(members=members) | Recursion(record=Members(members=members)):
            needed = (name for name, member in members.items() if member.absent is None)
            return isinstance(value, dict) and all(name in value for name in needed)
        case Entries():
            return isinstance(value, dict)
        case Anything():
            return value is not None
        case OneOf():
            return False


def _takes(node: Leaf, value: Any) -> bool:  # noqa: ANN401 - JSON
    try:
        node.scalar.take(value)
    except ValueMismatchError:
        return False
    return True


def _members(node: Members, value: Any, counted: list[CountKey]) -> dict[str, Any]:  # noqa: ANN401 - JSON
    counted.append(CountKey(node.path, CountKind.READ))
    return _record(node, node.path, value, counted)


def _recursion(node: Recursion, value: Any, counted: list[CountKey]) -> dict[str, Any]:  # noqa: ANN401 - JSON
    counted.append(CountKey(node.path, CountKind.READ))
    return _record(node.record, node.path, value, counted)


def _record(node: Members, path: str, value: Any, counted: list[CountKey]) -> dict[str, Any]:  # noqa: ANN401 - JSON
    given = _object(path, value)
    grouped: dict[str, Any] = {}
    for name, inner in given.items():
        member = node.members.get(name)
        if member is not None:
            grouped[name] = take(member.node, inner, counted)
        else:
            counted.append(
                CountKey(node.dropped.get(name) or join_path(node.path, "*"), CountKind.DROPPED)
            )
    return {
        name: grouped[name] if name in grouped else missing_value(member, counted)
        for name, member in node.members.items()
    }


def missing_value(member: Member, counted: list[CountKey]) -> Any:  # noqa: ANN401 - JSON
    """What stands for a member that is not there; raises Unreadable."""
    node = member.node
    match member.absent:
        case None:
            reason = "it is missing, and the reader has no default for it"
            raise Unreadable(Reason(node.path, reason), f"{node.path}: {reason}")
        case CountKind.READ:
            return take(node, None, counted)
        case _:
            counted.append(CountKey(node.path, CountKind.DEFAULTED))
            return member.default


def _object(path: str, value: Any) -> Mapping[str, Any]:  # noqa: ANN401 - JSON
    if not isinstance(value, dict):
        raise _mismatch(path, "an object", value)
    if isinstance(value, Pairs) and value.twice is not None:
        reason = Reason(path, "a member occurs twice in the object")
        raise Unreadable(reason, f"{path or 'the object'} has {_shown(value.twice)} twice")
    return value


def _mismatch(path: str, expected: str, value: Any) -> Unreadable:  # noqa: ANN401 - JSON
    return _unreadable(path, f"expected {expected}, found {describe_value(value)}", value)


def _unreadable(path: str, reason: str, value: Any) -> Unreadable:  # noqa: ANN401 - JSON
    shown = "" if isinstance(value, dict | list) else f": {_shown(value)}"
    return Unreadable(Reason(path, reason), f"{path or 'the value'}: {reason}{shown}")


def _shown(value: Any) -> str:  # noqa: ANN401 - JSON
    text = "null" if value is None else repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_LONGEST: Final = 80
_TAKERS: Final[Mapping[type, Callable[[Any, Any, list[CountKey]], Any]]] = {
    Recursion: _recursion,
    Leaf: _leaf,
    Symbols: _symbols,
    Items: _items,
    Entries: _entries,
    Anything: _anything,
    OneOf: _one_of,
    Members: _members,
}


# A value back to JSON, as Pulsar's Java client writes it: members that are null left out.


_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")


class JsonWriter:
    """A RowWriter for what `JsonKernel.read` answers with the same schema as reader."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - any value that a schema can say
        """The payload; raises Unreadable for text that has no UTF-8, as Jackson refuses it."""
        try:
            return _ENCODER.encode(_write_value(self._schema, value))
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
            reason = Reason("", "the value cannot be written as JSON")
            raise Unreadable(reason, f"{reason.reason}: {error}") from None


def _write_value(schema: Schema, value: Any) -> Any:  # noqa: ANN401 - any value that a schema can say
    match schema:
        case Record() if isinstance(value, dict) and schema.all_fields:
            return {
                name: _write_value(field.type, value[name])
                for name, field in schema.by_name.items()
                if value.get(name) is not None
            }
        case Array() if isinstance(value, list):
            return [_write_value(schema.items, item) for item in value]
        case Array() | Map() if isinstance(value, dict):
            entries = entries_of(schema)
            if entries is None:
                return value
            return {name: _write_value(entries.value, inner) for name, inner in value.items()}
        case Union():
            return _write_value(_branch(schema, value), value)
        case _:
            return value


def _branch(union: Union, value: Any) -> Schema:  # noqa: ANN401 - any value that a schema can say
    """The branch whose members have to be looked at; the first one for what has no parts."""
    for branch in union.branches:
        match branch:
            case Record() if isinstance(value, dict) and value.keys() <= branch.by_name.keys():
                return branch
            case Array() if isinstance(value, list):
                return branch
            case Array() | Map() if isinstance(value, dict) and entries_of(branch) is not None:
                return branch
            case _:
                pass
    return union.branches[0]
