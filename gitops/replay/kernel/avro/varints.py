"""Varints of all rows at once; nearly all that are met have one byte."""

from __future__ import annotations

from typing import Any, Final

import numpy
from numpy.typing import NDArray

from gitops.replay.kernel.avro import row_counts
from gitops.replay.kernel.avro.batch import Batch, Frame, where_true
from gitops.replay.kernel.avro.row_counts import Positions

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
            batch.stop(frame, where_true(over), path, row_counts.ENDS)
            first[over] = _STOPPED
        return first
    raw = (first & 0x7F).astype(numpy.uint64)
    going = where_true(first >= _CONTINUES)
    wrong = _further(batch, frame, going, bits, raw)
    over = frame.at > frame.end
    if numpy.count_nonzero(over):
        batch.stop(frame, where_true(over), path, row_counts.ENDS)
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
        wrong = _further(batch, frame, where_true(first >= _CONTINUES), bits, None)
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
        found = batch.bytes_at(at)
        if whole:
            frame.at = at + 1
        else:
            frame.at[going] = at + 1
        if raw is not None:
            bits_of = (found & 0x7F).astype(numpy.uint64) << numpy.uint64(7 * index)
            raw[slice(None) if whole else going] |= bits_of
        if index == last:
            return going[found > most]
        more = found >= _CONTINUES
        if numpy.count_nonzero(more) < more.size:
            going = going[more]
        if not going.size:
            break
    return going
