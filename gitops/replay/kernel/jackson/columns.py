"""All payloads of a column at once, member by member, without making values.

Producers write their messages one like the other: the same members in the same order, without
escapes. Rows like that are walked over side by side, as bytes; any other is left out, whatever is
odd about it, and read by those who can say more.

A row that is left out stands at `nowhere`, behind all payloads, where nothing is as it should be.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.replay.kernel.columns import Column
from gitops.replay.kernel.jackson.digits import MOST, Mask, Numbers, Positions, texts, values
from gitops.replay.kernel.jackson.orders import Orders
from gitops.replay.kernel.jackson.plan import Items, Leaf, Member, Members, Node, OneOf, Symbols
from gitops.replay.kernel.jackson.reading import absent
from gitops.replay.kernel.utf8 import not_utf8
from gitops.replay.kernel.walk import Counted, What

_ROOM: Final = 256
"""Bytes before and behind the payloads, that no look around a position leads outside."""

_BEFORE: Final = bytes(_ROOM)
_BEHIND: Final = b"\0\0" + b'"' * 4 + bytes(_ROOM)
"""Whoever stands at the end, or has been left out, still has a next quote."""

_MOST_ITEMS: Final = 64
_MOST_BLANKS: Final = 8
_EXACT: Final = 15
"""Digits that a double holds whatever they are."""

_BETWEEN: Final = numpy.array([chr(byte) in ",{}[] " for byte in range(256)])
_BLANK: Final = ord(" ")


class Frame:
    """Rows at one place: their numbers (None: all), where each is, and its next quote's number."""

    __slots__ = ("at", "quote", "rows")

    def __init__(self, rows: Positions | None, at: Positions, quote: Positions) -> None:
        self.rows, self.at, self.quote = rows, at, quote

    def part(self, where: Positions) -> Frame:
        """Some of the rows."""
        rows = where if self.rows is None else self.rows.take(where)
        return Frame(rows, self.at.take(where), self.quote.take(where))

    def put(self, where: Positions, part: Frame) -> None:
        """Move those rows on to where the part is."""
        self.at[where], self.quote[where] = part.at, part.quote


