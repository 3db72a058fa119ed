"""A batch of payloads while its rows are read, and the numbers at the start of values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.replay.kernel.avro import row_counts
from gitops.replay.kernel.avro.row_counts import Positions, Tallies
from gitops.replay.kernel.avro.rows import Row
from gitops.replay.kernel.payload_column import not_utf8
from gitops.replay.kernel.protocol import READ, CountKey, CountKind, Reason, Walk

Bytes = NDArray[numpy.uint8]


def true_indexes(mask: NDArray[Any]) -> Positions:
    """The indexes where it is not zero; `flatnonzero` takes a detour that small arrays feel."""
    return mask.nonzero()[0]


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

    def __init__(self, data: pyarrow.Buffer, bounds: Positions, row_type: type[Row] = Row) -> None:
        self._buffer = data
        self._row_type = row_type
        # Nothing is read of an empty one, but numpy wants something to clip to.
        self.data: Bytes = numpy.frombuffer(data if data.size else b"\0", dtype=numpy.uint8)
        self.bounds = bounds
        self.size = int(bounds[-1])
        self.stopped = False
        self.verdicts: NDArray[numpy.int32] = numpy.zeros(len(bounds) - 1, numpy.int32)
        self._codes: dict[Reason, int] = {}
        self.tallies = Tallies(len(self.verdicts))
        self._single: dict[int, Row] = {}
        self._changed: dict[str, NDArray[numpy.bool_]] = {}
        self._empties: Positions | None = None

    def everything(self) -> Frame:
        """All rows at their start."""
        return Frame(None, self.bounds[:-1].copy(), self.bounds[1:])

    def bytes_at(self, at: Positions) -> Bytes:
        """The byte at each position; any byte for one behind the data."""
        return self.data.take(at, mode="clip")

    def row(self, number: int, at: int, depth: int) -> Row:
        """One row, to be read on from `at`; the same as before, if it was asked for before.

        An array can ask for it at each of its items.
        """
        start = int(self.bounds[number])
        row = self._single.get(number)
        if row is None:
            end = int(self.bounds[number + 1])
            row = self._single[number] = self._row_type(self.data[start:end].tobytes())
        row.at, row.depth = at - start, depth
        row.empties = 0 if self._empties is None else int(self._empties[number])
        return row

    def single_rows(self) -> Iterable[Row]:
        """Those that were read one by one."""
        return self._single.values()

    def keep_empties(self, number: int, row: Row) -> None:
        """Remember how many items of no bytes the row had."""
        if row.empties:
            self.empties()[number] = row.empties

    def empties(self) -> Positions:
        """How many items of no bytes each row had so far."""
        if self._empties is None:
            self._empties = numpy.zeros(len(self.verdicts), numpy.int64)
        return self._empties

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

    def stop_behind_end(self, frame: Frame, path: str) -> bool:
        """Stop the rows that came further than they go; whether there are any."""
        over = frame.at > frame.end
        if not numpy.count_nonzero(over):
            return False
        self.stop(frame, true_indexes(over), path, row_counts.ENDS)
        return True

    def is_stopped(self, frame: Frame) -> NDArray[numpy.bool_]:
        """Which rows of the frame were stopped."""
        verdicts = self.verdicts if frame.rows is None else self.verdicts.take(frame.rows)
        stopped: NDArray[numpy.bool_] = verdicts != READ
        return stopped

    # ------------------------------------------------------------ counting

    def change(
        self, path: str, frame: Frame, where: Positions, what: CountKind = CountKind.CHANGED
    ) -> None:
        """Count a changed value for those rows of the frame."""
        if where.size:
            rows = frame.numbers(where)
            self.tallies.add((CountKey(path, what),), rows)
            self._mark(path)[rows] = True

    def _mark(self, path: str) -> NDArray[numpy.bool_]:
        """In which rows a value at the path was changed."""
        if path not in self._changed:
            self._changed[path] = numpy.zeros(len(self.verdicts), numpy.bool_)
        return self._changed[path]

    def check_text(self, frame: Frame, start: Positions, path: str) -> None:
        """Count a changed value where what lies between `start` and where a row is is no UTF-8."""
        self.change(path, frame, not_utf8(self._buffer, start, frame.at))

    def walk(self) -> Walk:
        """The answer; counts are of the rows that were not stopped."""
        read = self.verdicts == READ if self.stopped else None
        counts = self.tallies.counts(read)
        for number, row in self._single.items():
            if self.verdicts[number] == READ:
                counts.update(row.counts())
                for path in row.changed_paths():
                    self._mark(path)[number] = True
        marks = self._changed.items()
        changed = {
            path: true_indexes(mark if read is None else mark & read) for path, mark in marks
        }
        return Walk(
            verdicts=self.verdicts,
            reasons=tuple(self._codes),
            counts=counts,
            changed={path: rows for path, rows in changed.items() if rows.size},
        )


# Varints of all rows at once; nearly all that are met have one byte.


Raw = NDArray[numpy.uint8] | NDArray[numpy.uint64]

_CONTINUES: Final = 0x80
_STOPPED: Final = 0xFF
"""Stands for the varint of a row that was stopped: odd, so that it is negative."""

_LAST: Final = {32: (4, 0x0F, row_counts.INT), 64: (9, 0x01, row_counts.LONG)}
"""For so many bits: the index of the last byte, what it can be at most, and what to say else."""


def zigzag(raw: Raw) -> Positions:
    """The numbers that are meant."""
    if raw.dtype == numpy.uint8:
        small = raw.astype(numpy.int64)
        return (small >> 1) ^ -(small & 1)
    return (raw >> numpy.uint64(1)).astype(numpy.int64) ^ -(raw & numpy.uint64(1)).astype(
        numpy.int64
    )


def read_varints(batch: Batch, frame: Frame, path: str, bits: int) -> Raw:
    """What stands there, not yet unzigzagged; the frame moves on.

    A row that cannot be read is stopped, and its number is odd.
    """
    first = batch.bytes_at(frame.at)
    frame.at = frame.at + 1
    if numpy.maximum.reduce(first) < _CONTINUES:
        over = frame.at > frame.end
        if numpy.count_nonzero(over):
            batch.stop(frame, true_indexes(over), path, row_counts.ENDS)
            first[over] = _STOPPED
        return first
    raw = (first & 0x7F).astype(numpy.uint64)
    going = true_indexes(first >= _CONTINUES)
    wrong = _further(batch, frame, going, bits, raw)
    over = frame.at > frame.end
    if numpy.count_nonzero(over):
        batch.stop(frame, true_indexes(over), path, row_counts.ENDS)
        raw[over] = _STOPPED
    if wrong.size:
        batch.stop(frame, wrong, path, _LAST[bits][2])
        raw[wrong] = _STOPPED
    return raw


def skip_varints(batch: Batch, frame: Frame, path: str, bits: int) -> None:
    """Move the frame on behind them; stop the rows that cannot be read."""
    first = batch.bytes_at(frame.at)
    frame.at = frame.at + 1
    wrong = None
    if numpy.maximum.reduce(first) >= _CONTINUES:
        wrong = _further(batch, frame, true_indexes(first >= _CONTINUES), bits, None)
    batch.stop_behind_end(frame, path)
    if wrong is not None and wrong.size:
        batch.stop(frame, wrong, path, _LAST[bits][2])


def _further(
    batch: Batch, frame: Frame, going: Positions, bits: int, raw: NDArray[Any] | None
) -> Positions:
    """Read the bytes behind the first into `raw`; which rows have too many, or too large ones."""
    last, most, _ = _LAST[bits]
    for index in range(1, last + 1):
        whole = going.size == len(frame)
        at = frame.at if whole else frame.at.take(going)
        positions = batch.bytes_at(at)
        if whole:
            frame.at = at + 1
        else:
            frame.at[going] = at + 1
        if raw is not None:
            bits_of = (positions & 0x7F).astype(numpy.uint64) << numpy.uint64(7 * index)
            raw[slice(None) if whole else going] |= bits_of
        if index == last:
            return going[positions > most]
        values = positions >= _CONTINUES
        if numpy.count_nonzero(values) < values.size:
            going = going[values]
        if not going.size:
            break
    return going
