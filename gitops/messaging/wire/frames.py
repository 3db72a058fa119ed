"""Frames of Pulsar's binary protocol: a command alone, or with metadata and a payload behind it.

A frame is the size of all that follows, the size of the command, and the command (PulsarApi's
BaseCommand). One that carries a message goes on with 0x0e01, the CRC32C of the rest, the size of
the metadata, the metadata, and the payload. Sizes and the checksum have four bytes, big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

import google_crc32c
from google.protobuf.message import DecodeError, Message

from gitops.messaging.errors import ProtocolError
from gitops.messaging.wire.pulsar_api_pb2 import BaseCommand, CommandSend, MessageMetadata

_SIZE: Final = struct.Struct(">I")
_SIZES: Final = struct.Struct(">II")
_CHECKSUM: Final = struct.Struct(">HI")
_MAGIC: Final = 0x0E01
DEFAULT_MESSAGE_SIZE: Final = 5 * 1024 * 1024
"""The most bytes of a payload where CONNECTED names no other (maxMessageSize, Pulsar 4.0.7)."""
_PADDING: Final = 10 * 1024
LARGEST_FRAME: Final = DEFAULT_MESSAGE_SIZE + _PADDING
"""The largest frame that is read, whatever a server wants: what we read are answers, not messages.

10 KiB beside the payload are what Pulsar allows for a command and its metadata.
"""


def command_frame(command: BaseCommand) -> bytes:
    """The frame of a command without a message."""
    data = command.SerializeToString()
    return _SIZES.pack(_SIZE.size + len(data), len(data)) + data


def send_frame(command: CommandSend, metadata: MessageMetadata, payload: bytes) -> bytes:
    """The frame of a message or a batch, with its checksum."""
    data = BaseCommand(type=BaseCommand.SEND, send=command).SerializeToString()
    head = metadata.SerializeToString()
    checked = _SIZE.pack(len(head)) + head
    checksum = google_crc32c.extend(google_crc32c.value(checked), payload)
    size = _SIZE.size + len(data) + _CHECKSUM.size + len(checked) + len(payload)
    return b"".join(
        (
            _SIZES.pack(size, len(data)),
            data,
            _CHECKSUM.pack(_MAGIC, checksum),
            checked,
            payload,
        )
    )


class FrameBuffer:
    """Cuts what arrives into commands; never holds more than one frame of `LARGEST_FRAME` bytes."""

    def __init__(self) -> None:
        self._data = bytearray()

    @property
    def size(self) -> int:
        """Bytes of a frame that is not complete."""
        return len(self._data)

    def feed(self, data: bytes) -> Iterator[BaseCommand]:
        """The commands that are complete with `data`.

        Raises ProtocolError for sizes that are impossible and for bytes that are no command.
        Commands of a type that is unknown are left out: a newer broker may send some.
        """
        self._data += data
        at = 0
        try:
            while (frame := self._frame(at)) is not None:
                at += _SIZE.size + len(frame)
                if (command := _command(frame)) is not None:
                    yield command
        finally:
            del self._data[:at]

    def _frame(self, at: int) -> bytes | None:
        """The frame at `at` without its size, None while it is not complete."""
        if len(self._data) - at < _SIZE.size:
            return None
        (size,) = _SIZE.unpack_from(self._data, at)
        if not _SIZE.size <= size <= LARGEST_FRAME:
            raise ProtocolError(f"the server sent a frame of {size} bytes")
        start = at + _SIZE.size
        frame = bytes(self._data[start : start + size])
        return frame if len(frame) == size else None


def _command(frame: bytes) -> BaseCommand | None:
    (size,) = _SIZE.unpack_from(frame)
    if size > len(frame) - _SIZE.size:
        raise ProtocolError(f"the server sent a command of {size} bytes in a smaller frame")
    try:
        command = BaseCommand.FromString(frame[_SIZE.size : _SIZE.size + size])
    except DecodeError:
        raise ProtocolError("the server sent a command that cannot be read") from None
    if not command.HasField("type"):
        return None
    if not command.IsInitialized():
        raise ProtocolError("the server sent a command without a field that it must have")
    if command.type != BaseCommand.SEND_RECEIPT and _has_invalid_text(command):
        raise ProtocolError("the server sent text that is not UTF-8")
    return command


def _has_invalid_text(message: Message) -> bool:
    """Whether a text is none, which protobuf then gives as bytes; receipts have no text."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            if any(map(_has_invalid_text, value if field.is_repeated else [value])):
                return True
        elif field.type == field.TYPE_STRING and isinstance(value, bytes):
            return True
    return False
