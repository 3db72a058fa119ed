"""Avro container files, split into the payloads that their messages had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy
import pyarrow

from gitops.replay.batches import MOST_BYTES, MOST_ROWS, batch, rows_from
from gitops.replay.kernel.avro.batch import Batch, Frame
from gitops.replay.kernel.avro.columns import Columns
from gitops.replay.kernel.avro.row_counts import Positions
from gitops.replay.kernel.avro.rows import Row
from gitops.replay.kernel.avro.schema_pair import make_skip
from gitops.replay.kernel.avro.steps import Plan
from gitops.replay.kernel.protocol import READ, Unreadable
from gitops.replay.sources.avro_blocks import Block, read_blocks, read_header
from gitops.replay.sources.files import open_stream
from gitops.replay.sources.source import Part, UnreadableError, Versions
from gitops.replay.sources.source_errors import AGAIN
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import ANY_AVRO

# Cuts blocks of Avro containers into messages: nothing in a container says where one ends.
#
# Values are passed over, not read. One block is a chain that only its start can be followed from,
# but many blocks are followed side by side: all of them one message further at a time.

FEW: Final = 48
"""Blocks below which following them one after the other is faster."""

_LEAST_LANES: Final = 8
"""The same where only some of the blocks take a branch."""

MOST_MESSAGES: Final = 500_000
"""Ends of messages that are noted at a time: a packed block of some KiB can hold millions."""

_MOST_EMPTY: Final = 100_000
"""Messages of no bytes in a block: nothing else bounds how many it may claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageBatch:
    """Messages one behind the other; `ends` (shape: messages + 1) are positions in `data`, from 0.

    `problem` says what is wrong with the message behind the last one, if there is one.
    """

    data: bytes
    ends: Positions
    problem: str = ""

    def payloads(self, most: int) -> Iterator[pyarrow.Array]:
        """The messages, so many at a time, without a copy of them."""
        buffer = pyarrow.py_buffer(self.data)
        for start in range(0, len(self.ends) - 1, most):
            ends = self.ends[start : start + most + 1].astype(numpy.int32)
            buffers = [None, pyarrow.py_buffer(ends), buffer]
            yield pyarrow.Array.from_buffers(pyarrow.binary(), len(ends) - 1, buffers)


def plan_of(definition: bytes, name: str) -> Plan:
    """How messages of a container's schema are passed over; raises UnreadableError."""
    try:
        return make_skip(ANY_AVRO.parse_data(definition))
    except (AvroParseError, RecursionError) as error:
        raise UnreadableError(f"{name} brings a schema that is not valid: {error}") from error


def cut(blocks: Sequence[Block], plan: Plan) -> Iterator[MessageBatch]:
    """The messages of blocks, up to the first that cannot be passed over, so many at a time."""
    data = b"".join(block.data for block in blocks)
    bounds = numpy.cumsum([0, *(len(block.data) for block in blocks)], dtype=numpy.int64)
    counts = numpy.array([block.count for block in blocks], numpy.int64)
    claimed = numpy.maximum(numpy.diff(bounds), _MOST_EMPTY) < counts
    if claimed.any() or len(blocks) < FEW or counts.sum() > MOST_MESSAGES:
        for items, problem in _chained(memoryview(data), bounds, counts, plan):
            yield MessageBatch(data=data, ends=numpy.array(items, numpy.int64), problem=problem)
    else:
        ends, problem = _side_by_side(data, bounds, counts, plan)
        yield MessageBatch(data=data, ends=numpy.concatenate([bounds[:1], ends]), problem=problem)


def _chained(
    data: memoryview, bounds: Positions, counts: Positions, plan: Plan
) -> Iterator[tuple[list[int], str]]:
    """One block after the other; each answer begins where the one before ends."""
    ends = [int(bounds[0])]
    for count, (start, stop) in zip(counts.tolist(), pairwise(bounds.tolist()), strict=True):
        if count > max(stop - start, _MOST_EMPTY):
            yield ends, f"a block of {stop - start:,} bytes claims {count:,} messages"
            return
        # Which is only indexed and cut, as bytes are.
        row = Row(data[start:stop])  # type: ignore[arg-type]
        for first in range(0, count, MOST_MESSAGES):
            problem = _skip_records(row, plan, min(MOST_MESSAGES, count - first), start, ends)
            if problem:
                yield ends, problem
                return
            if len(ends) > MOST_MESSAGES:
                yield ends, ""
                ends = ends[-1:]
        if row.at < row.end:
            yield ends, _more(row.end - row.at)
            return
    yield ends, ""


