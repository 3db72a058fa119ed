"""Fields that are found by numpy are those that protobuf's own library finds."""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("numpy", reason="the extra 'pulsar' is not installed")

import numpy
from hypothesis import given
from hypothesis import strategies as st

from gitops.messaging.errors import ProtocolError
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.fields import PADDING, Fields, scan_fields
from tests.support.protocol_messages import fill


def scanned(messages: list[bytes]) -> Fields:
    data = numpy.frombuffer(b"".join([*messages, PADDING]), numpy.uint8)
    sizes = numpy.array([len(each) for each in messages], numpy.int64)
    ends = numpy.cumsum(sizes)
    return scan_fields(data, ends - sizes, ends)


def expected(message: api.SingleMessageMetadata, owner: int) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for field, value in message.ListFields():
        for each in value if field.is_repeated else [value]:
            if field.message_type is not None:
                found.append((owner, field.number, len(each.SerializeToString())))
            elif isinstance(each, str | bytes):
                found.append(
                    (owner, field.number, len(each.encode() if isinstance(each, str) else each))
                )
            else:
                found.append((owner, field.number, int(each)))
    return found


@given(st.integers(0, 2**32), st.integers(0, 20))
def test_they_are_the_same_as_the_librarys(seed: int, count: int) -> None:
    one = random.Random(seed)  # noqa: S311 - no secret
    messages = [api.SingleMessageMetadata() for _ in range(count)]
    for message in messages:
        fill(message, one)
    fields = scanned([each.SerializeToString() for each in messages])
    found = sorted(zip(*(each.tolist() for each in (fields.owners, fields.numbers)), strict=True))
    wanted = [field for owner, each in enumerate(messages) for field in expected(each, owner)]
    assert found == sorted(field[:2] for field in wanted)
    values = zip(
        *(each.tolist() for each in (fields.owners, fields.numbers, fields.values)), strict=True
    )
    assert sorted(values) == sorted(wanted)


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_any_bytes_are_fields_or_an_error_of_the_protocol(messages: list[bytes]) -> None:
    try:
        fields = scanned(messages)
    except ProtocolError as error:
        assert error.what.startswith("the server sent")  # noqa: PT017 - both ways are right
    else:
        sizes = fields.values[fields.is_bytes]
        assert (sizes <= max(map(len, messages), default=0)).all()


@pytest.mark.parametrize("tag", [b"\x09" + bytes(8), b"\x0d" + bytes(4)])
def test_fixed_numbers_of_later_protocols_are_skipped(tag: bytes) -> None:
    fields = scanned([tag + b"\x40\x07"])
    assert (fields.numbers.tolist(), fields.values.tolist()[1]) == ([1, 8], 7)


@pytest.mark.slow
def test_too_many_fields_are_refused() -> None:
    with pytest.raises(ProtocolError, match="more than 10000 fields"):
        scanned([b"\x40\x01" * 10_001])
