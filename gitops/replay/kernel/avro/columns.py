"""All rows of one step of an Avro plan at a time, without making values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy
from numpy.typing import NDArray

from gitops.replay.kernel import definition
from gitops.replay.kernel.avro import logical_columns, row_counts
from gitops.replay.kernel.avro.batch import (
    Batch,
    Frame,
    Raw,
    read_varints,
    skip_varints,
    true_indexes,
    zigzag,
)
from gitops.replay.kernel.avro.logical_types import Sense
from gitops.replay.kernel.avro.row_counts import Positions
from gitops.replay.kernel.avro.rows import Row, rounded_numbers
from gitops.replay.kernel.avro.steps import (
    Branches,
    Fail,
    Fields,
    FixedSize,
    Flag,
    Group,
    Items,
    Number,
    ReaderBranch,
    Recursion,
    Step,
    Symbols,
    Text,
)
from gitops.replay.kernel.protocol import CountKind, Unreadable

# The headers of an array's or a map's blocks, of all rows at once.

_LEAST_COUNT: Final = -(2**63) + 1
"""The least whose opposite is a number."""


def read_headers(batch: Batch, frame: Frame, step: Items) -> tuple[Positions, Positions]:
    """How many items each row's next block has, and where it ends: -1 if it does not say.

    A stopped row has none. The items are counted.
    """
    counts = zigzag(read_varints(batch, frame, step.path, 64))
    stop = numpy.full(len(frame), -1)
    negative = true_indexes(counts < 0)
    if negative.size:
        part = frame.part(negative)
        stop[negative] = _read_sizes(batch, part, step)
        frame.at[negative] = part.at
        counts[negative] = -numpy.maximum(counts[negative], _LEAST_COUNT)
    _limit(batch, frame, step, counts)
    if batch.stopped:
        counts[batch.is_stopped(frame)] = 0
    batch.tallies.add(step.item.keys, frame.rows, counts.copy())
    return counts, stop


def end_blocks(batch: Batch, frame: Frame, step: Items, stop: Positions) -> None:
    """Stop the rows whose block said that it ends elsewhere."""
    wrong = (stop >= 0) & (stop != frame.at)
    if numpy.count_nonzero(wrong):
        batch.stop(frame, true_indexes(wrong), step.path, row_counts.BLOCK)


def _read_sizes(batch: Batch, frame: Frame, step: Items) -> Positions:
    """Where the blocks end."""
    sizes = zigzag(read_varints(batch, frame, step.path, 64))
    wrong = (sizes < 0) | (sizes > frame.end - frame.at)
    if numpy.count_nonzero(wrong):
        batch.stop(frame, true_indexes(wrong), step.path, row_counts.BLOCK)
        sizes[wrong] = 0
    return frame.at + sizes


def _limit(batch: Batch, frame: Frame, step: Items, counts: Positions) -> None:
    """Stop the rows that ask for more items than they can have."""
    if step.least_item:
        wrong = counts > (frame.end - frame.at) // step.least_item
        reason = row_counts.COUNT
    else:
        met, most = batch.empties(), row_counts.MOST_EMPTY
        rows = slice(None) if frame.rows is None else frame.rows
        met[rows] += numpy.minimum(counts, most + 1)
        wrong, reason = met[rows] > most, row_counts.EMPTY
    if numpy.count_nonzero(wrong):
        batch.stop(frame, true_indexes(wrong), step.path, reason)


# All rows of one step at a time, without making values.
#
# A frame is the rows that stand at one step. Each step moves them on and stops those that cannot
# be read; a row that was stopped stands at its own end and is stopped again wherever it is looked
# at, so that no step has to ask which rows are left. What is read behind a row's end is never
# used: every step compares where it came to with the end of each row.


_LONG_OR_NEGATIVE: Final = 0x81
"""The bits of a length's first byte that say so."""


