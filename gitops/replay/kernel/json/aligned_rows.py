"""JSON rows that are written alike, side by side: the members, where they start and end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy
import pyarrow
import pyarrow.compute
from numpy.typing import NDArray

from gitops.replay.kernel.json.numbers import MOST, Mask, Numbers, Positions, texts, values
from gitops.replay.kernel.json.parser import Pairs, parse
from gitops.replay.kernel.json.scalars import MAX_TEXT
from gitops.replay.kernel.json.schema_pair import Items, Members, Node, OneOf, Symbols
from gitops.replay.kernel.payload_column import Column, not_utf8
from gitops.replay.kernel.protocol import CountKey, Unreadable

_LONGEST: Final = 64 * 1024
_MOST_ITEMS: Final = 4


@dataclass(slots=True)
class Orders:
    """By the id of a record's node: the names of its members, as they were met.

    `comma` and `colon` hold the blank that may follow.
    """

    comma: bytes = b","
    colon: bytes = b":"
    names: dict[int, list[str]] = field(default_factory=dict)

    def learn(self, node: Node, payloads: Iterable[bytes]) -> None:
        """Look at some messages; what cannot be read teaches nothing."""
        for payload in payloads:
            if len(payload) > _LONGEST:
                continue
            try:
                value = parse(payload)
            except Unreadable:
                continue
            if b'": ' in payload:
                self.comma, self.colon = b", ", b": "
            self._note(node, value)

    def _note(self, node: Node, value: Any) -> None:  # noqa: ANN401 - JSON
        match node:
            case OneOf() if node.optional is not None:
                self._note(node.optional, value)
            case Items() if isinstance(value, list):
                for item in value[:_MOST_ITEMS]:
                    self._note(node.item, item)
            case Members() if isinstance(value, Pairs):
                _merge(self.names.setdefault(id(node), []), list(value))
                for name, member in node.members.items():
                    if name in value:
                        self._note(member.node, value[name])


def _merge(known: list[str], names: list[str]) -> None:
    """Put in those that are new, each behind the one that it stands behind."""
    at = 0
    for name in names:
        if name in known:
            at = known.index(name) + 1
        else:
            known.insert(at, name)
            at += 1


# The bytes of a column of JSON, and rows that go through them side by side.
#
# A row that is left out stands at `nowhere`, behind all payloads, where nothing is as it should
# be.


ROOM: Final = 256
"""Bytes before and behind the payloads, that no look around a position leads outside."""

_BEFORE: Final = bytes(ROOM)
_BEHIND: Final = b"\0\0" + b'"' * 4 + bytes(ROOM)
"""Whoever stands at the end, or has been left out, still has a next quote."""

_MOST_BLANKS: Final = 8
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


class AlignedRows:
    """Payloads on their way through a plan, and what is counted in them."""

    def __init__(self, rows: Column) -> None:
        first, last = int(rows.starts[0]), int(rows.ends[-1])
        self._nowhere = ROOM + last - first + 1
        self._text = b"".join((_BEFORE, rows.data[first:last].data, _BEHIND))
        self._buffer = pyarrow.py_buffer(self._text)
        self._data = numpy.frombuffer(self._buffer, numpy.uint8)
        self._words: NDArray[numpy.uint64] = numpy.ndarray(
            (len(self._data) - 8,), "<u8", self._buffer, strides=(1,)
        )
        self._starts, self._ends = rows.starts - first + ROOM, rows.ends - first + ROOM
        self._quotes = numpy.flatnonzero(self._data == ord('"'))
        self._last = len(self._quotes) - _BEHIND.count(b'"')
        self._entries: list[tuple[tuple[CountKey, ...], Positions | None]] = []
        self._symbols: list[tuple[Symbols, Positions | None, list[str | None], Positions]] = []

    def everything(self) -> Frame:
        """All rows at their start; those are left out that hold what only others can read."""
        frame = Frame(None, self._starts.copy(), self._quotes.searchsorted(self._starts))
        self.leave(frame, self._odd())
        return frame

    def read(self, frame: Frame) -> tuple[Mask, Counter[CountKey]]:
        """Which rows came to their end (shape: rows), and what is counted in them."""
        read = frame.at == self._ends
        return read, self._counts(read)

    def _odd(self) -> Mask:
        """Rows that hold escapes, bytes that JSON does not have, no UTF-8, or perhaps too much."""
        odd = self._ends - self._starts > MAX_TEXT
        payloads = self._data[ROOM : self._nowhere - 1]
        if self._text.find(b"\\") >= 0 or payloads.min(initial=_BLANK) < _BLANK:
            at = numpy.flatnonzero((payloads == ord("\\")) | (payloads < _BLANK)) + ROOM
            odd[self._starts.searchsorted(at, side="right") - 1] = True
        odd[not_utf8(self._buffer, self._starts, self._ends)] = True
        return odd

    def _counts(self, read: Mask) -> Counter[CountKey]:
        counts: Counter[CountKey] = Counter()
        total = int(numpy.count_nonzero(read))
        for keys, rows in self._entries:
            number = total if rows is None else int(numpy.count_nonzero(read.take(rows)))
            for key in keys if number else ():
                counts[key] += number
        for node, rows, names, positions in self._symbols:
            column = positions[read if rows is None else read.take(rows)]
            for name, number in zip(names, numpy.bincount(column).tolist(), strict=False):
                if number and name is not None:
                    counts[node.counted[name]] += number
        return counts

    # ------------------------------------------------------------ what steps are made of

    def count(self, keys: tuple[CountKey, ...], rows: Positions | None) -> None:
        """Count the keys for those of the rows that are read in the end."""
        self._entries.append((keys, rows))

    def add_symbols(
        self, node: Symbols, rows: Positions | None, names: list[str | None], positions: Positions
    ) -> None:
        """Count the symbol of each row: the number of its name."""
        self._symbols.append((node, rows, names, positions))

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
            positions: Mask = self._words[at] & numpy.uint64(256**size - 1) == wanted
            return positions
        positions = self._words[at] == numpy.uint64(int.from_bytes(text[:8], "little"))
        for behind in [*range(8, size - 8, 8), size - 8][size == 8 :]:  # noqa: PLR2004
            word = numpy.uint64(int.from_bytes(text[behind : behind + 8], "little"))
            positions &= self._words[at + behind] == word
        return positions

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

    def rising(self, frame: Frame, start: Positions, end: Positions) -> tuple[Positions, Positions]:
        """The bounds of texts, one behind the other: rows that were left out have empty ones."""
        out = self.out(frame)
        if numpy.count_nonzero(out):
            start = numpy.maximum.accumulate(numpy.where(out, 0, start))
            end = numpy.where(out, start, end)
        return start, end

    def fits(self, start: Positions, end: Positions, pattern: str) -> Mask:
        """Which of the texts between a pattern of RE2 describes."""
        value = pyarrow.compute.match_substring_regex(texts(self._buffer, start, end), pattern)
        mask: Mask = value.fill_null(False).to_numpy(zero_copy_only=False)[::2]  # noqa: FBT003
        return mask

    def names(self, start: Positions, end: Positions) -> tuple[list[str | None], Positions]:
        """The texts between, each once, and for each row the number of its own."""
        coded = texts(self._buffer, start, end).dictionary_encode()
        return coded.dictionary.to_pylist(), coded.indices.fill_null(0).to_numpy()[::2]

    def out(self, frame: Frame) -> Mask:
        """Which rows of the frame were left out."""
        out: Mask = frame.at >= self._nowhere
        return out
