"""Protobuf's wire format: the fields of a message, and what is written as a type's value."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitops.replay.kernel.protobuf.schema_pair import (
    FIXED32S,
    FIXED64S,
    VARINTS,
    WIRE_TYPES,
    Fields,
    Slot,
)
from gitops.replay.kernel.protocol import Reason, Unreadable
from gitops.replay.kernel.verdicts import join_path
from gitops.schemas.java_text import java_text
from gitops.schemas.protobuf_native.descriptors import Type
from gitops.schemas.protobuf_native.errors import WireError
from gitops.schemas.protobuf_native.wire_format import (
    END_GROUP,
    FIXED32,
    FIXED64,
    LENGTH_DELIMITED,
    VARINT,
    Reader,
    check_depth,
)

# What stands on the wire as the value of a type.

_BITS32: Final = (1 << 32) - 1
_BITS64: Final = (1 << 64) - 1

Raw = int | bytes
"""A varint, or the bytes of a fixed or a length-delimited value."""


def value_of(kind: Type, raw: Raw) -> Any:  # noqa: ANN401 - a scalar
    """The value; an enum is its number, text that is not UTF-8 has U+FFFD in it."""
    return _VALUES[kind](raw)


def raw_of(kind: Type, value: Any) -> Raw:  # noqa: ANN401 - a scalar
    """The opposite; raises ValueError, TypeError, OverflowError or struct.error."""
    if kind in _STRUCTS:
        packed: bytes = _STRUCTS[kind].pack(value)
        return packed
    if kind is Type.STRING:
        return bytes(value.encode("utf-8"))
    if kind in {Type.BYTES, Type.MESSAGE}:
        return bytes(value)
    if kind is Type.SINT32:
        return int((value << 1) ^ (value >> 31)) & _BITS32
    if kind is Type.SINT64:
        return int((value << 1) ^ (value >> 63)) & _BITS64
    return int(value) & _BITS64


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _zigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return java_text(raw)


_STRUCTS: Final = {
    Type.FLOAT: struct.Struct("<f"),
    Type.FIXED32: struct.Struct("<I"),
    Type.SFIXED32: struct.Struct("<i"),
    Type.DOUBLE: struct.Struct("<d"),
    Type.FIXED64: struct.Struct("<Q"),
    Type.SFIXED64: struct.Struct("<q"),
}


def _unpacking(kind: Type) -> Callable[[Any], Any]:
    unpack = _STRUCTS[kind].unpack
    return lambda raw: unpack(raw)[0]


_VALUES: Final[Mapping[Type, Callable[[Any], Any]]] = {
    Type.INT32: lambda raw: _signed(raw, 32),
    Type.INT64: lambda raw: _signed(raw, 64),
    Type.UINT32: lambda raw: raw & _BITS32,
    Type.UINT64: lambda raw: raw & _BITS64,
    Type.BOOL: lambda raw: raw & _BITS64 != 0,
    Type.ENUM: lambda raw: _signed(raw, 32),
    Type.SINT32: lambda raw: _zigzag(raw & _BITS32),
    Type.SINT64: lambda raw: _zigzag(raw & _BITS64),
    Type.STRING: _text,
    Type.BYTES: bytes,
    Type.MESSAGE: bytes,
    Type.GROUP: bytes,
    **{kind: _unpacking(kind) for kind in _STRUCTS},
}


# Bytes to fields: what stands in a message, before it is looked at as values.


REQUIRED: Final = "a required field is missing"
NOT_UTF8: Final = "the text is not UTF-8"

_SIZES: Final = {FIXED32: 4, FIXED64: 8}
_PACKABLE: Final = VARINTS | FIXED32S | FIXED64S
_KEY, _VALUE = 1, 2  # their numbers in a map's entry
_ZEROS: Final[dict[Type, Any]] = {Type.STRING: "", Type.BYTES: b""}


@dataclass(slots=True)
class RawMessage:
    """A message: raw values by number, a list where there may be several, a map's entries by key.

    `dropped` are the paths of what the reader passes over, `*` for what neither side knows.
    """

    values: dict[int, Any] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)


def decode(plan: Fields, payload: bytes) -> RawMessage:
    """The fields of a whole message; raises Unreadable."""
    message = RawMessage()
    reader = Reader(payload, 0, len(payload))
    _message(plan, reader, message, 0, 0)
    _check_required(plan, message)
    return message


def _message(plan: Fields, reader: Reader, result: RawMessage, depth: int, group: int) -> None:
    """Read to the end, or to the end of the group of that number."""
    path = plan.path
    try:
        while True:
            path = plan.path
            number, wire_type = reader.tag()
            if group and (not number or wire_type == END_GROUP):
                if number != group:
                    raise WireError("a group has no end")  # noqa: TRY301 - as the reader says it
                return
            if not number:
                return
            slot = plan.slots.get(number)
            path = path if slot is None else slot.path
            if slot is None or not _take(slot, wire_type, reader, plan, result, depth):
                reader.skip_field(number, wire_type, depth)
                _drop(plan, slot, number, result)
    except WireError as error:
        message = f"{path or 'the message'}: {error.why}, at byte {reader.at}"
        raise Unreadable(Reason(path, error.why), message) from None


def _drop(plan: Fields, slot: Slot | None, number: int, message: RawMessage) -> None:
    if slot is not None:
        message.dropped.append(slot.path)
    elif not plan.opaque:
        message.dropped.append(plan.dropped.get(number) or join_path(plan.path, "*"))


def _take(  # noqa: PLR0913, PLR0917 - all that a field may touch
    slot: Slot, wire_type: int, reader: Reader, plan: Fields, message: RawMessage, depth: int
) -> bool:
    """Whether the field is of a type that its reader knows; if so it is read."""
    expected = WIRE_TYPES[slot.field.type]
    if wire_type != expected:
        packed = wire_type == LENGTH_DELIMITED and slot.field.type in _PACKABLE
        if not (packed and slot.field.repeated):
            return False
        part = reader.part()
        while part.at < part.end:
            _keep(slot, _scalar(slot, expected, part), plan, message)
        return True
    if slot.inner is not None:
        _keep_message(slot, slot.inner, reader, plan, message, depth)
    else:
        _keep(slot, _scalar(slot, expected, reader), plan, message)
    return True


def _scalar(slot: Slot, wire_type: int, reader: Reader) -> Raw:
    if wire_type == VARINT:
        return reader.varint()
    if wire_type == LENGTH_DELIMITED:
        raw = reader.part().rest()
        if slot.field.checks_utf8 and not _is_utf8(raw):
            raise Unreadable(Reason(slot.item, NOT_UTF8), f"{slot.item}: {NOT_UTF8}")
        return raw
    return reader.fixed(_SIZES[wire_type])


def _keep(slot: Slot, raw: Raw, plan: Fields, message: RawMessage) -> None:
    number = slot.field.number
    if not plan.entry and _is_unknown(slot, raw):
        message.dropped.append(slot.item)
        return
    if slot.field.repeated:
        message.values.setdefault(number, []).append(raw)
    else:
        _clear(plan, number, message)
        message.values[number] = raw


def _keep_message(  # noqa: PLR0913, PLR0917 - as `_take`
    slot: Slot, inner: Fields, reader: Reader, plan: Fields, message: RawMessage, depth: int
) -> None:
    """A message that is there twice is merged, unless it may be there several times.

    Of one that nobody describes the bytes are kept.
    """
    check_depth(depth)
    if inner.opaque and slot.field.type is Type.MESSAGE:
        part = reader.part()
        raw = part.rest()
        _message(inner, part, RawMessage(), depth + 1, 0)
        _keep(slot, raw, plan, message)
        return
    number = slot.field.number
    if slot.field.repeated:
        into = RawMessage()
        if not inner.entry:
            message.values.setdefault(number, []).append(into)
    else:
        _clear(plan, number, message)
        into = message.values.setdefault(number, RawMessage())
    if slot.field.type is Type.GROUP:
        _message(inner, reader, into, depth + 1, number)
    else:
        _message(inner, reader.part(), into, depth + 1, 0)
    if inner.entry and slot.field.repeated:
        _keep_entry(slot, inner, into, message)


def _keep_entry(slot: Slot, inner: Fields, entry: RawMessage, message: RawMessage) -> None:
    """Of several entries with one key the last one stays.

    One that lacks its key or its value has it all the same, and one whose value a closed enum does
    not name is no entry. No reader keeps what it does not know of an entry.
    """
    entry.dropped.clear()
    for number in (_KEY, _VALUE):
        if number in inner.slots:
            entry.values.setdefault(number, _unset(inner.slots[number]))
    if _is_unknown(inner.slots[_VALUE], entry.values[_VALUE]):
        message.dropped.append(slot.item)
        return
    key = value_of(inner.slots[_KEY].field.type, entry.values[_KEY])
    message.values.setdefault(slot.field.number, {})[key] = entry


def _unset(slot: Slot) -> RawMessage | Raw:
    """What stands for the key or the value of an entry that has none."""
    if slot.inner is not None:
        return RawMessage()
    enum = slot.field.enum
    if enum is not None and enum.closed and enum.values:
        return enum.values[0].number
    return raw_of(slot.field.type, _ZEROS.get(slot.field.type, 0))


def _is_unknown(slot: Slot, raw: Any) -> bool:  # noqa: ANN401 - a Raw, or a Found
    """Whether it is a number that a closed enum does not name."""
    return slot.field.closed and value_of(Type.ENUM, raw) not in (slot.names or {})


def _clear(plan: Fields, number: int, message: RawMessage) -> None:
    """Of a oneof the last one that is set stays."""
    for other in plan.siblings.get(number, ()):
        message.values.pop(other, None)


def _check_required(plan: Fields, message: RawMessage) -> None:
    """As Java, once everything was parsed."""
    for number, slot in plan.slots.items():
        value = message.values.get(number)
        if value is None:
            if slot.required:
                raise Unreadable(Reason(slot.path, REQUIRED), f"{slot.path}: {REQUIRED}")
        elif slot.inner is not None:
            for occurrence in _occurrences(value):
                if isinstance(occurrence, RawMessage):
                    _check_required(slot.inner, occurrence)


def _occurrences(value: Any) -> Iterable[Any]:  # noqa: ANN401 - raw
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else (value,)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