class Columns:
    """One batch on its way through a plan; fewer rows than `few` are read one by one.

    `skips_blocks`: items of one size are passed over without being looked at.
    """

    skips_blocks = True

    def __init__(self, batch: Batch, few: int) -> None:
        self.batch = batch
        self.few = max(few, 1)
        self.depth = 0

    def group(self, frame: Frame, group: Group) -> None:
        """Take the rows through the group."""
        if len(frame) < self.few:
            for index in range(len(frame)):
                self.one(frame, index, lambda row: row.group(group))
            return
        self.batch.tallies.add(group.keys, frame.rows)
        self.step(frame, group.step)

    def step(self, frame: Frame, step: Step) -> None:
        """Take the rows through a step."""
        _TAKE[type(step)](self, frame, step)

    def one(self, frame: Frame, index: int, read: Callable[[Row], Any]) -> None:
        """Take one row of the frame on by itself."""
        number = frame.number(index)
        row = self.batch.row(number, int(frame.at[index]), self.depth)
        try:
            read(row)
        except Unreadable as error:
            self.batch.stop(frame, numpy.array([index]), *error.reason)
        else:
            frame.at[index] = row.at + self.batch.bounds[number]
            self.batch.keep_empties(number, row)

    def enter(self, frame: Frame, path: str) -> bool:
        """One level deeper, if there may be one."""
        if self.depth >= row_counts.DEEPEST:
            self.batch.stop(frame, numpy.arange(len(frame)), path, row_counts.DEEP)
            return False
        self.depth += 1
        return True

    def chunk(self, frame: Frame, path: str, *, checks_text: bool) -> Positions:
        """As many bytes as the number before them says: where they start.

        Counts what is no text if `checks_text`.
        """
        first = self.batch.bytes_at(frame.at)
        if numpy.bitwise_or.reduce(first) & _LONG_OR_NEGATIVE:
            start = self._long_chunk(frame, path)
        else:
            start = frame.at + 1
            frame.at = start + (first >> 1)
        if self.batch.stop_behind_end(frame, path):
            start = numpy.minimum(start, frame.at)
        if checks_text:
            self.batch.check_text(frame, start, path)
        return start

    def _long_chunk(self, frame: Frame, path: str) -> Positions:
        """Where the bytes start, where some are long or have a negative length."""
        lengths = zigzag(read_varints(self.batch, frame, path, 64))
        start, negative = frame.at, lengths < 0
        if numpy.count_nonzero(negative):
            self.batch.stop(frame, true_indexes(negative), path, row_counts.LENGTH)
        # A forged length may be larger than what can be added to a position.
        frame.at = start + numpy.clip(lengths, 0, self.batch.size + 1)
        return start

    def index(self, frame: Frame, path: str, most: int, reason: str) -> NDArray[Any]:
        """A number below `most`; just that where the row was stopped."""
        raw = read_varints(self.batch, frame, path, 32)
        if numpy.maximum.reduce(raw) < 2 * most and not numpy.bitwise_or.reduce(raw) & 1:
            return raw >> 1
        positions = zigzag(raw)
        wrong = (positions < 0) | (positions >= most)
        if numpy.count_nonzero(wrong):
            self.batch.stop(frame, true_indexes(wrong), path, reason)
            positions[wrong] = most
        return positions

    def round(self, live: Frame, step: Items, left: Positions, stop: Positions) -> None:
        """One item of each row, or the whole block where items have one size."""
        item = step.item.step
        skips = self.skips_blocks and not step.keyed
        if skips and isinstance(item, FixedSize) and item.sense is None:
            live.at = live.at + left * item.size
            left[:] = 0
        else:
            if step.keyed:
                self.chunk(live, step.path, checks_text=step.reads is not None)
            self.step(live, item)
            left -= 1
        ended = true_indexes(left == 0)
        if ended.size:
            part = live.part(ended)
            end_blocks(self.batch, part, step, stop[ended])
            left[ended], stop[ended] = read_headers(self.batch, part, step)
            live.at[ended] = part.at
        if self.batch.stopped:
            left[self.batch.is_stopped(live)] = 0

    def rest(self, live: Frame, index: int, step: Items, left: int, stop: int) -> None:
        """One row has many items: it is taken by itself."""
        start = int(self.batch.bounds[live.number(index)])
        end = stop - start if stop >= 0 else -1
        self.one(live, index, lambda row: row.blocks(step, [], left, end))


def _fail(columns: Columns, frame: Frame, step: Fail) -> None:
    columns.batch.stop(frame, numpy.arange(len(frame)), *step.reason)


def _sized(columns: Columns, frame: Frame, step: FixedSize) -> None:
    if step.size or step.sense is not None:
        start = frame.at
        frame.at = start + step.size
        columns.batch.stop_behind_end(frame, step.path)
        if step.sense is not None:
            _bytes_sense(columns.batch, frame, numpy.minimum(start, frame.at), step, step.sense)


def _flag(columns: Columns, frame: Frame, step: Flag) -> None:
    batch = columns.batch
    positions = batch.bytes_at(frame.at)
    frame.at = frame.at + 1
    batch.stop_behind_end(frame, step.path)
    if numpy.maximum.reduce(positions) > 1:
        batch.stop(frame, true_indexes(positions > 1), step.path, row_counts.BOOLEAN)


