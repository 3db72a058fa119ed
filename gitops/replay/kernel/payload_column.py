"""A column of payloads as NumPy has it, in parts of a bounded size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.replay.kernel.protocol import CountKey, Reason, Walk


class Column(NamedTuple):
    """`data` holds all bytes; row n is `data[starts[n]:ends[n]]`."""

    data: NDArray[numpy.uint8]
    starts: NDArray[numpy.int64]
    ends: NDArray[numpy.int64]

    @property
    def lengths(self) -> NDArray[numpy.int64]:
        """The bytes of each row."""
        return self.ends - self.starts

    def take(self, rows: NDArray[numpy.int64]) -> Column:
        """Those rows, one behind the other."""
        bounds = zip(self.starts[rows].tolist(), self.ends[rows].tolist(), strict=True)
        data = b"".join([self.data[start:end].data for start, end in bounds])
        ends = numpy.cumsum(self.lengths[rows])
        return Column(numpy.frombuffer(data, numpy.uint8), ends - self.lengths[rows], ends)

    def payloads(self) -> list[bytes]:
        """Each row as bytes."""
        if not len(self.starts):
            return []
        first = int(self.starts[0])
        data = self.data[first : int(self.ends[-1])].tobytes()
        starts, ends = (self.starts - first).tolist(), (self.ends - first).tolist()
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]


def column(payloads: pyarrow.BinaryArray) -> Column:
    """The bytes and where each row lies in them."""
    _, offsets, data = payloads.buffers()
    width = numpy.int64 if pyarrow.types.is_large_binary(payloads.type) else numpy.int32
    if len(payloads) == 0:
        nothing = numpy.zeros(0, numpy.int64)
        return Column(numpy.zeros(0, numpy.uint8), nothing, nothing)
    bounds = numpy.frombuffer(offsets, width)[payloads.offset : payloads.offset + len(payloads) + 1]
    whole = numpy.zeros(0, numpy.uint8) if data is None else numpy.frombuffer(data, numpy.uint8)
    at = bounds.astype(numpy.int64)
    return Column(whole, at[:-1], at[1:])


def as_doubles(numbers: NDArray[Any]) -> NDArray[numpy.float64]:
    """Numbers of 32 or 64 bits as doubles; a NaN may be one that signals."""
    with numpy.errstate(invalid="ignore"):
        return numbers.astype(numpy.float64)


def to_binary(payloads: pyarrow.Array) -> pyarrow.BinaryArray:
    """The same as one BinaryArray or LargeBinaryArray."""
    if isinstance(payloads, pyarrow.BinaryArray | pyarrow.LargeBinaryArray):
        return payloads
    return payloads.cast(pyarrow.large_binary())


# A column in pieces, so that what a walk remembers does not grow with the column.


MOST_BYTES: Final = 2**23
MOST_ROWS: Final = 2**14
"""What is walked over at once: what a walk remembers grows with it, and the caches are small."""


def walk_in_parts(payloads: pyarrow.Array, walk: Callable[[Column], Walk]) -> Walk:
    """The walk over a column of any binary type, some megabytes (or one payload) at a time."""
    rows = column(to_binary(payloads))
    bounds = numpy.append(rows.starts, rows.ends[-1:])
    walks: list[Walk] = []
    first = 0
    while first < len(rows.starts) or not walks:
        limit = bounds[first : first + 1].sum() + MOST_BYTES
        most = int(numpy.searchsorted(bounds, limit, side="right")) - 1
        last = min(len(rows.starts), first + MOST_ROWS, max(first + 1, most))
        walks.append(walk(Column(rows.data, rows.starts[first:last], rows.ends[first:last])))
        first = last
    return join_walks(walks)


def join_walks(walks: list[Walk]) -> Walk:
    """The walks over the parts of a column, in order, as the one over all of it."""
    if len(walks) == 1:
        return walks[0]
    numbers: dict[Reason, int] = {}
    verdicts = []
    counts: Counter[CountKey] = Counter()
    changed: dict[str, list[NDArray[numpy.int64]]] = {}
    start = 0
    for walk in walks:
        known = [numbers.setdefault(reason, len(numbers) + 1) for reason in walk.reasons]
        verdicts.append(numpy.array([0, *known], numpy.int32)[walk.verdicts])
        counts.update(walk.counts)
        for path, rows in walk.changed.items():
            changed.setdefault(path, []).append(rows + start)
        start += len(walk.verdicts)
    return Walk(
        verdicts=numpy.concatenate(verdicts),
        reasons=tuple(numbers),
        counts=counts,
        changed={path: numpy.concatenate(rows) for path, rows in changed.items()},
    )


# Which of many texts in a buffer are not UTF-8.


_EVERY_OTHER = 0x55


def not_utf8(
    data: pyarrow.Buffer, start: NDArray[numpy.int64], stop: NDArray[numpy.int64]
) -> NDArray[numpy.int64]:
    """The indexes of the texts that are not; positions rise: each start, its stop, the next."""
    count = len(start)
    bounds = numpy.empty(2 * count, numpy.int64)
    bounds[::2], bounds[1::2] = start, stop
    # What lies between two texts is taken as an element that is null, which nobody looks at.
    present = numpy.full((2 * count + 7) // 8, _EVERY_OTHER, numpy.uint8)
    texts = pyarrow.Array.from_buffers(
        pyarrow.large_string(),
        2 * count - 1,
        [pyarrow.py_buffer(present), pyarrow.py_buffer(bounds), data],
        count - 1,
    )
    try:
        texts.validate(full=True)
    except pyarrow.ArrowInvalid:
        return _indexes_not_utf8(data, start, stop)
    return numpy.empty(0, numpy.int64)


def _indexes_not_utf8(
    data: pyarrow.Buffer, start: NDArray[numpy.int64], stop: NDArray[numpy.int64]
) -> NDArray[numpy.int64]:
    view = memoryview(data)
    bounds = zip(start.tolist(), stop.tolist(), strict=True)
    items = [index for index, (a, b) in enumerate(bounds) if not _is_text(view[a:b])]
    return numpy.array(items, numpy.int64)


def _is_text(data: memoryview) -> bool:
    try:
        str(data, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


# Counts of many rows at once, where a few rows may have to be looked at one by one.


Counts = Counter[CountKey]

_TOGETHER: Final = 2048
_FEW: Final = 8


class AmbiguousBatchError(Exception):
    """Not every one of these rows is sure to be read, or to be counted right."""


def bisect_messages(rows: int, count: Callable[[int, int], Counts]) -> tuple[Counts, list[int]]:
    """What `count(start, end)` says of all rows, and the indexes of those that it doubts.

    Rows that raise AmbiguousBatchError are counted again in halves, until few are left.
    """
    counts: Counts = Counter()
    doubted: list[int] = []
    waiting = [(at, min(at + _TOGETHER, rows)) for at in range(0, rows, _TOGETHER)]
    while waiting:
        start, end = waiting.pop()
        try:
            counts.update(count(start, end))
        except AmbiguousBatchError:
            if end - start <= _FEW:
                doubted += range(start, end)
            else:
                middle = (start + end) // 2
                waiting += [(start, middle), (middle, end)]
    return counts, doubted
