"""Logical types: which there are, what they stand on, and how many digits fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeGuard

from gitops.compatibility.avro.schema import Fixed, Schema

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

_INT: Final = 2**31
_BITS: Final = 8
_WIDEST: Final = 1000
"""Bytes that hold more digits than any precision that people write."""


@dataclass(frozen=True, slots=True)
class Decimal:
    """A logical type with numbers of its own: `scale` digits stand behind the point."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal({self.precision}, {self.scale})"


def decimal_of(schema: Schema) -> Decimal | None:
    """The decimal that Avro makes of it: one with senseless numbers is plain (Avro 1.11.4)."""
    if schema.props.get("logicalType") != "decimal" or schema.kind not in ("bytes", "fixed"):
        return None
    precision, scale = schema.props.get("precision"), schema.props.get("scale", 0)
    if not _is_int(precision) or not _is_int(scale):
        return None
    fits = not isinstance(schema, Fixed) or precision <= most_digits(schema.size)
    return Decimal(precision, scale) if 0 <= scale <= precision > 0 and fits else None


def _is_int(value: object) -> TypeGuard[int]:
    """Whether it is an `Integer` of Java's."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _INT


def logical_type_of(schema: Schema) -> str:
    """The logical type that the values have for Avro, empty where it ignores it (Avro 1.11.4)."""
    name = schema.props.get("logicalType")
    if name == "decimal":
        return "" if decimal_of(schema) is None else "decimal"
    return name if isinstance(name, str) and schema.kind in LOGICAL_TYPES.get(name, ()) else ""


def most_digits(size: int) -> int:
    """How many decimal digits fit into a fixed for certain, as Java's `maxPrecision` counts."""
    return len(str(2 ** (_BITS * min(size, _WIDEST) - 1) - 1)) - 1 if size else 0
