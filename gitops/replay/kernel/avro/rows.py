"""One Avro payload at a time, strictly, with its value and what it counts."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NoReturn

import numpy
from numpy.typing import NDArray

from gitops.replay.kernel import definition
from gitops.replay.kernel.avro import row_counts
from gitops.replay.kernel.avro.logical_types import CUT
from gitops.replay.kernel.avro.steps import (
    Branches,
    Fail,
    Fields,
    FixedSize,
    Flag,
    Group,
    Items,
    Number,
    Plan,
    ReaderBranch,
    Recursion,
    Step,
    Symbols,
    Text,
)
from gitops.replay.kernel.avro.values import UnionValue, to_float
from gitops.replay.kernel.protocol import (
    CHANGES,
    CountKey,
    CountKind,
    Reason,
    Unreadable,
    ValueChange,
)
from gitops.schemas.java_text import java_text

# The bytes of one payload, and where in them a reader stands.

_CONTINUES = 0x80
_MOST = {32: 5, 64: 10}
_TOO_LARGE = {32: row_counts.INT, 64: row_counts.LONG}


class Cursor:
    """All that is read is between `at` and the `end` of `data`; paths are for what is said."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.end = data, 0, len(data)

    def fail(self, path: str, reason: str, detail: str = "") -> NoReturn:
        """Stop here: raises Unreadable."""
        remainder = f" ({detail})" if detail else ""
        message = f"{reason}{remainder}, at byte {self.at} of {self.end}"
        raise Unreadable(Reason(path, reason), f"{path}: {message}" if path else message)

    def number(self, path: str, bits: int) -> int:
        """A zigzag number of 32 or 64 bits, in as many bytes as Avro allows for them."""
        data, at, end = self.data, self.at, self.end
        number = shift = 0
        for _ in range(_MOST[bits]):
            if at >= end:
                self.fail(path, row_counts.ENDS)
            byte = data[at]
            at += 1
            number |= (byte & 0x7F) << shift
            if byte < _CONTINUES:
                break
            shift += 7
        else:
            number = 1 << bits
        if number >> bits:
            self.fail(path, _TOO_LARGE[bits])
        self.at = at
        return (number >> 1) ^ -(number & 1)

    def take(self, path: str, size: int) -> bytes:
        """So many bytes."""
        start, stop = self.at, self.at + size
        if stop > self.end:
            self.fail(
                path, row_counts.ENDS, f"{size} bytes are needed, {self.end - start} are left"
            )
        self.at = stop
        return self.data[start:stop]

    def chunk(self, path: str) -> bytes:
        """As many bytes as the number before them says."""
        size = self.number(path, 64)
        if size < 0:
            self.fail(path, row_counts.LENGTH, str(size))
        return self.take(path, size)


# Whole numbers that a reader takes as numbers with a point.


_DIGITS: Final = {"float": 24, "double": 53}
"""The bits that a number of that kind has for its digits."""

_OUTSIDE: Final = 2.0**63


def rounded_numbers(numbers: NDArray[numpy.int64], reads: str) -> NDArray[numpy.int64]:
    """The indexes of the numbers that are another one as `float` or `double`."""
    limit = 2 ** _DIGITS[reads]
    if numbers.max() <= limit and numbers.min() >= -limit:
        return numpy.empty(0, numpy.int64)
    kind = numpy.float32 if reads == "float" else numpy.float64
    taken = numbers.astype(kind).astype(numpy.float64)
    outside = taken >= _OUTSIDE
    back = numpy.where(outside, 0, taken).astype(numpy.int64)
    return numpy.flatnonzero(outside | (back != numbers))


def single_of(number: int) -> float:
    """The nearest number of 32 bits, half to even, as Java's cast rounds."""
    size = abs(number)
    spare = size.bit_length() - _DIGITS["float"]
    if spare > 0:  # by hand: the way over 64 bits would round twice
        low = size & ((1 << spare) - 1)
        half = 1 << (spare - 1)
        size >>= spare
        size = (size + (low > half or (low == half and size & 1))) << spare
    return to_float(float(size if number >= 0 else -size))


# One row at a time, strictly, with its value and what it counts.


_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")


