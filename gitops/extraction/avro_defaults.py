"""Values of Python as defaults of Avro fields."""

from __future__ import annotations

import datetime
import decimal
import enum
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from gitops.extraction.avro_types import Avro

_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_RANGES: Final = {"int": 1 << 31, "long": 1 << 63}
_MICROSECOND: Final = datetime.timedelta(microseconds=1)
_MILLISECOND: Final = datetime.timedelta(milliseconds=1)


class DefaultMismatchError(ValueError):
    """A value is not one of the type."""


class Defaults:
    """Finds defaults; `definition_of` has the definition of a class with a name, or None."""

    def __init__(self, definition_of: Callable[[type], Mapping[str, Any] | None]) -> None:
        self._definition_of = definition_of

    def find(self, avro: Avro, value: object) -> Any:  # noqa: ANN401 - JSON
        """The default as JSON; raises DefaultMismatchError.

        A union has the default of its first type, as Avro 1.11 has it.
        """
        if isinstance(avro, list):
            return self.find(avro[0], value)
        if (named := self._definition_of(type(value))) is not None:
            return self._of_named(avro, named, value)
        if isinstance(avro, str):
            return _plain(avro, value)
        if avro["type"] == "array" and isinstance(value, Sequence | AbstractSet):
            ordered = sorted(value, key=repr) if isinstance(value, AbstractSet) else value
            return [self.find(avro["items"], item) for item in ordered]
        if avro["type"] == "map" and isinstance(value, Mapping):
            return {str(key): self.find(avro["values"], item) for key, item in value.items()}
        return _logical(avro, value)

    def _of_named(self, avro: Avro, named: Mapping[str, Any], value: object) -> Any:  # noqa: ANN401 - JSON
        """The symbol of an enum's member, the fields of a record."""
        name = avro if isinstance(avro, str) else avro.get("name", "")
        if name.rpartition(".")[2] != named["name"]:
            raise DefaultMismatchError
        if isinstance(value, enum.Enum):
            return value.name
        return {
            item["name"]: self.find(item["type"], getattr(value, item["name"]))
            for item in named["fields"]
        }


def _plain(kind: str, value: object) -> Any:  # noqa: ANN401 - JSON
    match kind, value:
        case ("null", None) | ("boolean", bool()) | ("string", str()):
            return value
        case "int" | "long", int() if not isinstance(value, bool):
            if -_RANGES[kind] <= value < _RANGES[kind]:
                return value
        case "float" | "double", int() | float() if not isinstance(value, bool):
            if math.isfinite(value):
                return float(value)
        case "bytes", bytes() | bytearray():
            return value.decode("latin-1")
        case _:
            pass
    raise DefaultMismatchError


def _logical(avro: Mapping[str, Any], value: object) -> Any:  # noqa: ANN401 - JSON
    match avro.get("logicalType"), value:
        case "uuid", uuid.UUID():
            return str(value)
        case "decimal", decimal.Decimal():
            return _decimal(avro["scale"], value)
        case "timestamp-millis" | "timestamp-micros" as name, datetime.datetime():
            unit = _MILLISECOND if name == "timestamp-millis" else _MICROSECOND
            aware = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
            return (aware - _EPOCH) // unit
        case "date", datetime.date():
            return (value - _EPOCH.date()).days
        case "time-millis", datetime.time():
            moment = datetime.datetime.combine(_EPOCH, value.replace(tzinfo=datetime.UTC))
            return (moment - _EPOCH) // _MILLISECOND
        case _:
            raise DefaultMismatchError


def _decimal(scale: int, value: decimal.Decimal) -> str:
    """The unscaled number, big-endian, its bytes as characters."""
    unscaled = value.scaleb(scale)
    if not value.is_finite() or unscaled != unscaled.to_integral_value():
        raise DefaultMismatchError
    number = int(unscaled)
    size = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return number.to_bytes(size, "big", signed=True).decode("latin-1")
