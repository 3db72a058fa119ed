"""Numbers that lose digits in a reader's narrower type, or do not fit it."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import numpy

from gitops.replay.kernel.jackson.scalars import MAX_FLOAT

_EXACT: Final = 2**53
_FLOAT: Final = struct.Struct("f")
_MOST: Final = {"float": math.nextafter(MAX_FLOAT, 0), "double": sys.float_info.max}


def is_rounded(kind: str, value: Any) -> bool:  # noqa: ANN401 - a number, or text as "NaN"
    """Whether a float or a double is another number than `value`."""
    if isinstance(value, str):
        return False
    if kind == "double":
        return isinstance(value, int) and abs(value) > _EXACT and int(float(value)) != value
    (number,) = _FLOAT.unpack(_FLOAT.pack(float(value)))
    return Decimal(number) != Decimal(value)


def rounded(kind: str, values: Sequence[float]) -> int:
    """How many of some numbers are another one in a float or a double."""
    if max(values) > _EXACT or min(values) < -_EXACT:
        return sum(is_rounded(kind, value) for value in values)
    if kind == "double":
        return 0
    numbers = numpy.array(values, numpy.float64)
    return int((numbers.astype(numpy.float32) != numbers).sum())


def in_range(kind: str, values: Sequence[float]) -> bool:
    """Whether all fit into a float or a double."""
    most = _MOST[kind]
    return max(values) <= most and min(values) >= -most