def _skip_records(row: Row, plan: Plan, count: int, start: int, ends: list[int]) -> str:
    """Follow a block and note where so many of its messages end; answers what is wrong."""
    for _ in range(count):
        row.empties = row.depth = 0
        try:
            row.group(plan.top)
        except Unreadable as error:
            return error.reason.reason
        ends.append(start + row.at)
    return ""


def _more(left: int) -> str:
    return f"its block has {left:,} bytes more"


class _Lanes(Batch):
    """Blocks as the rows of a batch, of which neither values nor counts are wanted."""

    def __init__(self, data: bytes, bounds: Positions) -> None:
        super().__init__(pyarrow.py_buffer(data), bounds)
        self._whole = memoryview(data)

    def row(self, number: int, at: int, depth: int) -> Row:
        """Without a copy: a block is much longer than what is left of a message."""
        start, end = int(self.bounds[number]), int(self.bounds[number + 1])
        row = Row(self._whole[start:end])  # type: ignore[arg-type]
        row.at, row.depth = at - start, depth
        return row


def _side_by_side(
    data: bytes, bounds: Positions, counts: Positions, plan: Plan
) -> tuple[Positions, str]:
    """All blocks, a message of each at a time."""
    at = bounds[:-1].copy()
    problems: dict[int, str] = {}
    turns: list[tuple[Positions, Positions]] = []
    left = numpy.flatnonzero(counts)
    while left.size:
        lanes = _Lanes(data, bounds)
        frame = Frame(left, at[left], bounds[1:][left])
        Columns(lanes, _LEAST_LANES).group(frame, plan.top)
        walk = lanes.walk()
        passed = walk.verdicts[left] == READ
        for lane in left[~passed].tolist():
            problems[lane] = walk.reasons[walk.verdicts[lane] - 1].reason
        left = left[passed]
        at[left] = frame.at[passed]
        turns.append((left, at[left]))
        left = left[counts[left] > len(turns)]
    for lane in numpy.flatnonzero(at != bounds[1:]).tolist():
        problems.setdefault(lane, _more(int(bounds[lane + 1] - at[lane])))
    first = min(problems, default=len(counts))
    return _in_order(turns, first), problems.get(first, "")


def _in_order(turns: Sequence[tuple[Positions, Positions]], last: int) -> Positions:
    """From the ends by turn to the ends by block, those of blocks behind `last` left out."""
    if not turns:
        return numpy.zeros(0, numpy.int64)
    lanes = numpy.concatenate([lanes for lanes, _ in turns])
    ends = numpy.concatenate([ends for _, ends in turns])
    return numpy.sort(ends[lanes <= last], kind="stable")


# Avro container files, cut into the payloads that their messages had.
#
# The file is read by its own framing (Avro 1.12, "Object Container Files"): what is in a block is
# not decoded, so that a value that a library would mend or refuse reaches the kernel as it is.


_MOST_BLOCKS: Final = 4096


class AvroSource:
    """The version is the one whose schema the container brings along, else the manifest's."""

    def parts(self, whole: Part) -> Iterator[Part]:
        """The file as a whole, whose messages nobody has counted."""
        yield whole

    def batches(self, part: Part, versions: Versions) -> Iterator[pyarrow.RecordBatch]:
        """The messages; of a file that is broken, those before the break come first."""
        name = part.file.name
        with open_stream(part.file) as stream:
            header = read_header(stream, part)
            version = versions.version_of(part.owners[0], header.schema)
            plan = plan_of(header.schema, name)
            at = 1
            for blocks in _some(read_blocks(stream, header, name)):
                for message_batch in cut(blocks, plan):
                    for payload in message_batch.payloads(MOST_ROWS):
                        rows = len(payload)
                        version_column = None if version is None else pyarrow.repeat(version, rows)
                        yield batch(payload, name, row=rows_from(at, rows), version=version_column)
                        at += rows
                    if message_batch.problem:
                        what = f"{name} is broken at message {at}: {message_batch.problem}"
                        raise UnreadableError(what, AGAIN)


def _some(blocks: Iterator[Block]) -> Iterator[list[Block]]:
    """Many at a time, as long as they are small; those before a broken one too."""
    items: list[Block] = []
    size = messages = 0
    try:
        for block in blocks:
            items.append(block)
            size += len(block.data)
            messages += block.count
            if size > MOST_BYTES or len(items) >= _MOST_BLOCKS or messages > MOST_MESSAGES:
                yield items
                items, size, messages = [], 0, 0
    except UnreadableError:
        yield items
        raise
    yield items
