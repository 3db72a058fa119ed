"""The differences between two fields, two enums, or what two messages reserve."""

from __future__ import annotations

from collections.abc import Iterator

from gitops.compatibility.protobuf_native.descriptors import Reserved
from gitops.compatibility.protobuf_native.rendering import render_labelled
from gitops.compatibility.protobuf_native.schema import Enum, EnumValue, Field, Message
from gitops.model.plan import ChangeKind, SchemaChange

_NONE = "–"


def added(path: str, after: str) -> SchemaChange:
    """Something that was not there."""
    return SchemaChange(kind=ChangeKind.ADDED, path=path, after=after)


def removed(path: str, before: str) -> SchemaChange:
    """Something that is no longer there."""
    return SchemaChange(kind=ChangeKind.REMOVED, path=path, before=before)


def changed(path: str, before: str, after: str, note: str = "") -> SchemaChange:
    """Something that is there in another way."""
    return SchemaChange(kind=ChangeKind.CHANGED, path=path, before=before, after=after, note=note)


def field_changes(
    before: tuple[Field, Message], after: tuple[Field, Message], path: str
) -> Iterator[SchemaChange]:
    """What differs between two fields, each with its message."""
    old, new = before[0], after[0]
    yield from _value(path, "name", old.name, new.name)
    yield from _value(path, "number", str(old.number), str(new.number))
    yield from _type(old, new, path)
    yield from _value(path, "default", _default(old), _default(new))
    yield from _value(path, "oneof", _oneof(*before), _oneof(*after))
    if old.oneof is None and new.oneof is None and old.repeated == new.repeated:
        yield from _value(path, "presence", _presence(old), _presence(new))
    if old.type is new.type and old.packed != new.packed and old.repeated and new.repeated:
        sides = ("packed" if one.packed else "not packed" for one in (old, new))
        yield changed(path, next(sides), next(sides), "readers take both")


def enum_changes(old: Enum, new: Enum, path: str) -> Iterator[SchemaChange]:
    """What differs between the values of two enums."""
    names = {value.name for value in new.values}
    free = {value.number: value for value in reversed(old.values) if value.name not in names}
    kept: set[EnumValue] = set()
    for value in new.values:
        if value.name in old.numbers:
            numbers = old.numbers[value.name], value.number
            yield from _value(path, value.name, str(numbers[0]), str(numbers[1]))
        elif value.number in free:
            before = free.pop(value.number)
            kept.add(before)
            yield changed(path, _shown(before), _shown(value), "renamed")
        else:
            yield added(path, _shown(value))
    for value in old.values:
        if value.name not in names and value not in kept:
            yield removed(path, _shown(value))
    yield from _value(path, "enum", _closed(old), _closed(new))
    yield from reserved_changes(old, new, path)


def reserved_changes(old: Message | Enum, new: Message | Enum, path: str) -> Iterator[SchemaChange]:
    """What differs between the numbers and names that nobody may use again."""
    yield from _value(path, "reserved", _reserved(old.reserved), _reserved(new.reserved))


def _type(old: Field, new: Field, path: str) -> Iterator[SchemaChange]:
    before, after = render_labelled(old), render_labelled(new)
    if before != after:
        yield changed(path, before, after)
    elif old.named and new.named and not old.entry:
        yield from _value(path, "type", old.named.full_name, new.named.full_name)


def _default(field: Field) -> str:
    return _NONE if field.default is None else field.default


def _oneof(field: Field, message: Message) -> str:
    return _NONE if field.oneof is None else message.oneofs[field.oneof]


def _presence(field: Field) -> str:
    return "explicit" if field.presence else "implicit"


def _closed(enum: Enum) -> str:
    return "closed" if enum.closed else "open"


def _shown(value: EnumValue) -> str:
    return f"value {value.name} = {value.number}"


def _reserved(reserved: Reserved) -> str:
    ranges = [str(a) if a == b else f"{a} to {b}" for a, b in reserved.ranges]
    names = [f'"{name}"' for name in sorted(reserved.names)]
    return ", ".join([*ranges, *names]) or _NONE


def _value(path: str, what: str, before: str, after: str) -> Iterator[SchemaChange]:
    if before != after:
        yield changed(path, f"{what} {before}", f"{what} {after}")
