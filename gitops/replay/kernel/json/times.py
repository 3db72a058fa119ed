"""Dates and times, as Java's ISO formatters and Jackson's module for `java.time` take them.

What Jackson coerces is not taken: blanks around the text, a date out of a text with a time.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from gitops.replay.kernel.protocol import UnrepresentableNumber, ValueMismatchError

FIRST_SECOND: Final = -31_557_014_167_219_200
LAST_SECOND: Final = 31_556_889_864_403_199
"""Of Java's Instant."""

NO_TIME: Final = "the text is no date or time as Java writes it"
"""A reason."""

MOST_SCALE: Final = 2**31 - 1
"""Of Java's BigDecimal."""

_DATE: Final = (
    r"(?P<year>[0-9]{4}|\+[0-9]{5,10}|-(?!0+-)[0-9]{4,10})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
)
_FRACTION: Final = r"(?:\.[0-9]{0,9})?"
_CLOCK: Final = rf"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9]{_FRACTION})?"
_MOMENT: Final = (
    r"(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9]|(?<=23:59:)60)"
    rf"{_FRACTION}|(?P<midnight>24:00:00(?:\.0{{0,9}})?)"
)
_ZONE: Final = (
    r"[Zz]|(?P<sign>[+-])(?P<ahead>(?:0[0-9]|1[0-7]):[0-5][0-9](?::[0-5][0-9])?|18:00(?::00)?)"
)
_DAY: Final = re.compile(_DATE)
_TIME: Final = re.compile(_CLOCK)
_LOCAL: Final = re.compile(rf"{_DATE}[Tt]{_CLOCK}")
_INSTANT: Final = re.compile(rf"{_DATE}[Tt](?:{_MOMENT})(?:{_ZONE})")
_ZERO: Final = re.compile(r"\+00(?:00)?$")
_YEARS: Final = range(-999_999_999, 10**9)
_CYCLE: Final = 400
"""Years after which the calendar begins anew."""

_CYCLE_DAYS: Final = 146_097
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
_DAY_SECONDS: Final = 86_400
_DATE_PARTS: Final = ("year", "month", "day")
_CLOCK_PARTS: Final = (range(24), range(60), range(60), range(10**9))


def day(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A LocalDate as text or a list; None for what is neither; raises MisfitError."""
    return _either(value, is_day_text, _is_date)


def time(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A LocalTime, likewise."""
    return _either(value, lambda text: _TIME.fullmatch(text) is not None, _is_clock)


def local(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A LocalDateTime, likewise; as JavaScript writes it, with a Z that says nothing, too."""
    return _either(
        value, _is_local_text, lambda parts: _is_date(parts[:3]) and _is_clock(parts[3:])
    )


def instant(value: Any) -> Any:  # noqa: ANN401 - JSON
    """An Instant as text or seconds with a fraction; a whole number is not looked at here."""
    if isinstance(value, float | Decimal):
        if not _is_second(value):
            raise ValueMismatchError("the number is no point in time")
        return value
    return _either(value, lambda text: is_instant_text(_ZERO.sub("Z", text)))


def _is_second(number: Decimal | float) -> bool:
    """A float next to the first or the last second may stand for one beyond."""
    if isinstance(number, Decimal):
        return FIRST_SECOND <= number < LAST_SECOND + 1 and has_scale(number)
    return FIRST_SECOND < number < LAST_SECOND and has_scale(number)


def has_scale(number: Decimal | float) -> bool:
    """Whether Java's BigDecimal has room for the exponent."""
    if not isinstance(number, Decimal):
        return not isinstance(number, UnrepresentableNumber) and (
            isinstance(number, int) or math.isfinite(number)
        )
    exponent = number.as_tuple().exponent
    return isinstance(exponent, int) and abs(exponent) <= MOST_SCALE


def is_day_text(text: str) -> bool:
    """Whether Java's ISO_LOCAL_DATE takes it."""
    return _has_day(_DAY.fullmatch(text))


def is_local_text(text: str) -> bool:
    """Whether Java's ISO_LOCAL_DATE_TIME takes it."""
    return _has_day(_LOCAL.fullmatch(text))


def is_instant_text(text: str) -> bool:
    """Whether Java's ISO_INSTANT takes it (that of Java 12 or later, with offsets)."""
    match = _INSTANT.fullmatch(text)
    if match is None:
        return False
    if _is_common(text):
        return True
    try:
        second = _day_number(*map(int, match.group(*_DATE_PARTS))) * _DAY_SECONDS
    except ValueError:
        return False
    if match["midnight"]:
        second += _DAY_SECONDS
    else:
        second += _seconds(match["hour"], match["minute"], str(min(int(match["second"]), 59)))
    if match["sign"]:
        ahead = _seconds(*match["ahead"].split(":"))
        second -= -ahead if match["sign"] == "-" else ahead
    return FIRST_SECOND <= second <= LAST_SECOND


def _has_day(match: re.Match[str] | None) -> bool:
    if match is None:
        return False
    return _is_common(match.string) or _is_day(*map(int, match.group(*_DATE_PARTS)))


def _is_common(text: str) -> bool:
    """Whether it begins with a day of a year of four digits: quicker to tell."""
    try:
        datetime.date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True


def _is_local_text(text: str) -> bool:
    if text.endswith("Z") and text[10:11] == "T":
        text = text[:-1]
    return is_local_text(text)


def _seconds(hour: str, minute: str, second: str = "0") -> int:
    return int(hour) * 3600 + int(minute) * 60 + int(second)


def _is_date(parts: list[int]) -> bool:
    """Year, month and day."""
    return len(parts) == len(_DATE_PARTS) and _is_day(*parts)


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        _day_number(year, month, day)
    except (ValueError, OverflowError):
        return False
    return year in _YEARS


def _day_number(year: int, month: int, day: int) -> int:
    """Days since 1970 in the calendar that has no end; raises ValueError."""
    cycles, within = divmod(year, _CYCLE)
    known = datetime.date(_CYCLE + within, month, day).toordinal()
    return known - _EPOCH + (cycles - 1) * _CYCLE_DAYS


def _is_clock(parts: list[int]) -> bool:
    """Hour and minute, and perhaps second and nanosecond."""
    fits = (part in within for part, within in zip(parts, _CLOCK_PARTS, strict=False))
    return 2 <= len(parts) <= len(_CLOCK_PARTS) and all(fits)  # noqa: PLR2004 - see above


def _either(
    value: Any,  # noqa: ANN401 - JSON
    is_text: Callable[[str], bool],
    is_list: Callable[[list[int]], bool] | None = None,
) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        if not is_text(value):
            raise ValueMismatchError(NO_TIME)
        return value
    if isinstance(value, list) and is_list is not None:
        whole = all(isinstance(part, int) and not isinstance(part, bool) for part in value)
        if not whole or not is_list(value):
            raise ValueMismatchError("the list is no date or time")
        return value
    return None
