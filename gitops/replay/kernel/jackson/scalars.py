"""The JSON values that a type without parts takes, in every form that Jackson writes it in."""

from __future__ import annotations

import binascii
import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from gitops.compatibility.avro.schema import Fixed, Primitive

INT: Final = range(-(2**31), 2**31)
LONG: Final = range(-(2**63), 2**63)
MAX_FLOAT: Final = 3.4028235677973366e38
"""What rounds to a 32-bit float is below this."""

_JAVA_RANGES: Final = {
    "java.lang.Byte": range(-128, 256),
    "java.lang.Short": range(-(2**15), 2**15),
}
_JAVA_NUMBERS: Final = frozenset({"java.math.BigDecimal", "java.math.BigInteger"})
_NOT_FINITE: Final = frozenset({"NaN", "Infinity", "-Infinity"})
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DAYS: Final = frozenset({"date"})
_TIMES: Final = frozenset({"time-millis", "time-micros"})
_INSTANTS: Final = frozenset({"timestamp-millis", "timestamp-micros", "timestamp-nanos"})
_LOCALS: Final = frozenset(
    {"local-timestamp-millis", "local-timestamp-micros", "local-timestamp-nanos"}
)
_NANOS: Final = 1000
_LAST_SECOND: Final = 31_556_889_864_403_199
"""Of Java's Instant."""


class MisfitError(ValueError):
    """A value does not fit; the text is a reason, without the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """`kind` is Avro's; `form` is how Java writes it where that is not what the kind says.

    Forms: `decimal`, `number`, `character`, and the names of logical types of time. `size` is a
    fixed's, `within` an int's or a long's.
    """

    kind: str
    form: str = ""
    size: int | None = None
    within: range | None = None

    def take(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """The value as the reader sees it; raises MisfitError."""
        other = _FORMS.get(self.form)
        if other is not None:
            taken = other(value)
            if taken is not None:
                return taken
        return _KINDS[self.kind](self, value)


def scalar(schema: Primitive | Fixed) -> Scalar:
    """The type, with what the definition tells about Java's."""
    logical, java = schema.props.get("logicalType"), schema.props.get("java-class")
    size = schema.size if isinstance(schema, Fixed) else None
    kind = schema.kind
    within: range | None = None
    form = ""
    if kind in {"int", "long"}:
        within = _JAVA_RANGES.get(str(java), INT) if kind == "int" else LONG
        form = logical if isinstance(logical, str) and logical in _FORMS else ""
        form = "character" if java == "java.lang.Character" else form
    elif kind in {"bytes", "fixed"} and logical == "decimal":
        form = "decimal"
    elif kind == "string" and java in _JAVA_NUMBERS:
        form = "number"
    return Scalar(kind=kind, form=form, size=size, within=within)


def described(value: Any) -> str:  # noqa: ANN401 - JSON
    """What a JSON value is, without the value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float() | Decimal():
            return "a fraction"
        case str():
            return "text"
        case dict():
            return "an object"
        case _:
            return "an array"


def _misfit(kind: str, value: Any) -> MisfitError:  # noqa: ANN401 - JSON
    return MisfitError(f"expected {kind}, found {described(value)}")


def _null(scalar: Scalar, value: Any) -> None:  # noqa: ANN401 - JSON
    if value is not None:
        raise _misfit(scalar.kind, value)


def _boolean(scalar: Scalar, value: Any) -> bool:  # noqa: ANN401 - JSON
    if not isinstance(value, bool):
        raise _misfit(scalar.kind, value)
    return value


def _integer(scalar: Scalar, value: Any) -> int:  # noqa: ANN401 - JSON
    if not isinstance(value, int) or isinstance(value, bool):
        raise _misfit(scalar.kind, value)
    if scalar.within is not None and value not in scalar.within:
        raise MisfitError(f"the number is out of the range of {scalar.kind}")
    return value


def _fraction(scalar: Scalar, value: Any) -> Any:  # noqa: ANN401 - JSON
    """A number; Jackson writes those that JSON has not as text."""
    if isinstance(value, str) and value in _NOT_FINITE:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _misfit(scalar.kind, value)
    try:
        number = abs(float(value))
    except OverflowError:
        number = float("inf")
    if not number < (MAX_FLOAT if scalar.kind == "float" else float("inf")):
        raise MisfitError(f"the number is out of the range of {scalar.kind}")
    return value if isinstance(value, int) else float(value)


def _string(scalar: Scalar, value: Any) -> str:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        raise _misfit(scalar.kind, value)
    return value


def _bytes(scalar: Scalar, value: Any) -> bytes:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        raise _misfit(f"{scalar.kind} in base64", value)
    try:
        data = binascii.a2b_base64(value, strict_mode=True)
    except ValueError:
        raise MisfitError("the text is not base64") from None
    if scalar.size is not None and len(data) != scalar.size:
        raise MisfitError("not of the size of the fixed")
    return data


_KINDS: Final[Mapping[str, Callable[[Scalar, Any], Any]]] = {
    "null": _null,
    "boolean": _boolean,
    "int": _integer,
    "long": _integer,
    "float": _fraction,
    "double": _fraction,
    "string": _string,
    "bytes": _bytes,
    "fixed": _bytes,
}


def _decimal(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A BigDecimal is a number to Jackson, whatever the definition calls it."""
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return value if is_number else None


def _number(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A BigDecimal or a BigInteger whose definition says text; text has to be a number."""
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise MisfitError("the text is not a number")
    return _decimal(value)


def _character(value: Any) -> str | None:  # noqa: ANN401 - JSON
    return value if isinstance(value, str) and len(value) == 1 else None


def _instant(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Seconds with a fraction, or text; a count as the definition says is not looked at here."""
    if isinstance(value, float | Decimal):
        if not abs(float(value)) < _LAST_SECOND:
            raise MisfitError("the number is no point in time")
        return value
    return _text_of(value, datetime.datetime.fromisoformat)


def _local(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return _parts_of(value, 5, 7, datetime.datetime)
    return _text_of(value, datetime.datetime.fromisoformat)


def _day(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return _parts_of(value, 3, 3, datetime.date)
    return _text_of(value, datetime.date.fromisoformat)


def _time(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return _parts_of(value, 2, 4, datetime.time)
    return _text_of(value, datetime.time.fromisoformat)


def _parts_of(parts: list[Any], least: int, most: int, kind: Callable[..., object]) -> list[Any]:
    """Jackson's list of year, month, day, hour, minute, second, nanosecond, or a part of it."""
    numbers = [part for part in parts if isinstance(part, int) and not isinstance(part, bool)]
    if len(numbers) != len(parts) or not least <= len(parts) <= most:
        raise MisfitError("the list is no date or time")
    if len(parts) == most and most > 3:  # noqa: PLR2004 - years, months and days have no fraction
        numbers[-1] //= _NANOS
    try:
        kind(*numbers)
    except (ValueError, OverflowError):
        raise MisfitError("the list is no date or time") from None
    return parts


def _text_of(value: Any, read: Callable[[str], object]) -> str | None:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        return None
    try:
        read(value)
    except ValueError:
        raise MisfitError("the text is no date or time in ISO 8601") from None
    return value


_FORMS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "decimal": _decimal,
    "number": _number,
    "character": _character,
    **dict.fromkeys(_DAYS, _day),
    **dict.fromkeys(_TIMES, _time),
    **dict.fromkeys(_INSTANTS, _instant),
    **dict.fromkeys(_LOCALS, _local),
}
