"""How Pulsar's Java client writes the primitive types (Pulsar 4.0.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gitops.model.schema import SchemaType

_MAX_NANO_OF_DAY: Final = 86_400 * 10**9 - 1
_EPOCH_DAY: Final = range(-365_243_219_162, 365_241_780_471 + 1)
_NANO_OF_DAY: Final = range(_MAX_NANO_OF_DAY + 1)
_INSTANT: Final = range(-31_557_014_167_219_200, 31_556_889_864_403_199 + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A big-endian number: its struct format, and what Java takes of it (None: all).

    `carried`: as many of the next part's number are one more of this, as Instant.ofEpochSecond
    has it.
    """

    name: str
    code: str
    within: range | None = None
    carried: int | None = None


FORMS: Final[Mapping[SchemaType, tuple[Part, ...]]] = {
    SchemaType.BOOLEAN: (Part(name="byte", code="b"),),
    SchemaType.INT8: (Part(name="number", code="b"),),
    SchemaType.INT16: (Part(name="number", code="h"),),
    SchemaType.INT32: (Part(name="number", code="i"),),
    SchemaType.INT64: (Part(name="number", code="q"),),
    SchemaType.FLOAT: (Part(name="number", code="f"),),
    SchemaType.DOUBLE: (Part(name="number", code="d"),),
    SchemaType.DATE: (Part(name="milliseconds", code="q"),),
    SchemaType.TIME: (Part(name="milliseconds", code="q"),),
    SchemaType.TIMESTAMP: (Part(name="milliseconds", code="q"),),
    SchemaType.INSTANT: (
        Part(name="seconds", code="q", within=_INSTANT, carried=10**9),
        Part(name="nanoseconds", code="i"),
    ),
    SchemaType.LOCAL_DATE: (Part(name="day", code="q", within=_EPOCH_DAY),),
    SchemaType.LOCAL_TIME: (Part(name="nanosecond of the day", code="q", within=_NANO_OF_DAY),),
    SchemaType.LOCAL_DATE_TIME: (
        Part(name="day", code="q", within=_EPOCH_DAY),
        Part(name="nanosecond of the day", code="q", within=_NANO_OF_DAY),
    ),
}
"""The numbers that make up a value, for each type of a fixed size."""

OPAQUE: Final = frozenset({SchemaType.NONE, SchemaType.BYTES})
"""Types whose value is the payload as it is."""

PRIMITIVES: Final = frozenset(FORMS) | OPAQUE | {SchemaType.STRING}
"""Types that need no definition."""

MILLISECONDS: Final = frozenset(
    {SchemaType.INT64, SchemaType.DATE, SchemaType.TIME, SchemaType.TIMESTAMP}
)
"""Types that write the same 8 bytes for the same number, so that each reads the others."""
