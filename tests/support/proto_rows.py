"""Random messages made by the protobuf library, and what it makes of bytes."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from random import Random
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from gitops.model.schema import SchemaInfo

_Field = Any
"""A FieldDescriptor, of which the library has several kinds."""

_FLOATS = (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT)
_BITS = {
    FieldDescriptor.TYPE_INT32: (32, True),
    FieldDescriptor.TYPE_SINT32: (32, True),
    FieldDescriptor.TYPE_SFIXED32: (32, True),
    FieldDescriptor.TYPE_UINT32: (32, False),
    FieldDescriptor.TYPE_FIXED32: (32, False),
    FieldDescriptor.TYPE_INT64: (64, True),
    FieldDescriptor.TYPE_SINT64: (64, True),
    FieldDescriptor.TYPE_SFIXED64: (64, True),
    FieldDescriptor.TYPE_UINT64: (64, False),
    FieldDescriptor.TYPE_FIXED64: (64, False),
}


def message_class(info: SchemaInfo) -> type[Message]:
    """The class of the root message of a PROTOBUF_NATIVE definition."""
    envelope = json.loads(info.schema)
    files = descriptor_pb2.FileDescriptorSet.FromString(
        base64.b64decode(envelope["fileDescriptorSet"])
    )
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    root = pool.FindMessageTypeByName(envelope["rootMessageTypeName"])
    return message_factory.GetMessageClass(root)


def fill(message: Message, random: Random, depth: int = 0) -> Message:
    """Set about half of the fields of a message; answers it."""
    field: _Field
    for field in message.DESCRIPTOR.fields:
        if random.random() < 0.5 or (field.message_type and depth > 2):
            continue
        if _is_map(field):
            _fill_map(getattr(message, field.name), field, random, depth)
        elif field.is_repeated:
            for _ in range(random.randint(0, 3)):
                _add(getattr(message, field.name), field, random, depth)
        elif field.message_type:
            inner = getattr(message, field.name)
            inner.SetInParent()
            fill(inner, random, depth + 1)
        else:
            setattr(message, field.name, _scalar(field, random))
    return message


def plain(message: Message) -> dict[str, Any]:
    """The fields of a message by name, enums by name where they have one, unset ones None."""
    fields: Sequence[_Field] = message.DESCRIPTOR.fields
    return {field.name: _plain_field(message, field) for field in fields}


def keeps_entries_apart(message: Message) -> bool:
    """Whether the library left an entry out of a map, which Java does not.

    It does so with entries that hold a field of another number than a key's and a value's.
    """
    fields: Sequence[_Field] = message.DESCRIPTOR.fields
    maps = {field.number for field in fields if _is_map(field)}
    unknown: Any = UnknownFieldSet(message)
    if any(one.field_number in maps for one in unknown):
        return True
    return any(
        keeps_entries_apart(inner)
        for field in fields
        if field.message_type
        for inner in _messages_in(getattr(message, field.name), field, message)
    )


def broken(payload: bytes, random: Random) -> bytes:
    """A payload that may not be one."""
    at = random.randint(0, len(payload))
    match random.randrange(6):
        case 0:
            return payload[:at]
        case 1:
            return payload + random.randbytes(3)
        case 2:
            return payload[:at] + random.randbytes(1) + payload[at + 1 :]
        case 3:
            return random.randbytes(random.randint(0, 12))
        case _:
            return payload


def _messages_in(value: Any, field: _Field, message: Message) -> list[Message]:  # noqa: ANN401
    if _is_map(field):
        is_message = field.message_type.fields_by_name["value"].message_type
        return list(value.values()) if is_message else []
    if field.is_repeated:
        return list(value)
    return [value] if message.HasField(field.name) else []


def _fill_map(into: Any, field: _Field, random: Random, depth: int) -> None:  # noqa: ANN401
    key, value = field.message_type.fields
    for _ in range(random.randint(0, 3)):
        if value.message_type:
            fill(into[_scalar(key, random)], random, depth + 1)
        else:
            into[_scalar(key, random)] = _scalar(value, random)


def _add(into: Any, field: _Field, random: Random, depth: int) -> None:  # noqa: ANN401
    if field.message_type:
        fill(into.add(), random, depth + 1)
    else:
        into.append(_scalar(field, random))


def _scalar(field: _Field, random: Random) -> Any:  # noqa: ANN401 - a scalar
    if field.type in _FLOATS:
        return random.choice([0.0, -0.0, 1.5, float("nan"), 1e30])
    if field.type == FieldDescriptor.TYPE_BOOL:
        return random.random() < 0.5
    if field.type == FieldDescriptor.TYPE_STRING:
        return random.choice(["", "x", "ü", "abc"])
    if field.type == FieldDescriptor.TYPE_BYTES:
        return random.choice([b"", b"\xff", b"abc"])
    if field.enum_type:
        return random.choice([value.number for value in field.enum_type.values])
    bits, signed = _BITS[field.type]
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return random.choice([0, 1, low, high, random.randint(low, high)])


def _is_map(field: _Field) -> bool:
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


def _plain_field(message: Message, field: _Field) -> Any:  # noqa: ANN401 - any value
    value = getattr(message, field.name)
    if _is_map(field):
        inner = field.message_type.fields_by_name["value"]
        return {key: _plain(value[key], inner) for key in value}
    if field.is_repeated:
        return [_plain(one, field) for one in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _plain(value, field)


def _plain(value: Any, field: _Field) -> Any:  # noqa: ANN401 - any value
    if field.message_type:
        return plain(value)
    if field.enum_type:
        named = field.enum_type.values_by_number.get(value)
        return value if named is None else named.name
    # The library leaves text of proto2 that is not UTF-8 as bytes.
    is_text = field.type == FieldDescriptor.TYPE_STRING and isinstance(value, bytes)
    return value.decode("utf-8", "replace") if is_text else value
