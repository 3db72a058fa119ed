"""All payloads of a column at once, member by member, without making values.

Producers write their messages one like the other: the same members in the same order, without
escapes. Rows like that are walked over side by side, as bytes; any other is left out, whatever is
odd about it, and read by those who can say more.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy

from gitops.replay.kernel.json.aligned_rows import ROOM, AlignedRows, Frame, Orders
from gitops.replay.kernel.json.numbers import Mask, Positions
from gitops.replay.kernel.json.rows import missing_value
from gitops.replay.kernel.json.schema_pair import Items, Leaf, Member, Members, Node, OneOf, Symbols
from gitops.replay.kernel.payload_column import Column
from gitops.replay.kernel.protocol import CountKey, CountKind

_MOST_ITEMS: Final = 64
"""Of an array; whoever has more is read alone."""

_SURE: Final = {
    "uuid": "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$",
    "uri": "^[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9/._~:@=&+,;-]*)?$",
    "url": "^https?://[A-Za-z0-9.-]+(:[0-9]{1,9})?(/[!-~]*)?$",
}
"""Text like this is of its form; whether other text is, is looked at alone."""

_EXACT: Final = 15
"""Digits that a double holds whatever they are."""


class Side(NamedTuple):
    """Payloads, and how their objects are written."""

    alike: AlignedRows
    orders: Orders


def walk(rows: Column, orders: Orders, plan: Node) -> tuple[Mask, Counter[CountKey]]:
    """Which rows were read (shape: rows), and what is counted in them; `covers` allows the plan."""
    alike = AlignedRows(rows)
    frame = alike.everything()
    step(Side(alike, orders), frame, plan)
    return alike.read(frame)


def covers(node: Node) -> bool:
    """Whether all payloads of a plan can be walked over like that; the top has to be a record."""
    return isinstance(node, Members) and _covers(node)


def _covers(node: Node) -> bool:
    match node:
        case Leaf(scalar=scalar):
            if scalar.kind in ("bytes", "fixed"):
                return scalar.form == "decimal"
            return scalar.form != "character" and (scalar.kind != "string" or _is_sure(scalar.form))
        case Symbols():
            return bool(node.counted)
        case Items():
            return _covers(node.item) and not _is_number(node.item)
        case OneOf():
            return node.optional is not None and _covers(node.optional)
        case Members():
            return all(_covers(member.node) for member in node.members.values())
        case _:
            return False


def _is_sure(form: str) -> bool:
    return not form or form in _SURE


def _is_number(node: Node) -> bool:
    """Where a number ends is told by the quote behind it, which an array of them has not."""
    if isinstance(node, OneOf) and node.optional is not None:
        node = node.optional
    return isinstance(node, Leaf) and node.scalar.kind not in ("string", "boolean", "null")


def step(side: Side, frame: Frame, node: Node) -> None:
    """Take the rows over a value."""
    _TAKE[type(node)](side, frame, node)


def _leaf(side: Side, frame: Frame, node: Leaf) -> None:
    scalar, path = node.scalar, node.path
    keys = (CountKey(path, CountKind.READ),)
    side.alike.count(
        (*keys, CountKey(path, CountKind.PROMOTED)) if node.promoted else keys, frame.rows
    )
    match scalar.kind:
        case "string" if scalar.form:
            _formed(side, frame, _SURE[scalar.form])
        case "string":
            side.alike.string(frame)
        case "boolean":
            _constant(side, frame, b"true", b"false")
        case "null":
            side.alike.count((CountKey(path, CountKind.NULLS),), frame.rows)
            _constant(side, frame, b"null")
        case "int" | "long":
            within = scalar.within or range(10)
            side.alike.number(frame, whole=len(str(within.stop - 1)) - 1)
        case _:
            _fraction(side, frame, node)


def _formed(side: Side, frame: Frame, pattern: str) -> None:
    start, end = side.alike.rising(frame, *side.alike.string(frame))
    side.alike.leave(frame, ~side.alike.fits(start, end, pattern))


def _fraction(side: Side, frame: Frame, node: Leaf) -> None:
    """A number of a float, a double, or a decimal."""
    start, end = side.alike.number(frame)
    if not node.rounds:
        return
    side.alike.leave(frame, end - start > _EXACT)
    if node.scalar.kind == "double":
        return
    where = numpy.flatnonzero(~side.alike.out(frame))
    if where.size:
        numbers = side.alike.values(start[where], end[where])
        changed = where[numbers.astype(numpy.float32) != numbers]
        rows = changed if frame.rows is None else frame.rows[changed]
        side.alike.count((CountKey(node.path, CountKind.CHANGED),), rows)


def _constant(side: Side, frame: Frame, *words: bytes) -> None:
    at = frame.at
    known = numpy.zeros(len(at), numpy.bool_)
    for word in words:
        positions = side.alike.matches(at, word)
        known |= positions
        frame.at = frame.at + positions * len(word)
    side.alike.leave(frame, ~known)


def _symbols(side: Side, frame: Frame, node: Symbols) -> None:
    side.alike.count((CountKey(node.path, CountKind.READ),), frame.rows)
    start, end = side.alike.rising(frame, *side.alike.string(frame))
    names, positions = side.alike.names(start, end)
    unknown = [number for number, name in enumerate(names) if name not in node.counted]
    if unknown:
        side.alike.leave(frame, numpy.isin(positions, unknown))
    side.alike.add_symbols(node, frame.rows, names, positions)


def _one_of(side: Side, frame: Frame, node: OneOf) -> None:
    other = node.optional
    if other is None:
        raise TypeError(node.names)
    name = node.names[node.branches.index(other)]
    null = side.alike.byte(frame.at) == ord("n")
    some = numpy.flatnonzero(~null)
    if some.size == len(null):
        side.alike.count((CountKey(node.path, CountKind.BRANCH, name),), frame.rows)
        step(side, frame, other)
        return
    part = frame.part(numpy.flatnonzero(null))
    side.alike.count(_nulls(node.path), part.rows)
    _constant(side, part, b"null")
    frame.put(numpy.flatnonzero(null), part)
    if some.size:
        part = frame.part(some)
        side.alike.count((CountKey(node.path, CountKind.BRANCH, name),), part.rows)
        step(side, part, other)
        frame.put(some, part)


def _nulls(path: str) -> tuple[CountKey, ...]:
    branch = CountKey(path, CountKind.BRANCH, "null")
    return (CountKey(path, CountKind.READ), CountKey(path, CountKind.NULLS), branch)


def _items(side: Side, frame: Frame, node: Items) -> None:
    """The first item of all rows, then the second of those that have one."""
    side.alike.count((CountKey(node.path, CountKind.READ),), frame.rows)
    begins = side.alike.byte(frame.at) == ord("[")
    frame.at = frame.at + begins
    side.alike.leave(frame, ~begins)
    empty = side.alike.byte(frame.at) == ord("]")
    frame.at = frame.at + empty
    going = numpy.flatnonzero(~empty & ~side.alike.out(frame))
    comma = side.orders.comma
    for _ in range(_MOST_ITEMS):
        if not going.size:
            break
        part = frame.part(going)
        step(side, part, node.item)
        ends = side.alike.byte(part.at) == ord("]")
        values = side.alike.matches(part.at, comma)
        part.at = part.at + ends + values * len(comma)
        side.alike.leave(part, ~(ends | values))
        frame.put(going, part)
        going = going[values]
    late = numpy.zeros(len(frame.at), numpy.bool_)
    late[going] = True
    side.alike.leave(frame, late)


def _members(side: Side, frame: Frame, node: Members) -> None:
    side.alike.count((CountKey(node.path, CountKind.READ),), frame.rows)
    orders = side.orders
    known = [name for name in orders.names.get(id(node), ()) if _is_known(node, name)]
    opened = numpy.zeros(len(frame.at), numpy.bool_)
    for name in known:
        opened |= _member(side, frame, node, name, opened)
    for name, member in node.members.items():
        if name not in known:
            _absent(side, frame, member, numpy.arange(len(frame.at)))
    ends = opened & (side.alike.byte(frame.at) == ord("}"))
    frame.at = frame.at + ends
    side.alike.leave(frame, ~ends)


def _is_known(node: Members, name: str) -> bool:
    """Whether a schema has it, and it stands in payloads as it is."""
    plain = _key(name) == json.dumps(name, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return plain and len(_key(name)) < ROOM // 2 and (name in node.members or name in node.dropped)


def _key(name: str) -> bytes:
    return f'"{name}"'.encode("utf-8", "surrogatepass")


def _member(side: Side, frame: Frame, node: Members, name: str, opened: Mask) -> Mask:
    """Take the rows that have the member over it; which those are."""
    orders = side.orders
    key = _key(name) + orders.colon
    positions = numpy.zeros(len(opened), numpy.bool_)
    sizes = numpy.zeros(len(opened), numpy.int64)
    for before, values in ((b"{", ~opened), (orders.comma, opened)):
        if numpy.count_nonzero(values):
            here = side.alike.matches(frame.at, before + key) & values
            positions |= here
            sizes += here * len(before + key)
    frame.at = frame.at + sizes
    frame.quote = frame.quote + 2 * positions
    where = numpy.flatnonzero(positions)
    member = node.members.get(name)
    if where.size + numpy.count_nonzero(side.alike.out(frame)) == len(positions):
        _value(side, frame, node, name)
        return positions
    if where.size:
        part = frame.part(where)
        _value(side, part, node, name)
        frame.put(where, part)
    if member is not None:
        _absent(side, frame, member, numpy.flatnonzero(~positions))
    return positions


def _value(side: Side, frame: Frame, node: Members, name: str) -> None:
    member = node.members.get(name)
    if member is not None:
        step(side, frame, member.node)
        return
    side.alike.count((CountKey(node.dropped[name], CountKind.DROPPED),), frame.rows)
    first = side.alike.byte(frame.at)
    text = first == ord('"')
    constant = (first == ord("t")) | (first == ord("f")) | (first == ord("n"))
    for value, take in (
        (text, side.alike.string),
        (constant, lambda part: _constant(side, part, b"true", b"false", b"null")),
        (~text & ~constant, side.alike.number),
    ):
        where = numpy.flatnonzero(value)
        if where.size:
            part = frame.part(where)
            take(part)
            frame.put(where, part)


def _absent(side: Side, frame: Frame, member: Member, where: Positions) -> None:
    """Those rows do not have the member."""
    if member.absent is None:
        missing = numpy.zeros(len(frame.at), numpy.bool_)
        missing[where] = True
        side.alike.leave(frame, missing)
        return
    rows = where if frame.rows is None else frame.rows[where]
    counted: list[CountKey] = []
    missing_value(member, counted)
    side.alike.count(tuple(counted), rows)


_TAKE: Final[dict[type, Callable[[Side, Frame, Any], None]]] = {
    Leaf: _leaf,
    Symbols: _symbols,
    OneOf: _one_of,
    Items: _items,
    Members: _members,
}
