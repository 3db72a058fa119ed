"""One Protobuf message at a time: fields to values as the reader has them, and back to bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final

from gitops.replay.kernel.protobuf.definition import default_of
from gitops.replay.kernel.protobuf.schema_pair import FIXED32S, FIXED64S, Fields, Slot
from gitops.replay.kernel.protobuf.wire_format import Raw, RawMessage, decode, raw_of, value_of
from gitops.replay.kernel.protocol import CountKey, CountKind, Reason, Unreadable
from gitops.schemas.protobuf_native.descriptors import Type
from gitops.schemas.protobuf_native.schema import Field, Message
from gitops.schemas.protobuf_native.wire_format import (
    END_GROUP,
    FIXED32,
    FIXED64,
    LENGTH_DELIMITED,
    START_GROUP,
    VARINT,
)

# Fields to values as the reader sees them, and what there is to count.


def read(plan: Fields, payload: bytes) -> tuple[dict[str, Any], list[CountKey]]:
    """The value of a payload, and what there is to count; raises Unreadable."""
    counted = [CountKey("", CountKind.READ)]
    return _read_message(plan, decode(plan, payload), counted), counted


def _read_message(plan: Fields, message: RawMessage, counted: list[CountKey]) -> dict[str, Any]:
    values = {
        slot.field.name: (
            _read_field(slot, message.values[number], counted)
            if number in message.values and not is_unwritten(slot, message.values[number])
            else _absent(slot, counted)
        )
        for number, slot in plan.slots.items()
    }
    for _, path, numbers in plan.oneofs:
        chosen = [plan.slots[number].field.name for number in numbers if number in message.values]
        name = chosen[0] if chosen else "null"
        counted += (CountKey(path, CountKind.READ), CountKey(path, CountKind.BRANCH, name))
        if not chosen:
            counted.append(CountKey(path, CountKind.NULLS))
    counted += [CountKey(path, CountKind.DROPPED) for path in message.dropped]
    return values


def is_unwritten(slot: Slot, value: Any) -> bool:  # noqa: ANN401 - raw
    """A zero that its writer knows nothing of is as good as absent."""
    if slot.written is not None or slot.field.presence or slot.field.repeated:
        return False
    return not value_of(slot.field.type, value)


def _absent(slot: Slot, counted: list[CountKey]) -> Any:  # noqa: ANN401 - any value
    """A writer leaves out zeros, lists without items, and what is not set."""
    if slot.written is None:
        counted.append(CountKey(slot.path, CountKind.DEFAULTED))
    else:
        counted.append(CountKey(slot.path, CountKind.READ))
        if slot.retyped and not (slot.field.presence or slot.field.repeated):
            counted.append(CountKey(slot.path, CountKind.PROMOTED))
        if slot.field.presence:
            counted.append(CountKey(slot.path, CountKind.NULLS))
        elif slot.field.type is Type.ENUM and not slot.field.repeated:
            counted += enum_value(slot, 0)
    if slot.field.repeated:
        return {} if slot.field.entry is not None else []
    default = default_of(slot.field)
    return enum_value_name(slot, 0) if slot.field.type is Type.ENUM and default == 0 else default


def _read_field(slot: Slot, value: Any, counted: list[CountKey]) -> Any:  # noqa: ANN401 - raw, then any
    if not slot.field.repeated:
        return _single(slot, value, counted)
    counted.append(CountKey(slot.path, CountKind.READ))
    if slot.field.entry is None:
        return [_single(slot, item, counted) for item in value]
    return _entries(slot, value, counted)


def _entries(slot: Slot, entries: dict[Any, RawMessage], counted: list[CountKey]) -> dict[Any, Any]:
    inner = slot.inner or Fields(path=slot.item)
    values: dict[Any, Any] = {}
    for key, entry in entries.items():
        within: list[CountKey] = []
        values[key] = _read_message(inner, entry, within)["value"]
        counted += [field for field in within if field.path != f"{slot.item}.key"]
    return values


def _single(slot: Slot, value: Any, counted: list[CountKey]) -> Any:  # noqa: ANN401 - raw, then any
    counted.append(CountKey(slot.item, CountKind.READ))
    if slot.retyped:
        counted.append(CountKey(slot.item, CountKind.PROMOTED))
    if isinstance(value, RawMessage):
        return _read_message(slot.inner or Fields(path=slot.item), value, counted)
    result = value_of(slot.field.type, value)
    if slot.field.type is Type.ENUM:
        counted += enum_value(slot, result)
        return enum_value_name(slot, result)
    if _is_changed(slot, value, result):
        counted.append(CountKey(slot.item, CountKind.CHANGED))
    return result


def enum_value_name(slot: Slot, number: int) -> str | int:
    """The first name of an enum's number, else the number."""
    names = (slot.names or {}).get(number)
    return names[0] if names else number


def enum_value(slot: Slot, number: int) -> list[CountKey]:
    """The symbol; a number that has no name, or another one than the writer's, is changed."""
    if slot.names is None:
        return []
    name = enum_value_name(slot, number)
    counted = [CountKey(slot.item, CountKind.SYMBOL, str(name))] if isinstance(name, str) else []
    written = (slot.written_names or {}).get(number)
    if isinstance(name, int) or (written is not None and name not in written):
        counted.append(CountKey(slot.item, CountKind.CHANGED))
    return counted


def _is_changed(slot: Slot, raw: Raw, value: Any) -> bool:  # noqa: ANN401 - a scalar
    if slot.field.type is Type.STRING:
        return "\ufffd" in value and value.encode() != raw
    if slot.written is None or not slot.retyped or isinstance(value, bytes):
        return False
    try:
        return bool(value_of(slot.written.type, raw) != value)
    except (TypeError, AttributeError):
        return False


# Values back to Protobuf's wire format.


_MORE: Final = 0x80


class ProtobufWriter:
    """A RowWriter for what `ProtobufKernel.read` answers with the same schema as reader."""

    def __init__(self, message: Message) -> None:
        self._message = message

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - any value that a schema can say
        """The payload; raises Unreadable."""
        try:
            return _write_message(self._message, value)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, struct.error):
            reason = Reason("", "the value cannot be written as this message")
            raise Unreadable(reason, reason.reason) from None


def _write_message(message: Message, value: dict[str, Any]) -> bytes:
    return b"".join(
        part
        for field in message.fields
        if value.get(field.name) is not None
        for part in _write_field(field, value[field.name])
    )


def _write_field(field: Field, value: Any) -> Iterator[bytes]:  # noqa: ANN401 - any value
    if field.entry is not None:
        for key, inner in value.items():
            yield _one(field, _write_message(field.entry, {"key": key, "value": inner}))
    elif field.repeated and field.packed:
        if value:
            packed = b"".join(_bytes(field, element) for element in value)
            yield _tag(field, LENGTH_DELIMITED) + _varint(len(packed)) + packed
    elif field.repeated:
        for item in value:
            yield _one(field, _bytes(field, item))
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
        return _write_message(field.message, value)
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
