"""Types without a definition, as Pulsar's Java client writes them: all numbers are big-endian."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitops.messaging.values.schema import ValueSchema
from gitops.model.schema import SchemaInfo, SchemaType

_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_FIRST_DAY: Final = datetime.date(1970, 1, 1).toordinal()


class StringSchema(ValueSchema):
    """Text in UTF-8."""

    def encode(self, value: Any) -> bytes:  # noqa: ANN401 - checked here
        """The text's bytes; raises InvalidValueError."""
        if not isinstance(value, str):
            raise self.invalid(f"text is expected, not {type(value).__name__}")
        try:
            return value.encode()
        except UnicodeEncodeError as error:
            raise self.invalid(error) from None

    def validate(self, payload: bytes) -> None:
        """Check that it is UTF-8."""
        try:
            payload.decode()
        except UnicodeDecodeError as error:
            raise self.invalid(error) from None


class FixedSchema(ValueSchema):
    """A number, a boolean, a date or a time.

    Dates and times are those of `datetime`, with microseconds; a number is taken as it is written
    (milliseconds since 1970 for DATE, TIME and TIMESTAMP), and a tuple where two are written.
    """

    def __init__(self, info: SchemaInfo) -> None:
        super().__init__(info)
        form, self._numbers = _FORMS[info.type]
        self._struct = struct.Struct(f">{form}")

    def encode(self, value: Any) -> bytes:  # noqa: ANN401 - checked by its form
        """The numbers' bytes; raises InvalidValueError."""
        try:
            return self._struct.pack(*self._numbers(value))
        except (struct.error, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise self.invalid(error) from None

    def validate(self, payload: bytes) -> None:
        """Check its size."""
        if len(payload) != self._struct.size:
            raise self.invalid(f"{len(payload)} bytes, where it has {self._struct.size}")


Numbers = tuple[int | float, ...]


def _number(value: Any) -> Numbers:  # noqa: ANN401 - struct checks it
    if isinstance(value, bool):
        raise TypeError("a number is expected, not a boolean")
    return (value,)


def _boolean(value: Any) -> Numbers:  # noqa: ANN401 - as above
    if not isinstance(value, bool):
        raise TypeError(f"a boolean is expected, not {type(value).__name__}")
    return (int(value),)


def _milliseconds(value: Any) -> Numbers:  # noqa: ANN401 - as above
    """Of a point in time, of a day's beginning in UTC, or of a time of the day."""
    if isinstance(value, datetime.datetime):
        return ((_aware(value) - _EPOCH) // datetime.timedelta(milliseconds=1),)
    if isinstance(value, datetime.date):
        return ((value.toordinal() - _FIRST_DAY) * 86_400_000,)
    if isinstance(value, datetime.time):
        return (_nanosecond_of_day(value) // 1_000_000,)
    return _number(value)


def _instant(value: Any) -> Numbers:  # noqa: ANN401 - as above
    if isinstance(value, tuple):
        return value
    since = _aware(value) - _EPOCH
    return (since.days * 86_400 + since.seconds, since.microseconds * 1000)


def _local_date(value: Any) -> Numbers:  # noqa: ANN401 - as above
    return (value.toordinal() - _FIRST_DAY,) if isinstance(value, datetime.date) else (value,)


def _local_time(value: Any) -> Numbers:  # noqa: ANN401 - as above
    return (_nanosecond_of_day(value),) if isinstance(value, datetime.time) else (value,)


def _local_date_time(value: Any) -> Numbers:  # noqa: ANN401 - as above
    if isinstance(value, tuple):
        return value
    return (value.date().toordinal() - _FIRST_DAY, _nanosecond_of_day(value.time()))


def _aware(value: datetime.datetime) -> datetime.datetime:
    if value.tzinfo is None:
        raise TypeError("a point in time needs a time zone")
    return value


def _nanosecond_of_day(value: datetime.time) -> int:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return (seconds * 1_000_000 + value.microsecond) * 1000


_FORMS: Final[Mapping[SchemaType, tuple[str, Callable[[Any], Numbers]]]] = {
    SchemaType.BOOLEAN: ("b", _boolean),
    SchemaType.INT8: ("b", _number),
    SchemaType.INT16: ("h", _number),
    SchemaType.INT32: ("i", _number),
    SchemaType.INT64: ("q", _number),
    SchemaType.FLOAT: ("f", _number),
    SchemaType.DOUBLE: ("d", _number),
    SchemaType.DATE: ("q", _milliseconds),
    SchemaType.TIME: ("q", _milliseconds),
    SchemaType.TIMESTAMP: ("q", _milliseconds),
    SchemaType.INSTANT: ("qi", _instant),
    SchemaType.LOCAL_DATE: ("q", _local_date),
    SchemaType.LOCAL_TIME: ("q", _local_time),
    SchemaType.LOCAL_DATE_TIME: ("qq", _local_date_time),
}
FIXED_TYPES: Final = frozenset(_FORMS)
