"""Many Protobuf messages at once, by the protobuf library where it is installed."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from graphlib import TopologicalSorter
from itertools import chain
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, Final

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.payload_column import AmbiguousBatchError, Counts
from gitops.replay.kernel.protobuf.rows import enum_value
from gitops.replay.kernel.protobuf.schema_pair import Fields, Slot
from gitops.replay.kernel.protobuf.wire_format import raw_of, value_of
from gitops.replay.kernel.protocol import CountKey, CountKind
from gitops.schemas.protobuf_native.descriptors import Label, Type

if TYPE_CHECKING:
    from google.protobuf.message import Message


Check = Callable[[bytes], object]
"""Raises where text that Java looks at may not be UTF-8."""

_Messages = dict[int, tuple[str, Fields]]
"""All messages in one, with names for them, by their ids."""

_ROOT: Final = "M0"


def check_of(plan: Fields) -> Check | None:
    """The check of a message's payloads; None where the library looks at all that Java does."""
    messages: _Messages = {}
    _collect(plan, messages)
    if not any(
        _is_missed(slot) for _, fields in messages.values() for slot in fields.slots.values()
    ):
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


# The library counts exactly what `rows.read` counts, or raises AmbiguousBatchError, which sends the
# rows there.


_WHOLE: Final = frozenset(
    {Type.INT64, Type.UINT64, Type.SINT64, Type.STRING, Type.BYTES, Type.MESSAGE}
)
"""Types whose value tells all that was on the wire."""

_VALUE: Final = 2
"""The number of the value in a map's entry."""


def message_class(info: SchemaInfo, plan: Fields) -> type[Message] | None:
    """The library's class of the message; None where the library cannot help.

    It may not be installed, it may be stricter than Java about a definition, and of a field
    whose type is another one than the writer's it does not tell what was written.
    """
    if info.type is SchemaType.PROTOBUF or not all(map(_is_known_by_library, _slots(plan, set()))):
        return None
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        return None
    try:
        envelope = json.loads(info.schema)
        data = base64.b64decode(envelope["fileDescriptorSet"])
        pool = descriptor_pool.DescriptorPool()
        for file in _in_order(descriptor_pb2.FileDescriptorSet.FromString(data).file):
            _without_extensions(file)
            pool.Add(file)
        root = pool.FindMessageTypeByName(envelope["rootMessageTypeName"])
        return message_factory.GetMessageClass(root)
    except Exception:  # noqa: BLE001 - whatever the library minds, it is not needed
        return None


def _in_order(files: Iterable[Any]) -> Iterator[Any]:
    """Each behind those that it imports: Pulsar's Java client puts them in any order (4.0.7)."""
    by_name = {file.name: file for file in files}
    imports = {name: [*file.dependency] for name, file in by_name.items()}
    return (by_name[name] for name in TopologicalSorter(imports).static_order() if name in by_name)


def _without_extensions(part: Any) -> None:  # noqa: ANN401 - a file or a message
    """So that they are unknown fields, as for readers who were not told of them."""
    part.ClearField("extension")
    for inner in part.nested_type if hasattr(part, "nested_type") else part.message_type:
        _without_extensions(inner)


def needs_required(fields: Fields) -> bool:
    """Whether a message can lack a field that it must have."""
    return any(slot.required for slot in _slots(fields, set()))


def forgets_numbers(fields: Fields) -> bool:
    """Whether there are numbers that the library takes, and Java for unknown fields.

    The library does not tell of those that were replaced. Only a message that it writes as it was
    read had none: others may be longer than what was read, so their sizes prove nothing.
    """
    return any(
        slot.field.only_java and slot.field.type is Type.ENUM for slot in _slots(fields, set())
    )


def _slots(fields: Fields, seen: set[int]) -> Iterator[Slot]:
    """All fields of all messages in it."""
    if id(fields) not in seen:
        seen.add(id(fields))
        for slot in fields.slots.values():
            yield slot
            if slot.inner is not None:
                yield from _slots(slot.inner, seen)


def count(plan: Fields, messages: Sequence[Any]) -> Counts:
    """The counts of parsed messages; raises AmbiguousBatchError."""
    counts: Counts = Counter()
    _messages(plan, messages, CountKey(plan.path, CountKind.READ), counts)
    return counts


def _is_known_by_library(slot: Slot) -> bool:
    return not slot.retyped or slot.field.type in _WHOLE