class Columns:
    """Payloads on their way through a plan that `covers` says yes to."""

    def __init__(self, rows: Column, orders: Orders) -> None:
        first, last = int(rows.starts[0]), int(rows.ends[-1])
        self._nowhere = _ROOM + last - first + 1
        self._text = b"".join((_BEFORE, rows.data[first:last].data, _BEHIND))
        self._buffer = pyarrow.py_buffer(self._text)
        self._data = numpy.frombuffer(self._buffer, numpy.uint8)
        self._words: NDArray[numpy.uint64] = numpy.ndarray(
            (len(self._data) - 8,), "<u8", self._buffer, strides=(1,)
        )
        self._starts, self._ends = rows.starts - first + _ROOM, rows.ends - first + _ROOM
        self._orders = orders
        self._quotes = numpy.flatnonzero(self._data == ord('"'))
        self._last = len(self._quotes) - _BEHIND.count(b'"')
        self._entries: list[tuple[tuple[Counted, ...], Positions | None]] = []
        self._symbols: list[tuple[Symbols, Positions | None, list[str | None], Positions]] = []

    def walk(self, node: Node) -> tuple[Mask, Counter[Counted]]:
        """Which rows were read (shape: rows), and what is counted in them."""
        frame = Frame(None, self._starts.copy(), self._quotes.searchsorted(self._starts))
        self.leave(frame, self._odd())
        self.step(frame, node)
        read = frame.at == self._ends
        return read, self._counts(read)

    def _odd(self) -> Mask:
        """Rows that hold escapes, bytes that JSON does not have, or no UTF-8."""
        odd = numpy.zeros(len(self._starts), numpy.bool_)
        payloads = self._data[_ROOM : self._nowhere - 1]
        if self._text.find(b"\\") >= 0 or payloads.min(initial=_BLANK) < _BLANK:
            at = numpy.flatnonzero((payloads == ord("\\")) | (payloads < _BLANK)) + _ROOM
            odd[self._starts.searchsorted(at, side="right") - 1] = True
        odd[not_utf8(self._buffer, self._starts, self._ends)] = True
        return odd

    def _counts(self, read: Mask) -> Counter[Counted]:
        counts: Counter[Counted] = Counter()
        total = int(numpy.count_nonzero(read))
        for keys, rows in self._entries:
            number = total if rows is None else int(numpy.count_nonzero(read.take(rows)))
            for key in keys if number else ():
                counts[key] += number
        for node, rows, names, found in self._symbols:
            mine = found[read if rows is None else read.take(rows)]
            for name, number in zip(names, numpy.bincount(mine).tolist(), strict=False):
                if number and name is not None:
                    counts[node.counted[name]] += number
        return counts

    # ------------------------------------------------------------ what steps are made of

    def step(self, frame: Frame, node: Node) -> None:
        """Take the rows over a value."""
        _TAKE[type(node)](self, frame, node)

    def count(self, keys: tuple[Counted, ...], rows: Positions | None) -> None:
        """Count the keys for those of the rows that are read in the end."""
        self._entries.append((keys, rows))

    def add_symbols(
        self, node: Symbols, rows: Positions | None, names: list[str | None], found: Positions
    ) -> None:
        """Count the symbol of each row: the number of its name."""
        self._symbols.append((node, rows, names, found))

    def leave(self, frame: Frame, odd: Mask) -> None:
        """Leave these rows of the frame out."""
        if numpy.count_nonzero(odd):
            frame.at[odd], frame.quote[odd] = self._nowhere, self._last

    def byte(self, at: Positions) -> NDArray[numpy.uint8]:
        """What stands there."""
        return self._data.take(at)

    def matches(self, at: Positions, text: bytes) -> Mask:
        """Whether that text stands there."""
        size = len(text)
        if size < 8:  # noqa: PLR2004 - bytes of a word
            wanted = numpy.uint64(int.from_bytes(text, "little"))
            found: Mask = self._words[at] & numpy.uint64(256**size - 1) == wanted
            return found
        found = self._words[at] == numpy.uint64(int.from_bytes(text[:8], "little"))
        for behind in [*range(8, size - 8, 8), size - 8][size == 8 :]:  # noqa: PLR2004
            word = numpy.uint64(int.from_bytes(text[behind : behind + 8], "little"))
            found &= self._words[at + behind] == word
        return found

    def string(self, frame: Frame) -> tuple[Positions, Positions]:
        """Take the rows over a string; where its text starts and ends."""
        start = frame.at + 1
        missing = self._quotes.take(frame.quote) != frame.at
        end = self._quotes.take(frame.quote + 1)
        missing |= end >= self._row_ends(frame)
        frame.at = end + 1
        frame.quote = frame.quote + 2
        self.leave(frame, missing)
        return start, end

    def number(self, frame: Frame, *, whole: int = 0) -> tuple[Positions, Positions]:
        """Take the rows over a number: a whole one of so many digits, or any; its bounds."""
        start = frame.at
        end = numpy.minimum(self._quotes.take(frame.quote), self._row_ends(frame))
        for _ in range(_MOST_BLANKS):
            between = _BETWEEN[self._data[end - 1]]
            if not numpy.count_nonzero(between):
                break
            end = end - between
        numbers = Numbers(self._data, self._words, start, end)
        fits = numbers.whole(whole) if whole else numbers.decimal(MOST)
        frame.at = end.copy()
        self.leave(frame, ~fits)
        return start, end

    def _row_ends(self, frame: Frame) -> Positions:
        return self._ends if frame.rows is None else self._ends.take(frame.rows)

    def values(self, start: Positions, end: Positions) -> NDArray[numpy.float64]:
        """What the numbers between are."""
        return values(self._buffer, start, end)

    def names(self, start: Positions, end: Positions) -> tuple[list[str | None], Positions]:
        """The texts between, each once, and for each row the number of its own."""
        coded = texts(self._buffer, start, end).dictionary_encode()
        return coded.dictionary.to_pylist(), coded.indices.fill_null(0).to_numpy()[::2]

    @property
    def orders(self) -> Orders:
        """How objects are written."""
        return self._orders

    def out(self, frame: Frame) -> Mask:
        """Which rows of the frame were left out."""
        out: Mask = frame.at >= self._nowhere
        return out


