"""The headers of an array's or a map's blocks, of all rows at once."""

from __future__ import annotations

from typing import Final

import numpy

from gitops.replay.kernel.avro import reasons
from gitops.replay.kernel.avro.batch import Batch, Frame, where_true
from gitops.replay.kernel.avro.steps import Items
from gitops.replay.kernel.avro.tallies import Positions
from gitops.replay.kernel.avro.varints import read_varints, zigzag

_LEAST_COUNT: Final = -(2**63) + 1
"""The least whose opposite is a number."""


def read_headers(batch: Batch, frame: Frame, step: Items) -> tuple[Positions, Positions]:
    """How many items each row's next block has, and where it ends: -1 if it does not say.

    A stopped row has none. The items are counted.
    """
    counts = zigzag(read_varints(batch, frame, step.path, 64))
    stop = numpy.full(len(frame), -1)
    negative = where_true(counts < 0)
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
        batch.stop(frame, where_true(wrong), step.path, reasons.BLOCK)


def _read_sizes(batch: Batch, frame: Frame, step: Items) -> Positions:
    """Where the blocks end."""
    sizes = zigzag(read_varints(batch, frame, step.path, 64))
    wrong = (sizes < 0) | (sizes > frame.end - frame.at)
    if numpy.count_nonzero(wrong):
        batch.stop(frame, where_true(wrong), step.path, reasons.BLOCK)
        sizes[wrong] = 0
    return frame.at + sizes


def _limit(batch: Batch, frame: Frame, step: Items, counts: Positions) -> None:
    """Stop the rows that ask for more items than they can have."""
    if step.least_item:
        wrong = counts > (frame.end - frame.at) // step.least_item
        reason = reasons.COUNT
    else:
        met, most = batch.empties(), reasons.MOST_EMPTY
        rows = slice(None) if frame.rows is None else frame.rows
        met[rows] += numpy.minimum(counts, most + 1)
        wrong, reason = met[rows] > most, reasons.EMPTY
    if numpy.count_nonzero(wrong):
        batch.stop(frame, where_true(wrong), step.path, reason)