def _number(columns: Columns, frame: Frame, step: Number) -> None:
    bits = 32 if step.kind == "int" else 64
    if step.sense is not None:
        raw = read_varints(columns.batch, frame, step.path, bits)
        _number_sense(columns.batch, frame, raw, step.path, step.sense)
        return
    if step.reads is None or not step.can_lose:
        skip_varints(columns.batch, frame, step.path, bits)
        return
    numbers = zigzag(read_varints(columns.batch, frame, step.path, bits))
    columns.batch.change(step.path, frame, rounded_numbers(numbers, step.reads))


def _number_sense(batch: Batch, frame: Frame, raw: Raw, path: str, sense: Sense) -> None:
    if sense.check is not None:
        refused = logical_columns.refused_numbers(sense.check, zigzag(raw))
        if numpy.count_nonzero(refused):
            batch.stop(frame, true_indexes(refused), path, sense.check.reason)
    if sense.change is not None:
        changed = logical_columns.changed_numbers(sense.change, raw)
        batch.change(path, frame, true_indexes(changed), CountKind.REINTERPRETED)
    elif sense.cut is not None:
        cut = logical_columns.cut_numbers(sense.cut, zigzag(raw))
        batch.change(path, frame, true_indexes(cut))


def _bytes_sense(
    batch: Batch, frame: Frame, start: Positions, step: Text | FixedSize, sense: Sense
) -> None:
    if sense.check is not None:
        refused = logical_columns.refused_texts(sense.check, batch.data, start, frame.at)
        if numpy.count_nonzero(refused):
            batch.stop(frame, true_indexes(refused), step.path, sense.check.reason)
    if sense.change is not None:
        changed = logical_columns.changed_bytes(sense.change, batch.data, start, frame.at)
        batch.change(step.path, frame, true_indexes(changed), CountKind.REINTERPRETED)


def _text(columns: Columns, frame: Frame, step: Text) -> None:
    sense = step.sense
    checks_text = step.reads == "string" and (sense is None or sense.may_be_no_text)
    start = columns.chunk(frame, step.path, checks_text=checks_text)
    if sense is not None:
        _bytes_sense(columns.batch, frame, start, step, sense)


def _symbols(columns: Columns, frame: Frame, step: Symbols) -> None:
    batch = columns.batch
    positions = columns.index(frame, step.path, len(step.symbols), row_counts.SYMBOL)
    for index, taken in enumerate(step.taken):
        written = step.symbols[index]
        if taken == written:
            continue
        where = true_indexes(positions == index)
        if where.size and taken is None:
            batch.stop(frame, where, step.path, definition.lacks_symbol_and_default(written))
        elif where.size:
            batch.change(step.path, frame, where)
    if step.taken:
        batch.tallies.add_symbols(step, frame.rows, positions)


def _branches(columns: Columns, frame: Frame, step: Branches) -> None:
    if not columns.enter(frame, step.path):
        return
    positions = columns.index(frame, step.path, len(step.groups), row_counts.BRANCH)
    for index, group in enumerate(step.groups):
        where = true_indexes(positions == index)
        if where.size == len(frame):
            columns.group(frame, group)
        elif where.size:
            part = frame.part(where)
            columns.group(part, group)
            frame.at[where] = part.at
    columns.depth -= 1


def _reader_branch(columns: Columns, frame: Frame, step: ReaderBranch) -> None:
    columns.step(frame, step.step)


def _recursion(columns: Columns, frame: Frame, step: Recursion) -> None:
    columns.group(frame, step.group)


def _fields(columns: Columns, frame: Frame, step: Fields) -> None:
    if not columns.enter(frame, step.path):
        return
    for _, inner in step.fields:
        columns.step(frame, inner)
    columns.depth -= 1


def _items(columns: Columns, frame: Frame, step: Items) -> None:
    """Round by round: the first item of all rows, then the second of those that have one."""
    if not columns.enter(frame, step.path):
        return
    live, where = Frame(frame.rows, frame.at, frame.end), numpy.arange(len(frame))
    left, stop = read_headers(columns.batch, live, step)
    while True:
        going = true_indexes(left)
        if going.size < len(live):
            frame.at[where] = live.at
            live, where = live.part(going), where[going]
            left, stop = left[going], stop[going]
        if len(live) < columns.few:
            break
        columns.round(live, step, left, stop)
    for index in range(len(live)):
        columns.rest(live, index, step, int(left[index]), int(stop[index]))
    frame.at[where] = live.at
    columns.depth -= 1


_TAKE: Final[dict[type, Callable[[Columns, Frame, Any], None]]] = {
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
