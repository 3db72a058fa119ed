"""Dates and times as Java takes them; what it takes was seen with Java 17 and Jackson 2.17."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from gitops.replay.kernel.json import times
from gitops.replay.kernel.protocol import ValueMismatchError


def _takes(read: Callable[[Any], Any], value: Any) -> bool:  # noqa: ANN401 - JSON
    try:
        return read(value) is value
    except ValueMismatchError:
        return False


@pytest.mark.parametrize(
    "text",
    [
        *("2024-01-01", "2024-02-29", "0000-02-29", "-0004-02-29", "+02024-01-01", "-02024-01-01"),
        *("+10000-02-29", "+999999999-12-31", "-999999999-01-01"),
    ],
)
def test_days(text: str) -> None:
    assert _takes(times.day, text)
    assert _takes(times.local, f"{text}T01:02")
    assert _takes(times.instant, f"{text}T01:02:03Z")


@pytest.mark.parametrize(
    "text",
    [
        *("2023-02-29", "1900-02-29", "-0001-02-29", "2024-02-30", "2024-13-01", "2024-00-01"),
        *("2024-01-00", "-0000-01-01", "+2024-01-01", "10000-01-01", "+12345678901-01-01"),
        *("20240101", "2024-W01-1", "2024W011", "2024-001", "2024-01", "2024-1-1", "24-01-01"),
        *(" 2024-01-01", "2024-01-01 ", "2024-01-01Z", "\uff12024-01-01", "", "2024/01/01"),
        "+2147483648-02-30",
    ],
)
def test_no_days(text: str) -> None:
    assert not _takes(times.day, text)
    assert not _takes(times.local, f"{text}T01:02")
    assert not _takes(times.instant, f"{text}T01:02:03Z")


@pytest.mark.parametrize(
    "text",
    ["00:00", "01:02", "01:02:03", "01:02:03.", "01:02:03.1", "23:59:59.999999999"],
)
def test_times(text: str) -> None:
    assert _takes(times.time, text)
    assert _takes(times.local, f"2024-01-01T{text}")
    assert _takes(times.local, f"2024-01-01T{text}Z")


@pytest.mark.parametrize(
    "text",
    [
        *("010203", "0102", "01", "T01:02", "1:02", "01:2", "01:02:3", "01:02:03,5", "24:00"),
        *("23:59:60", "00:60", "01:02:03.1234567890", "", " 01:02", "01:02+01:00", "01:02ZZ"),
    ],
)
def test_no_times(text: str) -> None:
    assert not _takes(times.time, text)
    assert not _takes(times.local, f"2024-01-01T{text}")


def test_a_local_time_has_no_zone_but_that_of_javascript() -> None:
    assert not _takes(times.time, "01:02Z")
    assert not _takes(times.local, "2024-01-01T01:02+01:00")
    assert not _takes(times.local, "+10000-01-01T01:02Z")
    assert not _takes(times.local, "2024-01-01t01:02Z")
    assert not _takes(times.local, "2024-01-01 01:02")


@pytest.mark.parametrize(
    "text",
    [
        *("2024-01-01T00:00:00Z", "2024-01-01t00:00:00z", "2024-01-01T23:59:59.999999999Z"),
        *("2024-01-01T00:00:00+01:00", "2024-01-01T00:00:00-18:00:00", "2024-01-01T23:59:60.5Z"),
        *("2024-01-01T24:00:00Z", "2024-01-01T24:00:00.000+01:00", "2024-01-01T00:00:00+0000"),
        *("+1000000000-12-31T23:59:59.999999999Z", "-1000000000-01-01T00:00:00Z"),
        *("+1000000001-01-01T00:00:00+01:00", "+1000000000-12-31T23:59:60Z"),
        "-1000000000-01-01T00:00:00-00:01",
    ],
)
def test_points_in_time(text: str) -> None:
    assert _takes(times.instant, text)


@pytest.mark.parametrize(
    "text",
    [
        *("2024-01-01", "2024-01-01T00:00:00", "2024-01-01 00:00:00Z", "2024-01-01T00:00Z"),
        *("2024-01-01T00:00:00+0100", "2024-01-01T00:00:00+01", "2024-01-01T00:00:00+18:01"),
        *("2024-01-01T00:00:00+01:60", "2024-01-01T00:00:00-0000", "2024-01-01T00:00:00Z[UTC]"),
        *("2024-01-01T22:59:60Z", "2024-01-01T24:00:01Z", "2024-01-01T24:00:00.1Z"),
        *("+1000000000-12-31T24:00:00Z", "+1000000000-12-31T23:59:59-00:01"),
        *("-1000000000-01-01T00:00:00+00:01", "20240101T000000Z", "1700000000", ""),
    ],
)
def test_no_points_in_time(text: str) -> None:
    assert not _takes(times.instant, text)


@pytest.mark.parametrize(
    ("number", "is_one"),
    [
        (Decimal("31556889864403199.999999999"), True),
        (Decimal(31_556_889_864_403_200), False),
        (Decimal("-31557014167219200.0"), True),
        (Decimal("-31557014167219200.1"), False),
        (Decimal("1e-2147483648"), False),
        (float("inf"), False),
        (1.5, True),
    ],
)
def test_seconds(number: Decimal | float, is_one: bool) -> None:  # noqa: FBT001 - a table
    assert _takes(times.instant, number) is is_one


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (times.day, [-999_999_999, 1, 1]),
        (times.day, [999_999_999, 12, 31]),
        (times.local, [-999_999_999, 1, 1, 0, 0]),
        (times.local, [2024, 2, 29, 23, 59, 59, 999_999_999]),
        (times.time, [1, 2]),
        (times.time, [1, 2, 3, 4]),
    ],
)
def test_lists(read: Callable[[Any], Any], value: list[int]) -> None:
    assert _takes(read, value)


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (times.day, []),
        (times.day, [2024, 1]),
        (times.day, [2023, 2, 29]),
        (times.day, [1_000_000_000, 1, 1]),
        (times.day, [2024, 10**30, 1]),
        (times.day, [2024, True, 1]),
        (times.day, [2024, 1.0, 1]),
        (times.local, [2024, 1, 1]),
        (times.local, [2024, 1, 1, 0]),
        (times.local, [2024, 1, 1, 0, 0, 0, 10**9]),
        (times.local, [2024, 1, 1, 0, 0, 0, 0, 0]),
        (times.time, [1]),
        (times.time, [24, 0]),
        (times.time, [0, 0, 0, -1]),
    ],
)
def test_no_lists(read: Callable[[Any], Any], value: list[Any]) -> None:
    assert not _takes(read, value)
