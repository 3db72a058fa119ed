"""What the values of a type stand for, and how a person writes them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy

from gitops.compatibility.avro.logical_types import decimal_of, logical_type_of
from gitops.compatibility.avro.schema import Schema
from gitops.compatibility.java_text import java_text

DAY_UNITS: Final = {"time-millis": 86_400_000, "time-micros": 86_400_000_000}
"""How many a day has."""

_NUMPY_UNITS: Final = {"millis": "ms", "micros": "us", "nanos": "ns"}
_NOT_A_TIME: Final = -(2**63)
"""NumPy's; Java has none."""

MOST_SHOWN: Final = 400
"""Bytes of a decimal that are shown as a number."""

_UUID_BYTES: Final = 16
_DURATION_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the values of a type stand for; `logical` is empty where they are what the kind says."""

    kind: str
    logical: str = ""
    scale: int = 0
    label: str = ""

    def __str__(self) -> str:
        return self.label or self.logical or self.kind

    @property
    def quantity(self) -> str:
        """The same for those that differ by a factor: `timestamp`, `decimal`."""
        return _stem(self.logical)

    def text(self, value: Any) -> Any:  # noqa: ANN401 - as the schema says
        """The value, or the bytes of text, as a person writes it."""
        write = _TEXTS.get(self.logical or self.kind)
        return value if write is None else write(self, value)


def meaning_of(schema: Schema) -> Meaning:
    """What its values stand for. A UUID that is text is text."""
    logical = logical_type_of(schema)
    if logical == "uuid" and schema.kind == "string":
        logical = ""
    decimal = decimal_of(schema)
    if decimal is None:
        return Meaning(schema.kind, logical)
    return Meaning(schema.kind, logical, decimal.scale, str(decimal))


def _stem(logical: str) -> str:
    stem, _, unit = logical.rpartition("-")
    return stem if unit in _NUMPY_UNITS else logical


def _date(_meaning: Meaning, value: int) -> str:
    return str(numpy.array(value).astype("datetime64[D]"))


def _moment(meaning: Meaning, value: int) -> str:
    """As Java writes it: without the zeros at the end, `Z` for a point in time."""
    if value == _NOT_A_TIME:
        return str(value)
    unit = _NUMPY_UNITS[meaning.logical.rpartition("-")[2]]
    text = _short(str(numpy.array(value).astype(f"datetime64[{unit}]")))
    return text if meaning.logical.startswith("local-") else f"{text}Z"


def _time(meaning: Meaning, value: int) -> str:
    """A number that is none of a day's as it is."""
    if not 0 <= value < DAY_UNITS[meaning.logical]:
        return f"{value} {meaning.logical.rpartition('-')[2]}"
    return _moment(meaning, value).partition("T")[2].removesuffix("Z")


def _short(text: str) -> str:
    whole, point, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}{point}{fraction}" if fraction else whole


def _decimal(meaning: Meaning, value: bytes) -> str:
    if not value or len(value) > MOST_SHOWN:
        return value.hex()
    number = int.from_bytes(value, "big", signed=True)
    digits = f"{abs(number):0{meaning.scale + 1}}"
    whole, fraction = digits[: len(digits) - meaning.scale], digits[len(digits) - meaning.scale :]
    return f"{'-' * (number < 0)}{whole}{'.' * bool(fraction)}{fraction}"


def _text(_meaning: Meaning, value: bytes) -> str:
    return java_text(value)


def _uuid(_meaning: Meaning, value: bytes) -> str:
    return str(uuid.UUID(bytes=value)) if len(value) == _UUID_BYTES else value.hex()


def _duration(_meaning: Meaning, value: bytes) -> str:
    """Three numbers of 32 bits, the lowest byte first."""
    if len(value) != _DURATION_BYTES:
        return value.hex()
    parts = [int.from_bytes(value[at : at + 4], "little") for at in (0, 4, 8)]
    return "{} months, {} days, {} ms".format(*parts)


_TEXTS: Final[Mapping[str, Callable[[Meaning, Any], str]]] = {
    "string": _text,
    "date": _date,
    "decimal": _decimal,
    "uuid": _uuid,
    "duration": _duration,
    **dict.fromkeys(("time-millis", "time-micros"), _time),
    **{
        f"{kind}-{unit}": _moment
        for kind in ("timestamp", "local-timestamp")
        for unit in _NUMPY_UNITS
    },
}
