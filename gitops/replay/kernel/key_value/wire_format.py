"""Key and value in one payload, as INLINE messages carry them (Pulsar 4.0.7).

Length of the key, key, length of the value, value; a length is a big-endian int32, -1 for null.
Messages that are SEPARATED are brought into this form too, so that both are read alike.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import numpy
import pyarrow
import pyarrow.compute
from numpy.typing import NDArray

from gitops.replay.kernel.payload_column import column, to_binary
from gitops.replay.kernel.protocol import Reason
from gitops.replay.kernel.verdicts import Rows, Verdicts
from gitops.schemas.key_value.parser import HALVES

_LENGTH: Final = struct.Struct(">i")
_NULL: Final = -1

NO_LENGTH: Final = "it ends before its length"
NEGATIVE: Final = "its length is negative"
TOO_LONG: Final = "it is shorter than its length"
LEFT: Final = Reason("", "bytes are left over after the value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """One half of a column: the payloads of those `rows` that have it and are not null."""

    rows: Rows
    nulls: Rows
    payloads: pyarrow.BinaryArray


def join(keys: pyarrow.BinaryArray, values: pyarrow.BinaryArray) -> pyarrow.BinaryArray:
    """Message keys and payloads of SEPARATED messages as the payloads that a kernel walks.

    A null is the null of its half: a message without a key, or one whose value is null.
    """
    parts = []
    for half in (keys, values):
        large = half.cast(pyarrow.large_binary())
        parts += [_lengths(large), pyarrow.compute.fill_null(large, b"")]
    return pyarrow.compute.binary_join_element_wise(*parts, pyarrow.scalar(b"", parts[0].type))


def join_one(key: bytes | None, value: bytes | None) -> bytes:
    """One message, as `join`."""
    return b"".join(
        _LENGTH.pack(_NULL) if half is None else _LENGTH.pack(len(half)) + half
        for half in (key, value)
    )


def split(payloads: pyarrow.BinaryArray, verdicts: Verdicts) -> tuple[Half, Half]:
    """Both halves of each row; rows that are no pair are stopped."""
    rows = column(to_binary(payloads))
    data, at, ends = rows.data, rows.starts.copy(), rows.ends
    halves = []
    for name in HALVES:
        verdicts.stop_where(at + _LENGTH.size > ends, Reason(name, NO_LENGTH))
        lengths = _lengths_at(data, at, verdicts.read)
        starts = at + _LENGTH.size
        verdicts.stop_where(lengths < _NULL, Reason(name, NEGATIVE))
        at = starts + numpy.maximum(lengths, 0)
        verdicts.stop_where(at > ends, Reason(name, TOO_LONG))
        halves.append((lengths, starts, at))
    verdicts.stop_where(at < ends, LEFT)
    key, value = (_half(data, verdicts, *bounds) for bounds in halves)
    return key, value


def _lengths(half: pyarrow.LargeBinaryArray) -> pyarrow.LargeBinaryArray:
    lengths = pyarrow.compute.fill_null(pyarrow.compute.binary_length(half), _NULL)
    packed = lengths.to_numpy(zero_copy_only=False).astype(">i4").tobytes()
    buffers = [None, pyarrow.py_buffer(packed)]
    fixed = pyarrow.FixedSizeBinaryArray.from_buffers(pyarrow.binary(4), len(half), buffers)
    return fixed.cast(pyarrow.large_binary())


def _lengths_at(
    data: NDArray[numpy.uint8], at: NDArray[numpy.int64], read: NDArray[numpy.bool_]
) -> NDArray[numpy.int64]:
    """The lengths in the rows that are still read, -1 in the others."""
    lengths = numpy.full(len(at), _NULL, numpy.int64)
    places = at[read, None] + numpy.arange(_LENGTH.size)
    lengths[read] = data[places].view(">i4").ravel()
    return lengths


def _half(
    data: NDArray[numpy.uint8],
    verdicts: Verdicts,
    lengths: NDArray[numpy.int64],
    starts: NDArray[numpy.int64],
    ends: NDArray[numpy.int64],
) -> Half:
    read = verdicts.read
    rows = numpy.flatnonzero(read & (lengths != _NULL))
    whole = memoryview(data.data)
    bounds = zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)
    return Half(
        rows=rows,
        nulls=numpy.flatnonzero(read & (lengths == _NULL)),
        payloads=pyarrow.array([whole[a:b] for a, b in bounds], pyarrow.large_binary()),
    )
