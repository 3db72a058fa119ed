"""Messages of the binary protocol with random fields, and all fields of each."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from gitops.messaging.wire import pulsar_api_pb2 as api

_BITS: Final = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63),
    FieldDescriptor.TYPE_UINT32: (0, 2**31),
    FieldDescriptor.TYPE_UINT64: (0, 2**63),
}
"""Unsigned fields up to Java's signed range, in which its classes keep them."""


def random_commands(seed: int, count: int) -> Iterator[api.BaseCommand]:
    """Commands of every type, `count` of each, with random fields."""
    random_one = random.Random(seed)  # noqa: S311 - no secret
    for number in api.BaseCommand.Type.values():
        for _ in range(count):
            field = api.BaseCommand.DESCRIPTOR.fields_by_number[number]
            command = api.BaseCommand(type=api.BaseCommand.Type.Name(number))
            content = getattr(command, field.name)
            content.SetInParent()
            fill(content, random_one)
            yield command


def fill(message: Message, random_one: random.Random) -> None:
    """Set all required fields of a message and some of the others."""
    descriptor: Descriptor = message.DESCRIPTOR  # type: ignore[assignment]  # upb's or Python's own
    for field in descriptor.fields:
        if not field.is_required and random_one.random() < 0.3:
            continue
        if field.is_repeated:
            for _ in range(random_one.randrange(3)):
                fill(getattr(message, field.name).add(), random_one)
        elif field.message_type is not None:
            fill(getattr(message, field.name), random_one)
            getattr(message, field.name).SetInParent()
        else:
            setattr(message, field.name, _value(field, random_one))


def _value(field: FieldDescriptor, random_one: random.Random) -> int | str | bytes | bool:
    if field.enum_type is not None:
        known = [n for n in field.enum_type.values_by_number if n != api.Schema.EXTERNAL]
        return random_one.choice(known)  # Pulsar 4.0.7 does not know EXTERNAL
    if field.type == FieldDescriptor.TYPE_BOOL:
        return random_one.random() < 0.5
    if field.type == FieldDescriptor.TYPE_STRING:
        return random_one.choice(("", "a", "é", "𝄞", "persistent://a/b/c"))
    if field.type == FieldDescriptor.TYPE_BYTES:
        return random_one.randbytes(random_one.randrange(20))
    low, high = _BITS[field.type]
    return random_one.choice((0, 1, low, high - 1, random_one.randrange(low, high)))
