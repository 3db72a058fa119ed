"""Numbers and points in time as Pulsar's Java client writes them, and what it refuses."""

from __future__ import annotations

import struct
from collections import Counter

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.primitive import FORMS, Fixed
from gitops.replay.kernel.protocol import READ, CountKey, CountKind, Unreadable
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for, row_writer_for

FIRST_SECOND, LAST_SECOND = -31_557_014_167_219_200, 31_556_889_864_403_199


def _info(kind: SchemaType) -> SchemaInfo:
    return SchemaInfo(type=kind)


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text)


@given(st.sampled_from(sorted(FORMS, key=str)), st.lists(st.binary(max_size=17), max_size=20))
def test_a_column_is_what_its_rows_are(kind: SchemaType, payloads: list[bytes]) -> None:
    one = _info(kind)
    walk = kernel_for(one, one).walk(pyarrow.array(payloads, pyarrow.binary()))
    reader, writer = row_reader_for(one, one), row_writer_for(one)
    for payload, verdict in zip(payloads, walk.verdicts.tolist(), strict=True):
        if verdict != READ:
            with pytest.raises(Unreadable) as caught:
                reader.read(payload)
            assert walk.reasons[verdict - 1] == caught.value.reason
        else:
            value = reader.read(payload)
            assert reader.read(writer.write(value)) == pytest.approx(value, nan_ok=True)
    read = int((walk.verdicts == READ).sum())
    assert walk.counts == Counter({CountKey("", CountKind.READ): read} if read else {})


@pytest.mark.parametrize(
    ("kind", "payload", "value"),
    [
        (SchemaType.BOOLEAN, "02", True),
        (SchemaType.INT8, "ff", -1),
        (SchemaType.INT16, "8000", -(2**15)),
        (SchemaType.INT32, "00000001", 1),
        (SchemaType.INT64, "7fffffffffffffff", 2**63 - 1),
        (SchemaType.FLOAT, "3fc00000", 1.5),
        (SchemaType.DOUBLE, "4004000000000000", 2.5),
        (SchemaType.TIMESTAMP, "0000000000000005", 5),
        (SchemaType.INSTANT, "0000000000000001ff000002", (1, -16777214)),
        (SchemaType.LOCAL_DATE, "0000000000000001", 1),
        (SchemaType.LOCAL_TIME, "00004e94914effff", 86_400 * 10**9 - 1),
        (SchemaType.LOCAL_DATE_TIME, "0000000000000001" * 2, (1, 1)),
    ],
)
def test_values_are_big_endian(kind: SchemaType, payload: str, value: object) -> None:
    assert row_reader_for(_info(kind), _info(kind)).read(_bytes(payload)) == value


@pytest.mark.parametrize(
    ("kind", "payload", "reason"),
    [
        (SchemaType.BOOLEAN, "", "the message ends too early"),
        (SchemaType.INT32, "0000000001", "bytes are left over"),
        (SchemaType.INSTANT, "7f00000000000001" + "00000000", "seconds out of range"),
        (SchemaType.LOCAL_DATE, "7f00000000000001", "day out of range"),
        (SchemaType.LOCAL_TIME, "00004e94914f0000", "nanosecond of the day out of range"),
        (
            SchemaType.LOCAL_DATE_TIME,
            "0000000000000001" + "ffffffffffffffff",
            "nanosecond of the day out of range",
        ),
    ],
)
def test_what_java_refuses_fails(kind: SchemaType, payload: str, reason: str) -> None:
    walk = kernel_for(_info(kind), _info(kind)).walk(pyarrow.array([_bytes(payload)]))
    assert [found.reason for found in walk.reasons] == [reason]


@pytest.mark.parametrize(
    ("seconds", "nanoseconds", "read"),
    [
        (LAST_SECOND, 10**9 - 1, True),
        (LAST_SECOND, 10**9, False),
        (LAST_SECOND + 2, -(10**9) - 1, True),
        (LAST_SECOND + 2, -(10**9), False),
        (FIRST_SECOND, -1, False),
        (FIRST_SECOND - 1, 10**9, True),
        (FIRST_SECOND - 2, 2 * 10**9, True),
        (FIRST_SECOND - 3, 2**31 - 1, False),
        (LAST_SECOND + 3, -(2**31), True),
        (2**63 - 1, 2**31 - 1, False),
        (-(2**63), -(2**31), False),
    ],
)
def test_nanoseconds_beyond_a_second_count_into_the_seconds(
    seconds: int, nanoseconds: int, *, read: bool
) -> None:
    one, payload = _info(SchemaType.INSTANT), struct.pack(">qi", seconds, nanoseconds)
    walk = kernel_for(one, one).walk(pyarrow.array([payload]))
    assert bool(walk.verdicts[0] == READ) is read
    if read:
        assert row_reader_for(one, one).read(payload) == (seconds, nanoseconds)
    else:
        with pytest.raises(Unreadable, match="seconds out of range"):
            row_reader_for(one, one).read(payload)


def test_types_of_the_same_milliseconds_read_each_other() -> None:
    payload = struct.pack(">q", 5)
    for writer in (SchemaType.INT64, SchemaType.DATE, SchemaType.TIME, SchemaType.TIMESTAMP):
        assert row_reader_for(_info(writer), _info(SchemaType.TIMESTAMP)).read(payload) == 5


def test_a_value_of_another_type_is_not_written() -> None:
    with pytest.raises(Unreadable, match="not a value of INT8"):
        row_writer_for(_info(SchemaType.INT8)).write(1000)


_UNITS = [
    (SchemaType.INT8, "b", (-3,), "integer", -3),
    (SchemaType.INT64, "q", (2**62 + 1,), "integer", 2**62 + 1),
    (SchemaType.FLOAT, "f", (0.5,), "number", 0.5),
    (SchemaType.DOUBLE, "d", (-0.25,), "number", -0.25),
    (SchemaType.TIMESTAMP, "q", (1_500,), "timestamp", 1_500),
    (SchemaType.INSTANT, "qi", (-1, 500_000_000), "timestamp", -500),
    (SchemaType.LOCAL_DATE, "q", (3,), "date", 3),
    (SchemaType.LOCAL_TIME, "q", (2_500_000,), "time", 2),
    (SchemaType.LOCAL_DATE_TIME, "qq", (1, 2_500_000), "local-timestamp", 86_400_002),
]


@pytest.mark.parametrize(("kind", "codes", "parts", "unit", "number"), _UNITS)
def test_the_numbers_of_a_column(
    kind: SchemaType, codes: str, parts: tuple[float, ...], unit: str, number: float
) -> None:
    found: list[tuple[str, str, list[float]]] = []
    payloads = pyarrow.array([struct.pack(f">{codes}", *parts)] * 3, pyarrow.binary())
    Fixed(kind).numbers(payloads, lambda path, its, many: found.append((path, its, many.tolist())))
    assert found == [("", unit, [number] * 3)]
