"""Numbers, booleans, dates and times; Java's bytes are compared in tests/broker/java."""

from __future__ import annotations

import datetime
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.messaging.errors import InvalidValueError
from gitops.messaging.values.primitive import FIXED_TYPES
from gitops.messaging.values.table import value_schema
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.primitive import FORMS

UTC = datetime.UTC
NOON = datetime.datetime(1970, 1, 2, 12, 0, 0, 250_000, tzinfo=UTC)


def encode(kind: SchemaType, value: object) -> bytes:
    return value_schema(SchemaInfo(type=kind)).encode(value)


def test_the_types_are_those_that_replays_read() -> None:
    assert set(FORMS) == FIXED_TYPES
    for kind, parts in FORMS.items():
        size = struct.calcsize(">" + "".join(part.code for part in parts))
        value_schema(SchemaInfo(type=kind)).validate(bytes(size))
        with pytest.raises(InvalidValueError, match=f"{size + 1} bytes"):
            value_schema(SchemaInfo(type=kind)).validate(bytes(size + 1))


@pytest.mark.parametrize(
    ("kind", "value", "numbers"),
    [
        (SchemaType.DATE, datetime.date(1970, 1, 2), (86_400_000,)),
        (SchemaType.TIME, datetime.time(0, 0, 1), (1000,)),
        (SchemaType.TIMESTAMP, NOON, (129_600_250,)),
        (SchemaType.TIMESTAMP, 5, (5,)),
        (SchemaType.LOCAL_DATE, datetime.date(1969, 12, 31), (-1,)),
        (SchemaType.LOCAL_TIME, datetime.time(0, 0, 1, 5), (1_000_005_000,)),
        (SchemaType.LOCAL_DATE_TIME, NOON.replace(tzinfo=None), (1, 43_200_250_000_000)),
    ],
)
def test_dates_and_times(kind: SchemaType, value: object, numbers: tuple[int, ...]) -> None:
    assert encode(kind, value) == struct.pack(f">{len(numbers)}q", *numbers)


@given(st.datetimes(timezones=st.just(UTC)))
def test_an_instant_is_seconds_and_nanoseconds(value: datetime.datetime) -> None:
    seconds, nanoseconds = struct.unpack(">qi", encode(SchemaType.INSTANT, value))
    since = datetime.timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
    assert datetime.datetime(1970, 1, 1, tzinfo=UTC) + since == value
    assert 0 <= nanoseconds < 10**9


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (SchemaType.INT8, 128),
        (SchemaType.INT32, 2**31),
        (SchemaType.INT64, "5"),
        (SchemaType.INT16, True),
        (SchemaType.BOOLEAN, 1),
        (SchemaType.DOUBLE, None),
        (SchemaType.STRING, b"bytes"),
        (SchemaType.STRING, "\ud800"),
        (SchemaType.TIMESTAMP, NOON.replace(tzinfo=None)),
        (SchemaType.INSTANT, 5),
        (SchemaType.LOCAL_DATE_TIME, 5),
        (SchemaType.LOCAL_TIME, "noon"),
    ],
)
def test_values_of_another_type(kind: SchemaType, value: object) -> None:
    with pytest.raises(InvalidValueError, match=f"does not fit the {kind.value} schema"):
        encode(kind, value)


def test_text_is_utf_8() -> None:
    assert encode(SchemaType.STRING, "é") == b"\xc3\xa9"
    with pytest.raises(InvalidValueError, match="STRING"):
        value_schema(SchemaInfo(type=SchemaType.STRING)).validate(b"\xff")
