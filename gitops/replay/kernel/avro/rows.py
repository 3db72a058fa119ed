"""One row at a time, strictly, with its value and what it counts."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NoReturn

from gitops.compatibility.java_text import java_text
from gitops.replay.kernel.avro import reasons
from gitops.replay.kernel.avro.steps import (
    Again,
    Branches,
    Fail,
    Fields,
    Flag,
    Group,
    Into,
    Items,
    Number,
    Plan,
    Sized,
    Step,
    Symbols,
    Text,
)
from gitops.replay.kernel.avro.values import Tagged, to_float
from gitops.replay.kernel.walk import Counted, Reason, Unreadable, What

_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_CONTINUES: Final = 0x80


class Row:
    """The bytes from `at` to `end` of `data`, on their way through a plan.

    `depth` and `empties` are how deep it stands and how many items of no bytes were met, where
    somebody else read what is before `at`.
    """

    def __init__(self, data: bytes, *, at: int = 0, depth: int = 0, empties: int = 0) -> None:
        self.data, self.at, self.end = data, at, len(data)
        self.depth, self.empties = depth, empties
        self._groups: Counter[Group] = Counter()
        self._single: Counter[Counted] = Counter()

    def whole(self, plan: Plan) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value of a whole message; raises Unreadable."""
        value = self.group(plan.top)
        if self.at < self.end:
            self.fail("", reasons.LEFT)
        return value

    def counts(self) -> Counter[Counted]:
        """What was counted so far."""
        found = self._single.copy()
        for group, times in self._groups.items():
            for key in group.keys:
                found[key] += times
        return found

    def group(self, group: Group) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value of the group's steps; raises Unreadable."""
        self._groups[group] += 1
        return self.step(group.step)

    def step(self, step: Step) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value at a step, None where it is dropped; raises Unreadable."""
        return _TAKE[type(step)](self, step)

    def fail(self, path: str, reason: str, detail: str = "") -> NoReturn:
        """Stop here."""
        where = f"{path}: {reason}" if path else reason
        more = f" ({detail})" if detail else ""
        raise Unreadable(Reason(path, reason), f"{where}{more}, at byte {self.at} of {self.end}")

    # ------------------------------------------------------------ what stands alone

    def number(self, path: str, bits: int) -> int:
        """A zigzag number of 32 or 64 bits."""
        data, at, end = self.data, self.at, self.end
        found = shift = 0
        most = 5 if bits == 32 else 10  # noqa: PLR2004 - the bytes for so many bits
        for _ in range(most):
            if at >= end:
                self.fail(path, reasons.ENDS)
            byte = data[at]
            at += 1
            found |= (byte & 0x7F) << shift
            if byte < _CONTINUES:
                break
            shift += 7
        else:
            found = 1 << bits
        if found >> bits:
            self.fail(path, reasons.INT if bits == 32 else reasons.LONG)  # noqa: PLR2004
        self.at = at
        return (found >> 1) ^ -(found & 1)

    def take(self, path: str, size: int) -> bytes:
        """So many bytes."""
        start, stop = self.at, self.at + size
        if stop > self.end:
            self.fail(path, reasons.ENDS, f"{size} bytes are needed, {self.end - start} are left")
        self.at = stop
        return self.data[start:stop]

    def length(self, path: str) -> int:
        """How long a text or bytes are."""
        found = self.number(path, 64)
        if found < 0:
            self.fail(path, reasons.LENGTH, str(found))
        return found

    def text(self, path: str, data: bytes) -> str:
        """As Java reads it: U+FFFD where it is not UTF-8."""
        try:
            return data.decode()
        except UnicodeDecodeError:
            self._single[Counted(path, What.CHANGED)] += 1
            return java_text(data)

    def on_fail(self, step: Fail) -> NoReturn:
        self.fail(*step.reason)

    def on_sized(self, step: Sized) -> Any:  # noqa: ANN401 - as the schema says
        data = self.take(step.path, step.size)
        match step.kind:
            case "float":
                return _FLOAT.unpack(data)[0]
            case "double":
                return _DOUBLE.unpack(data)[0]
            case "null":
                return None
            case _:
                return data

    def on_flag(self, step: Flag) -> bool:
        byte = self.take(step.path, 1)[0]
        if byte > 1:
            self.fail(step.path, reasons.BOOLEAN, str(byte))
        return byte == 1

    def on_number(self, step: Number) -> int | float:
        found = self.number(step.path, 32 if step.kind == "int" else 64)
        if step.reads == "float":
            return self._lossy(step, found, single_of(found))
        if step.reads == "double":
            return self._lossy(step, found, float(found))
        return found

    def _lossy(self, step: Number, written: int, read: float) -> float:
        if read != written:
            self._single[Counted(step.path, What.CHANGED)] += 1
        return read

    def on_text(self, step: Text) -> str | bytes:
        data = self.take(step.path, self.length(step.path))
        return self.text(step.path, data) if step.reads == "string" else data

    def on_symbols(self, step: Symbols) -> str | None:
        index = self.number(step.path, 32)
        if not 0 <= index < len(step.symbols):
            self.fail(step.path, reasons.SYMBOL, f"{index} of {len(step.symbols)}")
        if not step.taken:
            return None
        written, taken = step.symbols[index], step.taken[index]
        if taken is None:
            self.fail(step.path, reasons.symbol_missing(written))
        self._single[Counted(step.path, What.SYMBOL, written)] += 1
        if taken != written:
            self._single[Counted(step.path, What.CHANGED)] += 1
        return taken

    # ------------------------------------------------------------ what holds others

    def enter(self, path: str) -> None:
        """One level deeper."""
        if self.depth >= reasons.DEEPEST:
            self.fail(path, reasons.DEEP)
        self.depth += 1

    def on_branches(self, step: Branches) -> Any:  # noqa: ANN401 - as the schema says
        self.enter(step.path)
        index = self.number(step.path, 32)
        if not 0 <= index < len(step.groups):
            self.fail(step.path, reasons.BRANCH, f"{index} of {len(step.groups)}")
        value = self.group(step.groups[index])
        self.depth -= 1
        return value

    def on_into(self, step: Into) -> Tagged:
        return Tagged(step.branch, self.step(step.step))

    def on_again(self, step: Again) -> Any:  # noqa: ANN401 - as the schema says
        return self.group(step.group)

    def on_fields(self, step: Fields) -> dict[str, Any]:
        self.enter(step.path)
        found: dict[str, Any] = {}
        for name, inner in step.fields:
            value = self.step(inner)
            if name is not None:
                found[name] = value
        self.depth -= 1
        for name, default in step.defaults:
            found[name] = default()
        return {name: found[name] for name in step.order}

    def on_items(self, step: Items) -> Any:  # noqa: ANN401 - as the schema says
        found: list[Any] = []
        self.enter(step.path)
        self.blocks(step, found, 0, -1)
        self.depth -= 1
        return dict(found) if step.keyed else found

    def blocks(self, step: Items, found: list[Any], left: int, stop: int) -> None:
        """The `left` items of a block that ends at `stop` (-1: it does not say), then the rest.

        Items are counted where their block begins.
        """
        while True:
            for _ in range(left):
                key = self._key(step) if step.keyed else None
                value = self.step(step.item.step)
                found.append((key, value) if step.keyed else value)
            if stop not in {-1, self.at}:
                self.fail(step.path, reasons.BLOCK)
            left, stop = self._header(step)
            if not left:
                return
            self._groups[step.item] += left

    def _key(self, step: Items) -> str | bytes:
        data = self.take(step.path, self.length(step.path))
        return self.text(step.path, data) if step.reads else data

    def _header(self, step: Items) -> tuple[int, int]:
        """How many items a block has, and where it ends: -1 if it does not say."""
        count, stop = self.number(step.path, 64), -1
        if count < 0:
            count = -count
            size = self.number(step.path, 64)
            stop = self.at + size
            if size < 0 or stop > self.end:
                self.fail(step.path, reasons.BLOCK, f"{size} bytes")
        if step.least_item:
            if count > (self.end - self.at) // step.least_item:
                self.fail(step.path, reasons.COUNT, str(count))
        else:
            self.empties += count
            if self.empties > reasons.MOST_EMPTY:
                self.fail(step.path, reasons.EMPTY, str(count))
        return count, stop


def single_of(number: int) -> float:
    """The nearest number of 32 bits, rounded once, as Java's cast does."""
    size = abs(number)
    spare = size.bit_length() - 24
    if spare > 0:  # half to even, before the detour over 64 bits would round first
        low = size & ((1 << spare) - 1)
        size >>= spare
        half = 1 << (spare - 1)
        size = (size + (low > half or (low == half and size & 1))) << spare
    return to_float(float(size if number >= 0 else -size))


_TAKE: Final[dict[type, Callable[[Row, Any], Any]]] = {
    Fail: Row.on_fail,
    Sized: Row.on_sized,
    Flag: Row.on_flag,
    Number: Row.on_number,
    Text: Row.on_text,
    Symbols: Row.on_symbols,
    Items: Row.on_items,
    Branches: Row.on_branches,
    Into: Row.on_into,
    Fields: Row.on_fields,
    Again: Row.on_again,
}