class Row(Cursor):
    """A payload on its way through a plan.

    `depth` and `empties` are how deep it stands and how many items of no bytes were met; somebody
    else may have read what is before `at`. `changes` are noted by path unless it is None.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.depth = self.empties = 0
        self._groups: Counter[Group] = Counter()
        self._single: Counter[CountKey] = Counter()
        self.changes: dict[str, ValueChange] | None = None

    def whole(self, plan: Plan) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value of a whole message; raises Unreadable."""
        value = self.group(plan.top)
        if self.at < self.end:
            self.fail("", row_counts.LEFT, f"{self.end - self.at}")
        return value

    def counts(self) -> Counter[CountKey]:
        """What was counted so far."""
        counter = self._single.copy()
        for group, times in self._groups.items():
            for key in group.keys:
                counter[key] += times
        return counter

    def changed_paths(self) -> set[str]:
        """Where a value was changed so far."""
        return {key.path for key in self._single if key.what in CHANGES}

    def group(self, group: Group) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value of the group's steps; raises Unreadable."""
        self._groups[group] += 1
        return self.step(group.step)

    def step(self, step: Step) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value at a step, anything where it is dropped; raises Unreadable."""
        return _TAKE[type(step)](self, step)

    def count(self, path: str, what: CountKind, value: str = "") -> None:
        """Count something that only the data decides."""
        self._single[CountKey(path, what, value)] += 1

    def change(self, path: str, changed: ValueChange, what: CountKind = CountKind.CHANGED) -> None:
        """Count a value that the reader gets otherwise than it was written."""
        self.count(path, what)
        if self.changes is not None:
            self.changes.setdefault(path, changed)

    def make_sense(self, step: Number | Text | FixedSize, value: Any, written: Any) -> Any:  # noqa: ANN401
        """What Java's classes make of a value, of bytes or a number; raises Unreadable."""
        sense = step.sense
        if sense is None:
            return value
        if sense.check is not None and sense.check.refuses(value):
            self.fail(step.path, sense.check.reason)
        if sense.change is not None and sense.change.concerns(written):
            self.change(step.path, sense.change.of(written), CountKind.REINTERPRETED)
        if sense.cut is not None and (left := sense.cut.apply(value)) != value:
            self.change(step.path, ValueChange(CUT, value, left))
            return left
        return value

    def enter(self, path: str) -> None:
        """One level deeper."""
        if self.depth >= row_counts.DEEPEST:
            self.fail(path, row_counts.DEEP)
        self.depth += 1

    def text(self, path: str) -> str:
        """As Java reads it: U+FFFD where it is not UTF-8."""
        data = self.chunk(path)
        try:
            return data.decode()
        except UnicodeDecodeError:
            text = java_text(data)
            self.change(path, ValueChange(row_counts.NO_TEXT, data, text))
            return text

    def blocks(self, step: Items, items: list[Any], left: int, stop: int) -> None:
        """The `left` items of a block that ends at `stop` (-1: it does not say), then the rest.

        Items are counted where their block begins.
        """
        while True:
            for _ in range(left):
                items.append(self._item(step))  # noqa: PERF401 - those before a failure stay
            if stop not in {-1, self.at}:
                self.fail(step.path, row_counts.BLOCK)
            left, stop = self._header(step)
            if not left:
                return
            self._groups[step.item] += left

    def _item(self, step: Items) -> Any:  # noqa: ANN401 - as the schema says
        if not step.keyed:
            return self.step(step.item.step)
        key = self.text(step.path) if step.reads else self.chunk(step.path)
        return key, self.step(step.item.step)

    def _header(self, step: Items) -> tuple[int, int]:
        """How many items a block has, and where it ends: -1 if it does not say."""
        count, stop = self.number(step.path, 64), -1
        if count < 0:
            count = -count
            size = self.number(step.path, 64)
            stop = self.at + size
            if size < 0 or stop > self.end:
                self.fail(step.path, row_counts.BLOCK, f"{size} bytes")
        if step.least_item:
            if count > (self.end - self.at) // step.least_item:
                self.fail(step.path, row_counts.COUNT, str(count))
        else:
            self.empties += count
            if self.empties > row_counts.MOST_EMPTY:
                self.fail(step.path, row_counts.EMPTY, str(count))
        return count, stop


