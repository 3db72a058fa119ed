"""Values back to Protobuf's wire format."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final

from gitops.compatibility.protobuf_native.descriptors import Type
from gitops.compatibility.protobuf_native.schema import Field, Message
from gitops.compatibility.protobuf_native.wire import (
    END_GROUP,
    FIXED32,
    FIXED64,
    LENGTH_DELIMITED,
    START_GROUP,
    VARINT,
)
from gitops.replay.kernel.protobuf.definition import default_of
from gitops.replay.kernel.protobuf.plan import FIXED32S, FIXED64S
from gitops.replay.kernel.protobuf.scalars import raw_of
from gitops.replay.kernel.walk import Reason, Unreadable

_MORE: Final = 0x80


class ProtobufWriter:
    """A RowWriter for what `ProtobufKernel.read` answers with the same schema as reader."""

    def __init__(self, message: Message) -> None:
        self._message = message

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - any value that a schema can say
        """The payload; raises Unreadable."""
        try:
            return _message(self._message, value)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, struct.error):
            reason = Reason("", "the value cannot be written as this message")
            raise Unreadable(reason, reason.reason) from None


def _message(message: Message, value: dict[str, Any]) -> bytes:
    return b"".join(
        part
        for field in message.fields
        if value.get(field.name) is not None
        for part in _field(field, value[field.name])
    )


def _field(field: Field, value: Any) -> Iterator[bytes]:  # noqa: ANN401 - any value
    if field.entry is not None:
        for key, inner in value.items():
            yield _one(field, _message(field.entry, {"key": key, "value": inner}))
    elif field.repeated and field.packed:
        if value:
            packed = b"".join(_bytes(field, one) for one in value)
            yield _tag(field, LENGTH_DELIMITED) + _varint(len(packed)) + packed
    elif field.repeated:
        for one in value:
            yield _one(field, _bytes(field, one))
    elif field.presence or not _is_zero(field, value):
        yield _one(field, _bytes(field, value))


def _is_zero(field: Field, value: Any) -> bool:  # noqa: ANN401 - a scalar
    if field.enum is not None:
        return bool(_number(field, value) == 0)
    zero = default_of(field)
    return bool(value == zero) and str(value) == str(zero)  # -0.0 is written


def _one(field: Field, data: bytes) -> bytes:
    if field.type is Type.GROUP:
        return _tag(field, START_GROUP) + data + _tag(field, END_GROUP)
    if field.type in {Type.MESSAGE, Type.STRING, Type.BYTES}:
        return _tag(field, LENGTH_DELIMITED) + _varint(len(data)) + data
    wire_type = FIXED32 if field.type in FIXED32S else VARINT
    return _tag(field, FIXED64 if field.type in FIXED64S else wire_type) + data


def _bytes(field: Field, value: Any) -> bytes:  # noqa: ANN401 - any value
    """A value without its tag and its length."""
    if field.message is not None:
        return _message(field.message, value)
    raw = raw_of(field.type, _number(field, value))
    return _varint(raw) if isinstance(raw, int) else raw


def _number(field: Field, value: Any) -> Any:  # noqa: ANN401 - a scalar
    if field.enum is None or isinstance(value, int):
        return value
    return field.enum.numbers[value]


def _tag(field: Field, wire_type: int) -> bytes:
    return _varint(field.number << 3 | wire_type)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= _MORE:
        out.append(value & (_MORE - 1) | _MORE)
        value >>= 7
    out.append(value)
    return bytes(out)
