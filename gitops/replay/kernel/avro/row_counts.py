"""What the rows of a batch count, and why bytes are not what the writer's schema describes."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy
from numpy.typing import NDArray

from gitops.replay.kernel.avro.steps import Counts, Symbols
from gitops.replay.kernel.protocol import CountKey, CountKind

# Why bytes are not what the writer's schema says, and how much of it is taken.
#
# Where Avro for Java 1.11.4 is laxer (bytes left over, a boolean of any byte, the upper bits of a
# varint's last byte, a block's size that nobody looks at) this is strict, as Avro's specification
# is: data that only happens to be read is data of another schema.

ENDS: Final = "the message ends too early"
LEFT: Final = "bytes are left over"
BOOLEAN: Final = "a boolean that is neither 0 nor 1"
INT: Final = "an int of more than 32 bits"
LONG: Final = "a long of more than 64 bits"
LENGTH: Final = "a negative length"
BRANCH: Final = "a branch that the writer's union does not have"
SYMBOL: Final = "a symbol that the writer's enum does not have"
COUNT: Final = "a count of more items than the message has bytes for"
BLOCK: Final = "a block whose size is not that of its items"
EMPTY: Final = "more than 1,000 items of no bytes"
DEEP: Final = "nested deeper than 1,000 levels"

MOST_EMPTY: Final = 1_000
"""Items of no bytes in a message: a few bytes could ask for any number of them."""

DEEPEST: Final = 1_000
"""Records, unions, arrays and maps around a value. Only a recursive schema can ask for more, as
the broker takes definitions of that depth; Java's stack ends at some thousand."""


ROUNDED: Final = "the reader's type has fewer digits"
DEFAULT_SYMBOL: Final = "the reader's enum has its default for the symbol"
NO_TEXT: Final = "bytes that are not UTF-8 become U+FFFD"


# What the rows of a batch count, until it is known which of them were read.


Positions = NDArray[numpy.int64]
Times = NDArray[Any] | None

_OWN_SIZE: Final = 32
"""What an entry takes beside its rows, in their size."""

_MOST: Final = 2**22
"""How many rows are remembered before those that counted the same are added up."""


class Tallies:
    """Entries of keys, of the rows that count them (None: all of `size`), and how often each."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: list[tuple[Counts, Positions | None, Times]] = []
        self._symbols: list[tuple[Symbols, Positions | None, NDArray[Any]]] = []
        self._kept, self._most = 0, _MOST

    def add(self, keys: Counts, rows: Positions | None, times: Times = None) -> None:
        """Count the keys for each of the rows, once or as often as `times` says."""
        if keys:
            self._entries.append((keys, rows, times))
            self._keep(rows)

    def add_symbols(self, step: Symbols, rows: Positions | None, positions: NDArray[Any]) -> None:
        """Count the symbol that each of the rows has."""
        self._symbols.append((step, rows, positions))
        self._keep(rows)

    def counts(self, read: NDArray[numpy.bool_] | None) -> Counter[CountKey]:
        """The sums over the rows that were read; None: all were."""
        counter: Counter[CountKey] = Counter()
        for keys, rows, times in self._entries:
            number = self._number(read, rows, times)
            for key in keys if number else ():
                counter[key] += number
        for step, rows, values in self._symbols:
            indexes = values if read is None else values[read if rows is None else read.take(rows)]
            for index, number in enumerate(numpy.bincount(indexes).tolist()):
                if number:
                    counter[_symbol(step, index)] += number
        return counter

    def _number(
        self, read: NDArray[numpy.bool_] | None, rows: Positions | None, times: Times
    ) -> int:
        """How often rows that were read counted an entry."""
        if read is None:
            return (
                int(times.sum()) if times is not None else self._size if rows is None else len(rows)
            )
        values = read if rows is None else read.take(rows)
        return int(numpy.count_nonzero(values) if times is None else times[values].sum())

    # ------------------------------------------------------------ in bounds

    def _keep(self, rows: Positions | None) -> None:
        """Long arrays make an entry for each of their items."""
        self._kept += _OWN_SIZE + (0 if rows is None else len(rows))
        if self._kept > self._most:
            self._add_up()
            self._kept = sum(_OWN_SIZE + self._size for _ in self._entries)
            self._most = max(_MOST, 2 * self._kept)

    def _add_up(self) -> None:
        for step, rows, positions in self._symbols:
            for index in numpy.unique(positions).tolist():
                if index < len(step.symbols):  # a stopped row has none
                    where = (positions == index).nonzero()[0]
                    value = where if rows is None else rows.take(where)
                    self._entries.append(((_symbol(step, index),), value, None))
        sums: dict[Counts, Positions] = {}
        for keys, rows, times in self._entries:
            total = sums.setdefault(keys, numpy.zeros(self._size, numpy.int64))
            total[slice(None) if rows is None else rows] += 1 if times is None else times
        self._symbols.clear()
        self._entries = [(keys, None, total) for keys, total in sums.items()]


def _symbol(step: Symbols, index: int) -> CountKey:
    return CountKey(step.path, CountKind.SYMBOL, step.symbols[index])
