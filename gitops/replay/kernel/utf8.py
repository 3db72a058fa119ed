"""Which of many texts in a buffer are not UTF-8."""

from __future__ import annotations

import numpy
import pyarrow
from numpy.typing import NDArray

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
        return _each(data, start, stop)
    return numpy.empty(0, numpy.int64)


def _each(
    data: pyarrow.Buffer, start: NDArray[numpy.int64], stop: NDArray[numpy.int64]
) -> NDArray[numpy.int64]:
    view = memoryview(data)
    bounds = zip(start.tolist(), stop.tolist(), strict=True)
    found = [index for index, (a, b) in enumerate(bounds) if not _is_text(view[a:b])]
    return numpy.array(found, numpy.int64)


def _is_text(data: memoryview) -> bool:
    try:
        str(data, "utf-8")
    except UnicodeDecodeError:
        return False
    return True
