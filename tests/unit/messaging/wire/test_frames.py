"""Frames: what is written is read again, however it arrives."""

from __future__ import annotations

import random
import struct

import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.messaging.errors import ProtocolError
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.frames import (
    LARGEST_FRAME,
    FrameBuffer,
    command_frame,
    send_frame,
)
from tests.support.protocol_messages import random_commands


@given(st.integers(0, 2**32), st.integers(1, 400))
def test_commands_arrive_in_pieces(seed: int, size: int) -> None:
    commands = list(random_commands(seed, 1))
    random.Random(seed).shuffle(commands)  # noqa: S311 - no secret
    data = b"".join(map(command_frame, commands))
    buffer = FrameBuffer()
    found = [
        frame.command
        for start in range(0, len(data), size)
        for frame in buffer.feed(data[start : start + size])
    ]
    assert found == commands
    assert buffer.size == 0


@given(st.binary(max_size=200))
def test_whatever_arrives_is_a_command_or_an_error_of_the_protocol(data: bytes) -> None:
    buffer = FrameBuffer()
    try:
        found = list(buffer.feed(data))
    except ProtocolError as error:
        assert error.what.startswith("the server sent")  # noqa: PT017 - both ways are right
    else:
        assert all(frame.command.IsInitialized() for frame in found)


@given(st.binary(max_size=300), st.binary(max_size=30))
def test_a_message_has_its_checksum(payload: bytes, version: bytes) -> None:
    metadata = api.MessageMetadata(
        producer_name="p", sequence_id=1, publish_time=2, schema_version=version
    )
    command = api.CommandSend(producer_id=3, sequence_id=1)
    frame = send_frame(command, metadata, payload)
    total, size = struct.unpack_from(">II", frame)
    assert total == len(frame) - 4
    assert api.BaseCommand.FromString(frame[8 : 8 + size]).send == command
    magic, checksum = struct.unpack_from(">HI", frame, 8 + size)
    rest = frame[14 + size :]
    assert (magic, checksum) == (0x0E01, google_crc32c.value(rest))
    (length,) = struct.unpack_from(">I", rest)
    assert api.MessageMetadata.FromString(rest[4 : 4 + length]) == metadata
    assert rest[4 + length :] == payload


@pytest.mark.parametrize("size", [0, 3, LARGEST_FRAME + 1, 2**32 - 1])
def test_impossible_sizes_are_refused_at_once(size: int) -> None:
    with pytest.raises(ProtocolError, match=f"a frame of {size} bytes"):
        list(FrameBuffer().feed(struct.pack(">I", size)))


def test_text_that_is_not_utf_8_is_refused() -> None:
    error = api.CommandError(request_id=1, error="UnknownError", message="aa")
    frame = command_frame(api.BaseCommand(type="ERROR", error=error)).replace(b"aa", b"\xff\xfe")
    with pytest.raises(ProtocolError, match="not UTF-8"):
        list(FrameBuffer().feed(frame))
