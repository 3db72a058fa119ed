"""A column of payloads as NumPy sees it, without a copy."""

from __future__ import annotations

from typing import NamedTuple

import numpy
import pyarrow
from numpy.typing import NDArray


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


def as_binary(payloads: pyarrow.Array) -> pyarrow.BinaryArray:
    """The same as one BinaryArray or LargeBinaryArray."""
    if isinstance(payloads, pyarrow.BinaryArray | pyarrow.LargeBinaryArray):
        return payloads
    return payloads.cast(pyarrow.large_binary())
