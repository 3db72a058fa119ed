"""Whether all text of a payload is UTF-8, where the protobuf library does not look and Java does.

The library forgets what is replaced: of a message that it has parsed nobody can tell whether text
that another one replaced was UTF-8. So it parses such payloads once more, by a message that holds
their text alone, each as an item of a list, in proto3, where the library looks at every one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gitops.compatibility.protobuf_native.descriptors import Label, Type
from gitops.replay.kernel.protobuf.plan import Fields, Slot

Check = Callable[[bytes], object]
"""Raises where text that Java looks at may not be UTF-8."""

_Messages = dict[int, tuple[str, Fields]]
"""All messages in one, with names for them, by their ids."""

_ROOT: Final = "M0"


def check_of(plan: Fields) -> Check | None:
    """The check of a message's payloads; None where the library looks at all that Java does."""
    messages: _Messages = {}
    _collect(plan, messages)
    if not any(_is_missed(slot) for _, one in messages.values() for slot in one.slots.values()):
        return None
    parse = _parser(messages)

    def check(payload: bytes) -> None:
        if not payload.isascii():
            parse(payload)

    return check


def _parser(messages: _Messages) -> Check:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="text.proto", syntax="proto3")
    for name, fields in messages.values():
        into = file.message_type.add(name=name)
        for slot in fields.slots.values():
            _add(slot, into, messages)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(_ROOT)).FromString


def _collect(fields: Fields, messages: _Messages) -> None:
    if id(fields) not in messages:
        messages[id(fields)] = f"M{len(messages)}", fields
        for slot in fields.slots.values():
            if slot.inner is not None:
                _collect(slot.inner, messages)


def _is_missed(slot: Slot) -> bool:
    return slot.field.type is Type.STRING and slot.field.only_java


def _add(slot: Slot, into: Any, messages: _Messages) -> None:  # noqa: ANN401
    """A list, so that nothing replaces it; fields without text are unknown ones."""
    if slot.inner is None and not _is_missed(slot):
        return
    number, kind = slot.field.number, slot.field.type.value
    field = into.field.add(name=f"f{number}", number=number, type=kind, label=Label.REPEATED.value)
    if slot.inner is not None:
        field.type_name = messages[id(slot.inner)][0]