def _fail(row: Row, step: Fail) -> NoReturn:
    row.fail(*step.reason)


def _sized(row: Row, step: FixedSize) -> Any:  # noqa: ANN401 - as the schema says
    data = row.take(step.path, step.size)
    match step.kind:
        case "float":
            return _FLOAT.unpack(data)[0]
        case "double":
            return _DOUBLE.unpack(data)[0]
        case "null":
            return None
        case _:
            return row.make_sense(step, data, data)


def _flag(row: Row, step: Flag) -> bool:
    byte = row.take(step.path, 1)[0]
    if byte > 1:
        row.fail(step.path, row_counts.BOOLEAN, str(byte))
    return byte == 1


def _number(row: Row, step: Number) -> int | float:
    written = row.number(step.path, 32 if step.kind == "int" else 64)
    value: int = row.make_sense(step, written, written)
    if step.reads not in {"float", "double"}:
        return value
    read = single_of(written) if step.reads == "float" else float(written)
    if read != written and step.sense is None:
        row.change(step.path, ValueChange(row_counts.ROUNDED, written, read))
    return read


def _text(row: Row, step: Text) -> str | bytes:
    if step.sense is None or step.sense.change is None:
        value = row.text(step.path) if step.reads == "string" else row.chunk(step.path)
        return row.make_sense(step, value, value)  # type: ignore[no-any-return]
    data = row.chunk(step.path)
    value = java_text(data) if step.reads == "string" else data
    return row.make_sense(step, value, data)  # type: ignore[no-any-return]


def _symbols(row: Row, step: Symbols) -> str | None:
    index = row.number(step.path, 32)
    if not 0 <= index < len(step.symbols):
        row.fail(step.path, row_counts.SYMBOL, f"{index} of {len(step.symbols)}")
    if not step.taken:
        return None
    written, taken = step.symbols[index], step.taken[index]
    if taken is None:
        row.fail(step.path, definition.lacks_symbol_and_default(written))
    row.count(step.path, CountKind.SYMBOL, written)
    if taken != written:
        row.change(step.path, ValueChange(row_counts.DEFAULT_SYMBOL, written, taken))
    return taken


def _branches(row: Row, step: Branches) -> Any:  # noqa: ANN401 - as the schema says
    row.enter(step.path)
    index = row.number(step.path, 32)
    if not 0 <= index < len(step.groups):
        row.fail(step.path, row_counts.BRANCH, f"{index} of {len(step.groups)}")
    value = row.group(step.groups[index])
    row.depth -= 1
    return value


def _reader_branch(row: Row, step: ReaderBranch) -> UnionValue:
    return UnionValue(step.branch, row.step(step.step))


def _recursion(row: Row, step: Recursion) -> Any:  # noqa: ANN401 - as the schema says
    return row.group(step.group)


def _fields(row: Row, step: Fields) -> dict[str, Any]:
    row.enter(step.path)
    grouped: dict[str, Any] = {}
    for name, inner in step.fields:
        try:
            value = row.step(inner)
        except Unreadable as error:
            if name is not None and error.value is not None:
                grouped[name] = error.value
            error.value = grouped
            raise
        if name is not None:
            grouped[name] = value
    row.depth -= 1
    for name, default in step.defaults:
        grouped[name] = default()
    return {name: grouped[name] for name in step.order}


def _items(row: Row, step: Items) -> Any:  # noqa: ANN401 - as the schema says
    items: list[Any] = []
    row.enter(step.path)
    try:
        row.blocks(step, items, 0, -1)
    except Unreadable as error:
        error.value = dict(items) if step.keyed else items
        raise
    row.depth -= 1
    return dict(items) if step.keyed else items


_TAKE: Final[dict[type, Callable[[Row, Any], Any]]] = {
    Fail: _fail,
    FixedSize: _sized,
    Flag: _flag,
    Number: _number,
    Text: _text,
    Symbols: _symbols,
    Items: _items,
    Branches: _branches,
    ReaderBranch: _reader_branch,
    Fields: _fields,
    Recursion: _recursion,
}
