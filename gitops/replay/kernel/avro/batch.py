"""What is known of a batch of payloads while its rows are walked over."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.replay.kernel.avro import reasons
from gitops.replay.kernel.avro.rows import Row
from gitops.replay.kernel.avro.steps import Group, Symbols
from gitops.replay.kernel.avro.utf8 import not_utf8
from gitops.replay.kernel.walk import READ, Counted, Reason, Walk, What

Positions = NDArray[numpy.int64]
Bytes = NDArray[numpy.uint8]


class Frame:
    """Rows at one step: their numbers in the batch (None: all), where each stands and ends.

    Numbers and positions rise.
    """

    __slots__ = ("at", "end", "rows")

    def __init__(self, rows: Positions | None, at: Positions, end: Positions) -> None:
        self.rows, self.at, self.end = rows, at, end

    def __len__(self) -> int:
        return len(self.at)

    def part(self, where: Positions) -> Frame:
        """Some of the rows."""
        return Frame(self.numbers(where), self.at.take(where), self.end.take(where))

    def number(self, index: int) -> int:
        """The number in the batch of that row."""
        return index if self.rows is None else int(self.rows[index])

    def numbers(self, where: Positions) -> Positions:
        """The numbers in the batch of those rows."""
        return where if self.rows is None else self.rows.take(where)


class Batch:
    """Payloads one behind the other in `data`; `bounds` (shape: rows + 1) are their positions."""

    def __init__(self, data: pyarrow.Buffer, bounds: Positions) -> None:
        self._buffer = data
        # Nothing is read of an empty one, but numpy wants something to clip to.
        self.data: Bytes = numpy.frombuffer(data if data.size else b"\0", dtype=numpy.uint8)
        self.bounds = bounds
        self.size = int(bounds[-1])
        self.stopped = False
        self.verdicts: NDArray[numpy.int32] = numpy.zeros(len(bounds) - 1, numpy.int32)
        self._codes: dict[Reason, int] = {}
        self._groups: list[tuple[Group, Positions | None, NDArray[Any] | None]] = []
        self._symbols: list[tuple[Symbols, Positions | None, NDArray[Any]]] = []
        self._changed: list[tuple[str, Positions]] = []
        self._single: list[tuple[int, Row]] = []
        self._empties: Positions | None = None

    def everything(self) -> Frame:
        """All rows at their start."""
        return Frame(None, self.bounds[:-1].copy(), self.bounds[1:])

    def bytes_at(self, at: Positions) -> Bytes:
        """The byte at each position; any byte for one behind the data."""
        return self.data.take(at, mode="clip")

    def row(self, number: int, at: int, depth: int) -> Row:
        """One row, to be read on from `at`."""
        start, end = int(self.bounds[number]), int(self.bounds[number + 1])
        empties = 0 if self._empties is None else int(self._empties[number])
        data = self.data[start:end].tobytes()
        return Row(data, at=at - start, depth=depth, empties=empties)

    # ------------------------------------------------------------ stopping

    def stop(self, frame: Frame, where: Positions, path: str, reason: str) -> None:
        """Stop those rows of the frame; who was stopped before keeps its reason."""
        rows = frame.numbers(where)
        fresh = rows[self.verdicts.take(rows) == READ]
        if fresh.size:
            code = self._codes.setdefault(Reason(path, reason), len(self._codes) + 1)
            self.verdicts[fresh] = code
            self.stopped = True
        frame.at[where] = frame.end.take(where)

    def stop_behind_end(self, frame: Frame, path: str) -> None:
        """Stop the rows that came further than they go."""
        over = frame.at > frame.end
        if over.any():
            self.stop(frame, numpy.flatnonzero(over), path, reasons.ENDS)

    def is_stopped(self, frame: Frame) -> NDArray[numpy.bool_]:
        """Which rows of the frame were stopped."""
        verdicts = self.verdicts if frame.rows is None else self.verdicts.take(frame.rows)
        stopped: NDArray[numpy.bool_] = verdicts != READ
        return stopped

    # ------------------------------------------------------------ counting

    def tally(
        self, group: Group, rows: Positions | None, times: NDArray[Any] | None = None
    ) -> None:
        """Count a passage of the group for each of the rows, or as many as `times` says."""
        if group.keys:
            self._groups.append((group, rows, times))

    def count_symbols(self, step: Symbols, rows: Positions | None, found: NDArray[Any]) -> None:
        """Count the symbols that the rows have."""
        self._symbols.append((step, rows, found))

    def change(self, path: str, frame: Frame, where: Positions) -> None:
        """Count a changed value for those rows of the frame."""
        if where.size:
            self._changed.append((path, frame.numbers(where)))

    def check_text(self, frame: Frame, start: Positions, path: str) -> None:
        """Count a changed value where what lies between `start` and where a row is is no UTF-8."""
        self.change(path, frame, not_utf8(self._buffer, start, frame.at))

    def keep(self, number: int, row: Row) -> None:
        """Remember what a row counted that was read by itself."""
        self._single.append((number, row))
        if row.empties:
            self.empties()[number] = row.empties

    def empties(self) -> Positions:
        """How many items of no bytes each row had so far."""
        if self._empties is None:
            self._empties = numpy.zeros(len(self.verdicts), numpy.int64)
        return self._empties

    def walk(self) -> Walk:
        """The answer; counts are of the rows that were not stopped."""
        return Walk(verdicts=self.verdicts, reasons=tuple(self._codes), counts=self._counts())

    def _counts(self) -> Counter[Counted]:
        read = self.verdicts == READ if self.stopped else None
        found: Counter[Counted] = Counter()
        for group, rows, times in self._groups:
            number = _number(read, rows, len(self.verdicts), times)
            for key in group.keys if number else ():
                found[key] += number
        for step, rows, values in self._symbols:
            indexes = values if read is None else values[read if rows is None else read.take(rows)]
            for index in numpy.flatnonzero(counted := numpy.bincount(indexes)).tolist():
                found[Counted(step.path, What.SYMBOL, step.symbols[index])] += int(counted[index])
        for path, rows in self._changed:
            number = _number(read, rows, len(rows), None)
            found += Counter({Counted(path, What.CHANGED): number})
        for number, row in self._single:
            if self.verdicts[number] == READ:
                found.update(row.counts())
        return found


def _number(
    read: NDArray[numpy.bool_] | None,
    rows: Positions | None,
    every: int,
    times: NDArray[Any] | None,
) -> int:
    """How often the rows that were read, of `rows` or of all, passed."""
    if read is None:
        return int(times.sum()) if times is not None else every if rows is None else len(rows)
    mine = read if rows is None else read.take(rows)
    return int(numpy.count_nonzero(mine) if times is None else times[mine].sum())