def covers(node: Node) -> bool:
    """Whether all payloads of a plan can be walked over like that; the top has to be a record."""
    return isinstance(node, Members) and _covers(node)


def _covers(node: Node) -> bool:
    match node:
        case Leaf(scalar=scalar):
            if scalar.kind in ("bytes", "fixed"):
                return scalar.form == "decimal"
            return scalar.form != "number"
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


def _is_number(node: Node) -> bool:
    """Where a number ends is told by the quote behind it, which an array of them has not."""
    if isinstance(node, OneOf) and node.optional is not None:
        node = node.optional
    return isinstance(node, Leaf) and node.scalar.kind not in ("string", "boolean", "null")


def _leaf(columns: Columns, frame: Frame, node: Leaf) -> None:
    scalar, path = node.scalar, node.path
    keys = (Counted(path, What.READ),)
    columns.count((*keys, Counted(path, What.PROMOTED)) if node.promoted else keys, frame.rows)
    match scalar.kind:
        case "string":
            columns.string(frame)
        case "boolean":
            _constant(columns, frame, b"true", b"false")
        case "null":
            columns.count((Counted(path, What.NULLS),), frame.rows)
            _constant(columns, frame, b"null")
        case "int" | "long":
            within = scalar.within or range(10)
            columns.number(frame, whole=len(str(within.stop - 1)) - 1)
        case _:
            _fraction(columns, frame, node)


def _fraction(columns: Columns, frame: Frame, node: Leaf) -> None:
    """A number of a float, a double, or a decimal."""
    start, end = columns.number(frame)
    if not node.rounds:
        return
    columns.leave(frame, end - start > _EXACT)
    if node.scalar.kind == "double":
        return
    where = numpy.flatnonzero(~columns.out(frame))
    if where.size:
        numbers = columns.values(start[where], end[where])
        changed = where[numbers.astype(numpy.float32) != numbers]
        rows = changed if frame.rows is None else frame.rows[changed]
        columns.count((Counted(node.path, What.CHANGED),), rows)


def _constant(columns: Columns, frame: Frame, *words: bytes) -> None:
    at = frame.at
    known = numpy.zeros(len(at), numpy.bool_)
    for word in words:
        found = columns.matches(at, word)
        known |= found
        frame.at = frame.at + found * len(word)
    columns.leave(frame, ~known)


def _symbols(columns: Columns, frame: Frame, node: Symbols) -> None:
    columns.count((Counted(node.path, What.READ),), frame.rows)
    start, end = columns.string(frame)
    out = columns.out(frame)
    if numpy.count_nonzero(out):  # positions have to rise
        start = numpy.maximum.accumulate(numpy.where(out, 0, start))
        end = numpy.where(out, start, end)
    names, found = columns.names(start, end)
    unknown = [number for number, name in enumerate(names) if name not in node.counted]
    if unknown:
        columns.leave(frame, numpy.isin(found, unknown))
    columns.add_symbols(node, frame.rows, names, found)


def _one_of(columns: Columns, frame: Frame, node: OneOf) -> None:
    other = node.optional
    if other is None:
        raise TypeError(node.names)
    name = node.names[node.branches.index(other)]
    null = columns.byte(frame.at) == ord("n")
    some = numpy.flatnonzero(~null)
    if some.size == len(null):
        columns.count((Counted(node.path, What.BRANCH, name),), frame.rows)
        columns.step(frame, other)
        return
    part = frame.part(numpy.flatnonzero(null))
    columns.count(_nulls(node.path), part.rows)
    _constant(columns, part, b"null")
    frame.put(numpy.flatnonzero(null), part)
    if some.size:
        part = frame.part(some)
        columns.count((Counted(node.path, What.BRANCH, name),), part.rows)
        columns.step(part, other)
        frame.put(some, part)


def _nulls(path: str) -> tuple[Counted, ...]:
    branch = Counted(path, What.BRANCH, "null")
    return (Counted(path, What.READ), Counted(path, What.NULLS), branch)


