"""All rows of one step at a time, without making values.

A frame is the rows that stand at one step. Each step moves them on and stops those that cannot
be read; a row that was stopped stands at its own end and is stopped again wherever it is looked
at, so that no step has to ask which rows are left. What is read behind a row's end is never used:
every step compares where it came to with the end of each row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy

from gitops.replay.kernel.avro import reasons
from gitops.replay.kernel.avro.batch import Batch, Frame, Positions
from gitops.replay.kernel.avro.lossy import changed_numbers
from gitops.replay.kernel.avro.rows import Row
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
    Sized,
    Step,
    Symbols,
    Text,
)
from gitops.replay.kernel.avro.varints import read_varints, skip_varints, zigzag
from gitops.replay.kernel.walk import Unreadable

_LEAST_COUNT: Final = -(2**63) + 1
"""The least whose opposite is a number."""


class Columns:
    """One batch on its way through a plan; fewer rows than `few` are read one by one."""

    def __init__(self, batch: Batch, few: int) -> None:
        self.batch = batch
        self.few = few
        self.depth = 0

    def group(self, frame: Frame, group: Group) -> None:
        """Take the rows through the group, one by one if they are few."""
        if len(frame) < self.few:
            for index in range(len(frame)):
                self._one(frame, index, lambda row: row.group(group))
            return
        self.batch.tally(group, frame.rows)
        self.step(frame, group.step)

    def step(self, frame: Frame, step: Step) -> None:
        """Take the rows through a step."""
        _TAKE[type(step)](self, frame, step)

    def _one(self, frame: Frame, index: int, read: Callable[[Row], Any]) -> None:
        """Take one row of the frame on by itself."""
        number = index if frame.rows is None else int(frame.rows[index])
        row = self.batch.row(number, int(frame.at[index]), self.depth)
        try:
            read(row)
        except Unreadable as error:
            self.batch.stop(frame, numpy.array([index]), error.reason.path, error.reason.reason)
        else:
            frame.at[index] = row.at + self.batch.bounds[number]
            self.batch.keep(number, row)

    # ------------------------------------------------------------ what stands alone

    def on_fail(self, frame: Frame, step: Fail) -> None:
        self.batch.stop(frame, numpy.arange(len(frame)), *step.reason)

    def on_sized(self, frame: Frame, step: Sized) -> None:
        if step.size:
            frame.at = frame.at + step.size
            self.batch.stop_behind_end(frame, step.path)

    def on_flag(self, frame: Frame, step: Flag) -> None:
        found = self.batch.bytes_at(frame.at)
        frame.at = frame.at + 1
        self.batch.stop_behind_end(frame, step.path)
        if found.max() > 1:
            self.batch.stop(frame, numpy.flatnonzero(found > 1), step.path, reasons.BOOLEAN)

    def on_number(self, frame: Frame, step: Number) -> None:
        bits = 32 if step.kind == "int" else 64
        if not step.can_lose:
            skip_varints(self.batch, frame, step.path, bits)
            return
        numbers = zigzag(read_varints(self.batch, frame, step.path, bits))
        self.batch.change(step.path, frame, changed_numbers(numbers, step.reads == "float"))

    def on_text(self, frame: Frame, step: Text) -> None:
        self._chunk(frame, step.path, checked=step.reads == "string")

    def _chunk(self, frame: Frame, path: str, *, checked: bool) -> None:
        sizes = read_varints(self.batch, frame, path, 64)
        start = frame.at
        if sizes.dtype == numpy.uint8:
            odd = sizes & 1
            if odd.any():
                self._negative(frame, numpy.flatnonzero(odd), path)
            frame.at = frame.at + (sizes >> 1)
        else:
            lengths = zigzag(sizes)
            negative = numpy.flatnonzero(lengths < 0)
            if negative.size:
                self._negative(frame, negative, path)
            # A forged length may be larger than what can be added to a position.
            frame.at = frame.at + numpy.clip(lengths, 0, self.batch.size + 1)
        self.batch.stop_behind_end(frame, path)
        if checked:
            self.batch.check_text(frame, start, path)

    def _negative(self, frame: Frame, where: Positions, path: str) -> None:
        self.batch.stop(frame, where, path, reasons.LENGTH)

    def on_symbols(self, frame: Frame, step: Symbols) -> None:
        found = self._index(frame, step.path, len(step.symbols), reasons.SYMBOL)
        for index, taken in enumerate(step.taken):
            if taken == step.symbols[index]:
                continue
            where = numpy.flatnonzero(found == index)
            if not where.size:
                continue
            if taken is None:
                reason = reasons.symbol_missing(step.symbols[index])
                self.batch.stop(frame, where, step.path, reason)
            else:
                self.batch.change(step.path, frame, where)
        if step.taken:
            self.batch.count_symbols(step, frame.rows, found)

    def _index(self, frame: Frame, path: str, most: int, reason: str) -> Positions:
        """Below `most` where the row goes on; `most` or more where it was stopped."""
        raw = read_varints(self.batch, frame, path, 32)
        found = zigzag(raw)
        wrong = (found < 0) | (found >= most)
        if wrong.any():
            self.batch.stop(frame, numpy.flatnonzero(wrong), path, reason)
            found[wrong] = most
        return found

    # ------------------------------------------------------------ what holds others

    def _enter(self, frame: Frame, path: str) -> bool:
        if self.depth >= reasons.DEEPEST:
            self.batch.stop(frame, numpy.arange(len(frame)), path, reasons.DEEP)
            return False
        self.depth += 1
        return True

    def on_branches(self, frame: Frame, step: Branches) -> None:
        if not self._enter(frame, step.path):
            return
        found = self._index(frame, step.path, len(step.groups), reasons.BRANCH)
        for index, group in enumerate(step.groups):
            where = numpy.flatnonzero(found == index)
            if where.size == len(frame):
                self.group(frame, group)
            elif where.size:
                part = frame.part(where)
                self.group(part, group)
                frame.at[where] = part.at
        self.depth -= 1

    def on_into(self, frame: Frame, step: Into) -> None:
        self.step(frame, step.step)

    def on_again(self, frame: Frame, step: Again) -> None:
        self.group(frame, step.group)

    def on_fields(self, frame: Frame, step: Fields) -> None:
        if not self._enter(frame, step.path):
            return
        for _, inner in step.fields:
            self.step(frame, inner)
        self.depth -= 1

    def on_items(self, frame: Frame, step: Items) -> None:
        """Round by round: the first item of all rows, then the second of those that have one."""
        if not self._enter(frame, step.path):
            return
        live = Frame(frame.rows, frame.at, frame.end)
        left, stop = self._headers(live, step)
        where = numpy.arange(len(frame))
        while True:
            gone, going = numpy.flatnonzero(left == 0), numpy.flatnonzero(left)
            if gone.size:
                frame.at[where[gone]] = live.at[gone]
                live, where = live.part(going), where[going]
                left, stop = left[going], stop[going]
            if len(live) < max(self.few, 1):
                break
            self._round(live, step, left, stop)
        for index in range(len(live)):
            self._rest(live, index, step, left, stop)
        frame.at[where] = live.at
        self.depth -= 1

    def _rest(self, live: Frame, index: int, step: Items, left: Positions, stop: Positions) -> None:
        """Few rows have many items: they are taken one by one."""
        start = self.batch.bounds[index if live.rows is None else live.rows[index]]
        end = int(stop[index] - start) if stop[index] >= 0 else -1
        self._one(live, index, lambda row: row.blocks(step, [], int(left[index]), end))

    def _round(self, live: Frame, step: Items, left: Positions, stop: Positions) -> None:
        """One item of each row, or the whole block where items have one size."""
        item = step.item.step
        if isinstance(item, Sized) and not step.keyed:
            live.at = live.at + left * item.size
            left[:] = 0
        else:
            if step.keyed:
                self._chunk(live, step.path, checked=step.reads is not None)
            self.step(live, item)
            left -= 1
        ended = numpy.flatnonzero(left == 0)
        if ended.size:
            part = live.part(ended)
            self._end_blocks(part, step, stop[ended])
            left[ended], stop[ended] = self._headers(part, step)
            live.at[ended] = part.at
        if self.batch.stopped:
            left[self.batch.is_stopped(live)] = 0

    def _end_blocks(self, frame: Frame, step: Items, stop: Positions) -> None:
        wrong = (stop >= 0) & (stop != frame.at)
        if wrong.any():
            self.batch.stop(frame, numpy.flatnonzero(wrong), step.path, reasons.BLOCK)

    def _headers(self, frame: Frame, step: Items) -> tuple[Positions, Positions]:
        """How many items each row's next block has, and where it ends: -1 if it does not say."""
        counts = zigzag(read_varints(self.batch, frame, step.path, 64))
        stop = numpy.full(len(frame), -1)
        negative = numpy.flatnonzero(counts < 0)
        if negative.size:
            part = frame.part(negative)
            stop[negative] = self._sizes(part, step)
            frame.at[negative] = part.at
            counts[negative] = -numpy.maximum(counts[negative], _LEAST_COUNT)
        self._limit(frame, step, counts)
        if self.batch.stopped:
            counts[self.batch.is_stopped(frame)] = 0
        self.batch.tally(step.item, frame.rows, counts.copy())
        return counts, stop

    def _sizes(self, frame: Frame, step: Items) -> Positions:
        """Where the blocks end."""
        sizes = zigzag(read_varints(self.batch, frame, step.path, 64))
        wrong = (sizes < 0) | (sizes > frame.end - frame.at)
        if wrong.any():
            self.batch.stop(frame, numpy.flatnonzero(wrong), step.path, reasons.BLOCK)
            sizes[wrong] = 0
        return frame.at + sizes

    def _limit(self, frame: Frame, step: Items, counts: Positions) -> None:
        """Stop the rows that ask for more items than they can have."""
        if step.least_item:
            wrong = counts > (frame.end - frame.at) // step.least_item
            reason = reasons.COUNT
        else:
            met, most = self.batch.empties(), reasons.MOST_EMPTY
            rows = slice(None) if frame.rows is None else frame.rows
            met[rows] += numpy.minimum(counts, most + 1)
            wrong, reason = met[rows] > most, reasons.EMPTY
        if wrong.any():
            self.batch.stop(frame, numpy.flatnonzero(wrong), step.path, reason)


_TAKE: Final[dict[type, Callable[[Columns, Frame, Any], None]]] = {
    Fail: Columns.on_fail,
    Sized: Columns.on_sized,
    Flag: Columns.on_flag,
    Number: Columns.on_number,
    Text: Columns.on_text,
    Symbols: Columns.on_symbols,
    Items: Columns.on_items,
    Branches: Columns.on_branches,
    Into: Columns.on_into,
    Fields: Columns.on_fields,
    Again: Columns.on_again,
}