def _messages(fields: Fields, messages: Sequence[Any], read: CountKey, counts: Counts) -> None:
    counts[read] += len(messages)
    for slot in fields.slots.values():
        _slot(slot, messages, counts)
    for oneof in fields.oneofs:
        chosen = Counter(map(methodcaller("WhichOneof", oneof.name), messages))
        counts[CountKey(oneof.path, CountKind.READ)] += len(messages)
        for name, times in chosen.items():
            counts[CountKey(oneof.path, CountKind.BRANCH, name or "null")] += times
        if chosen[None]:
            counts[CountKey(oneof.path, CountKind.NULLS)] += chosen[None]
    _unknown(fields, messages, counts)


def _unknown(fields: Fields, messages: Iterable[Any], counts: Counts) -> None:
    from google.protobuf.unknown_fields import UnknownFieldSet

    for message in messages:
        for value in UnknownFieldSet(message):  # type: ignore[attr-defined] # it is a sequence
            number = value.field_number
            if number in fields.slots:
                raise AmbiguousBatchError  # of another wire type, or a number that no enum names
            star = f"{fields.path}.*" if fields.path else "*"
            counts[CountKey(fields.dropped.get(number, star), CountKind.DROPPED)] += 1


def _slot(slot: Slot, messages: Sequence[Any], counts: Counts) -> None:
    if slot.field.repeated:
        _repeated(slot, messages, counts)
    elif slot.field.presence:
        has = methodcaller("HasField", slot.field.name)
        given = [message for message in messages if has(message)]
        _absent(slot, len(messages) - len(given), counts)
        _values(slot, list(map(_getter(slot), given)), counts)
    else:
        values = list(map(_getter(slot), messages))
        if slot.written is None:
            given = [value for value in values if value]
            _absent(slot, len(values) - len(given), counts)
            values = given
        _values(slot, values, counts)


def _repeated(slot: Slot, messages: Sequence[Any], counts: Counts) -> None:
    lists = [value for value in map(_getter(slot), messages) if value]
    _absent(slot, len(messages) - len(lists), counts)
    if not lists:
        return
    counts[CountKey(slot.path, CountKind.READ)] += len(lists)
    entry = slot.field.entry
    if entry is None:
        _values(slot, list(chain.from_iterable(lists)), counts)
    elif slot.inner is not None:
        inner = slot.inner.slots[_VALUE]
        values = _entries(lists)
        if inner.written is None and not all(map(_is_given, values)):
            raise AmbiguousBatchError  # an entry may lack its value, or have it at its default
        _values(inner, values, counts)


def _entries(maps: Sequence[Any]) -> list[Any]:
    """The values of maps."""
    try:
        return list(chain.from_iterable(value.values() for value in maps))
    except UnicodeDecodeError:  # on the way to a key that is not UTF-8, which proto2 lets in
        raise AmbiguousBatchError from None


def _is_given(value: Any) -> bool:  # noqa: ANN401 - of any type that a map may have
    return bool(value.ByteSize() if hasattr(value, "ByteSize") else value)


def _absent(slot: Slot, times: int, counts: Counts) -> None:
    if not times:
        return
    if slot.written is None:
        counts[CountKey(slot.path, CountKind.DEFAULTED)] += times
        return
    counts[CountKey(slot.path, CountKind.READ)] += times
    if slot.field.presence:
        counts[CountKey(slot.path, CountKind.NULLS)] += times


def _values(slot: Slot, values: list[Any], counts: Counts) -> None:
    if not values:
        return
    if slot.retyped:
        counts[CountKey(slot.item, CountKind.PROMOTED)] += len(values)
    read = CountKey(slot.item, CountKind.READ)
    if slot.inner is not None:
        _messages(slot.inner, values, read, counts)
    else:
        counts[read] += len(values)
        _scalars(slot, values, counts)


def _scalars(slot: Slot, values: list[Any], counts: Counts) -> None:
    if slot.field.type is Type.STRING and bytes in set(map(type, values)):
        raise AmbiguousBatchError  # the library's way to say that it is not UTF-8
    if slot.names is not None:
        for number, times in Counter(values).items():
            if slot.field.closed and number not in slot.names:
                raise AmbiguousBatchError  # for the library it is the enum's own file that says so
            for key in enum_value(slot, number):
                counts[key] += times
    elif slot.retyped and (changed := sum(_is_changed(slot, value) for value in values)):
        counts[CountKey(slot.item, CountKind.CHANGED)] += changed


def _is_changed(slot: Slot, value: int | str | bytes) -> bool:
    if slot.written is None or isinstance(value, str | bytes):
        return False
    try:
        return bool(value_of(slot.written.type, raw_of(slot.field.type, value)) != value)
    except (TypeError, AttributeError):
        return False


def _getter(slot: Slot) -> Callable[[Any], Any]:
    return attrgetter(slot.field.name)