def _items(columns: Columns, frame: Frame, node: Items) -> None:
    """The first item of all rows, then the second of those that have one."""
    columns.count((Counted(node.path, What.READ),), frame.rows)
    begins = columns.byte(frame.at) == ord("[")
    frame.at = frame.at + begins
    columns.leave(frame, ~begins)
    empty = columns.byte(frame.at) == ord("]")
    frame.at = frame.at + empty
    going = numpy.flatnonzero(~empty & ~columns.out(frame))
    comma = columns.orders.comma
    for _ in range(_MOST_ITEMS):
        if not going.size:
            break
        part = frame.part(going)
        columns.step(part, node.item)
        ends = columns.byte(part.at) == ord("]")
        more = columns.matches(part.at, comma)
        part.at = part.at + ends + more * len(comma)
        columns.leave(part, ~(ends | more))
        frame.put(going, part)
        going = going[more]
    late = numpy.zeros(len(frame.at), numpy.bool_)
    late[going] = True
    columns.leave(frame, late)


def _members(columns: Columns, frame: Frame, node: Members) -> None:
    columns.count((Counted(node.path, What.READ),), frame.rows)
    orders = columns.orders
    known = [name for name in orders.names.get(id(node), ()) if _is_known(node, name)]
    opened = numpy.zeros(len(frame.at), numpy.bool_)
    for name in known:
        opened |= _member(columns, frame, node, name, opened)
    for name, member in node.members.items():
        if name not in known:
            _absent(columns, frame, member, numpy.arange(len(frame.at)))
    ends = opened & (columns.byte(frame.at) == ord("}"))
    frame.at = frame.at + ends
    columns.leave(frame, ~ends)


def _is_known(node: Members, name: str) -> bool:
    """Whether a schema has it, and it stands in payloads as it is."""
    plain = _key(name) == json.dumps(name, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return plain and len(_key(name)) < _ROOM // 2 and (name in node.members or name in node.dropped)


def _key(name: str) -> bytes:
    return f'"{name}"'.encode("utf-8", "surrogatepass")


def _member(columns: Columns, frame: Frame, node: Members, name: str, opened: Mask) -> Mask:
    """Take the rows that have the member over it; which those are."""
    orders = columns.orders
    key = _key(name) + orders.colon
    found = numpy.zeros(len(opened), numpy.bool_)
    sizes = numpy.zeros(len(opened), numpy.int64)
    for before, mine in ((b"{", ~opened), (orders.comma, opened)):
        if numpy.count_nonzero(mine):
            here = columns.matches(frame.at, before + key) & mine
            found |= here
            sizes += here * len(before + key)
    frame.at = frame.at + sizes
    frame.quote = frame.quote + 2 * found
    where = numpy.flatnonzero(found)
    member = node.members.get(name)
    if where.size + numpy.count_nonzero(columns.out(frame)) == len(found):
        _value(columns, frame, node, name)
        return found
    if where.size:
        part = frame.part(where)
        _value(columns, part, node, name)
        frame.put(where, part)
    if member is not None:
        _absent(columns, frame, member, numpy.flatnonzero(~found))
    return found


def _value(columns: Columns, frame: Frame, node: Members, name: str) -> None:
    member = node.members.get(name)
    if member is not None:
        columns.step(frame, member.node)
        return
    columns.count((Counted(node.dropped[name], What.DROPPED),), frame.rows)
    first = columns.byte(frame.at)
    text = first == ord('"')
    constant = (first == ord("t")) | (first == ord("f")) | (first == ord("n"))
    for mine, take in (
        (text, columns.string),
        (constant, lambda part: _constant(columns, part, b"true", b"false", b"null")),
        (~text & ~constant, columns.number),
    ):
        where = numpy.flatnonzero(mine)
        if where.size:
            part = frame.part(where)
            take(part)
            frame.put(where, part)


def _absent(columns: Columns, frame: Frame, member: Member, where: Positions) -> None:
    """Those rows do not have the member."""
    if member.absent is None:
        missing = numpy.zeros(len(frame.at), numpy.bool_)
        missing[where] = True
        columns.leave(frame, missing)
        return
    rows = where if frame.rows is None else frame.rows[where]
    counted: list[Counted] = []
    absent(member, counted)
    columns.count(tuple(counted), rows)


_TAKE: Final[dict[type, Callable[[Columns, Frame, Any], None]]] = {
    Leaf: _leaf,
    Symbols: _symbols,
    OneOf: _one_of,
    Items: _items,
    Members: _members,
}
