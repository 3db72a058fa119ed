"""The kernel of an Avro payload, and its plain reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy
import pyarrow

from gitops.compatibility.avro.schema import Schema
from gitops.model.samples import LogicalTypes
from gitops.replay.kernel.avro import reasons
from gitops.replay.kernel.avro.batch import Batch, where_true
from gitops.replay.kernel.avro.columns import Columns
from gitops.replay.kernel.avro.plan import make_plan
from gitops.replay.kernel.avro.rows import Row
from gitops.replay.kernel.avro.steps import Plan
from gitops.replay.kernel.avro.tallies import Positions
from gitops.replay.kernel.parts import MOST_BYTES, MOST_ROWS, joined
from gitops.replay.kernel.walk import Changed, Counted, Walk

FEW: Final = 6
"""Rows below which one at a time is faster."""


class AvroKernel:
    """Reads columns of payloads of the `writer` with the `reader`: a Kernel and a ChangeReader."""

    def __init__(self, plan: Plan, *, few: int = FEW) -> None:
        self._plan = plan
        self._few = few

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Read a column without nulls, of any binary type."""
        return joined([self._part(data, bounds) for data, bounds in _parts(payloads)])

    def changes(self, payload: bytes) -> Mapping[str, Changed]:
        """As ChangeReader has it."""
        row = Row(payload)
        row.changes = {}
        row.whole(self._plan)
        return row.changes

    def _part(self, data: pyarrow.Buffer, bounds: Positions) -> Walk:
        batch = Batch(data, bounds)
        frame = batch.everything()
        Columns(batch, self._few).group(frame, self._plan.top)
        left = frame.at < frame.end
        if numpy.count_nonzero(left):
            batch.stop(frame, where_true(left), "", reasons.LEFT)
        return batch.walk()


class AvroRowReader:
    """Reads single payloads: a RowReader."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def read(self, payload: bytes) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value as the reader sees it; raises Unreadable."""
        return Row(payload).whole(self._plan)

    def counted(self, payload: bytes) -> tuple[Any, Counter[Counted]]:
        """The value, and what `walk` counts for it; raises Unreadable."""
        row = Row(payload)
        value = row.whole(self._plan)
        return value, row.counts()


def avro_kernel(writer: Schema, reader: Schema, logical_types: LogicalTypes = "java") -> AvroKernel:
    """The kernel of a pair of parsed definitions."""
    return AvroKernel(make_plan(writer, reader, logical_types))


def avro_row_reader(
    writer: Schema, reader: Schema, logical_types: LogicalTypes = "java"
) -> AvroRowReader:
    """The plain reader of a pair of parsed definitions."""
    return AvroRowReader(make_plan(writer, reader, logical_types))


def _parts(payloads: pyarrow.Array) -> Iterator[tuple[pyarrow.Buffer, Positions]]:
    """The column in pieces of a size that is bounded, or of one payload."""
    large = payloads.cast(pyarrow.large_binary())
    _, offsets, data = large.buffers()
    count = len(large)
    bounds = numpy.frombuffer(offsets, numpy.int64)[large.offset : large.offset + count + 1]
    first = 0
    while first < count or not first:
        most = int(numpy.searchsorted(bounds, bounds[first] + MOST_BYTES, side="right")) - 1
        last = min(count, first + MOST_ROWS, max(first + 1, most))
        base, end = int(bounds[first]), int(bounds[last])
        yield data.slice(base, end - base), bounds[first : last + 1] - base
        first = last
        if not count:
            return
