"""Logical types: which there are, what they stand on, and how many digits fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LOGICAL_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "decimal": ("bytes", "fixed"),
    "big-decimal": ("bytes",),
    "uuid": ("string", "fixed"),
    "date": ("int",),
    "time-millis": ("int",),
    "time-micros": ("long",),
    "timestamp-millis": ("long",),
    "timestamp-micros": ("long",),
    "timestamp-nanos": ("long",),
    "local-timestamp-millis": ("long",),
    "local-timestamp-micros": ("long",),
    "local-timestamp-nanos": ("long",),
    "duration": ("fixed",),
}
"""The types of Avro's specification 1.12, each with the types that it may stand on."""

_BITS: Final = 8
_WIDEST: Final = 1000
"""Bytes that hold more digits than any precision that people write."""


def most_digits(size: int) -> int:
    """How many decimal digits fit into a fixed for certain, as Java's `maxPrecision` counts."""
    return len(str(2 ** (_BITS * min(size, _WIDEST) - 1) - 1)) - 1 if size else 0
