"""Frames of Pulsar's binary protocol: a command alone, or with metadata and a payload behind it.

A frame is the size of all that follows, the size of the command, and the command (PulsarApi's
BaseCommand). One that carries a message goes on with 0x0e01, the CRC32C of the rest, the size of
the metadata, the metadata, and the payload. Sizes and the checksum have four bytes, big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

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
"""The largest frame that is read where CONNECTED names no other size of messages.

10 KiB beside the payload are what Pulsar allows for a command and its metadata.
"""
_LARGEST_MESSAGE_SIZE: Final = 128 * 1024 * 1024
"""However large the messages are that a server names: a frame is held whole."""


class Frame(NamedTuple):
    """A command, and what follows it: the metadata and the payload of MESSAGE."""

    command: BaseCommand
    content: bytes


def command_frame(command: BaseCommand) -> bytes:
    """The frame of a command without a message."""
    data = command.SerializeToString()
    return _SIZES.pack(_SIZE.size + len(data), len(data)) + data


def send_frame(command: CommandSend, metadata: MessageMetadata, payload: bytes) -> bytes:
    """The frame of a message or a batch, with its checksum."""
    data = BaseCommand(type=BaseCommand.SEND, send=command).SerializeToString()
    content = pack_content(metadata, payload)
    return _SIZES.pack(_SIZE.size + len(data) + len(content), len(data)) + data + content


def pack_content(metadata: MessageMetadata, payload: bytes) -> bytes:
    """What follows the command of a message: the checksum, the metadata, the payload."""
    head = metadata.SerializeToString()
    checked = _SIZE.pack(len(head)) + head
    checksum = google_crc32c.extend(google_crc32c.value(checked), payload)
    return b"".join((_CHECKSUM.pack(_MAGIC, checksum), checked, payload))


class FrameBuffer:
    """Cuts what arrives into frames; never holds more than one of the largest size."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._largest = LARGEST_FRAME

    @property
    def size(self) -> int:
        """Bytes of a frame that is not complete."""
        return len(self._data)

    def accept(self, message_size: int) -> None:
        """Read frames with messages of that size, as CONNECTED names it."""
        self._largest = min(message_size, _LARGEST_MESSAGE_SIZE) + _PADDING

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete with `data`.

        Raises ProtocolError for sizes that are impossible and for bytes that are no command.
        Commands of a type that is unknown are left out: a newer broker may send some.
        """
        self._data += data
        at = 0
        try:
            while (frame := self._frame(at)) is not None:
                at += _SIZE.size + len(frame)
                if (items := _parsed(frame)) is not None:
                    yield items
        finally:
            del self._data[:at]

    def _frame(self, at: int) -> bytes | None:
        """The frame at `at` without its size, None while it is not complete."""
        if len(self._data) - at < _SIZE.size:
            return None
        (size,) = _SIZE.unpack_from(self._data, at)
        if not _SIZE.size <= size <= self._largest:
            raise ProtocolError(f"the server sent a frame of {size} bytes")
        start = at + _SIZE.size
        if len(self._data) < start + size:
            return None
        with memoryview(self._data) as view:
            return bytes(view[start : start + size])


def read_content(content: bytes) -> tuple[MessageMetadata, bytes, bytes]:
    """Metadata, its bytes, and the payload of a MESSAGE.

    Raises ProtocolError, also for a wrong checksum.
    """
    try:
        magic, checksum = _CHECKSUM.unpack_from(content)
        if magic == _MAGIC:  # some clients of long ago sent none
            content = content[_CHECKSUM.size :]
            if google_crc32c.value(content) != checksum:
                raise ProtocolError("the server sent a message whose checksum is wrong")
        (size,) = _SIZE.unpack_from(content)
        end = _SIZE.size + size
        head = content[_SIZE.size : end]
        metadata = MessageMetadata.FromString(head)
    except (struct.error, DecodeError):
        raise ProtocolError("the server sent a message that cannot be read") from None
    if end > len(content) or not metadata.IsInitialized():
        raise ProtocolError("the server sent a message that is not whole")
    return metadata, head, content[end:]


def _parsed(frame: bytes) -> Frame | None:
    (size,) = _SIZE.unpack_from(frame)
    end = _SIZE.size + size
    if end > len(frame):
        raise ProtocolError(f"the server sent a command of {size} bytes in a smaller frame")
    try:
        command = BaseCommand.FromString(frame[_SIZE.size : end])
    except DecodeError:
        raise ProtocolError("the server sent a command that cannot be read") from None
    if not command.HasField("type"):
        return None
    if not command.IsInitialized():
        raise ProtocolError("the server sent a command without a field that it must have")
    if command.type not in _WITHOUT_TEXT and _has_invalid_text(command):
        raise ProtocolError("the server sent text that is not UTF-8")
    return Frame(command, frame[end:])


_WITHOUT_TEXT: Final = (BaseCommand.SEND_RECEIPT, BaseCommand.MESSAGE)


def _has_invalid_text(message: Message) -> bool:
    """Whether a text is none, which protobuf then gives as bytes."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            if any(map(_has_invalid_text, value if field.is_repeated else [value])):
                return True
        elif field.type == field.TYPE_STRING and isinstance(value, bytes):
            return True
    return False
