"""The differences between two PROTOBUF_NATIVE definitions, as changes of named places."""

from __future__ import annotations

from collections.abc import Iterator

from gitops.model.plan import ChangeKind, SchemaChange
from gitops.schemas.protobuf_native.descriptors import ReservedFields
from gitops.schemas.protobuf_native.field_matching import match
from gitops.schemas.protobuf_native.parser import resolve
from gitops.schemas.protobuf_native.schema import (
    Enum,
    EnumValue,
    Field,
    Message,
    Schema,
    SchemaFile,
    join,
    render_field,
    render_labelled_type,
)

# The differences between two fields, two enums, or what two messages reserve.

_NONE = "–"


def addition(path: str, after: str) -> SchemaChange:
    """Something that was not there."""
    return SchemaChange(kind=ChangeKind.ADDED, path=path, after=after)


def removal(path: str, before: str) -> SchemaChange:
    """Something that is no longer there."""
    return SchemaChange(kind=ChangeKind.REMOVED, path=path, before=before)


def change(path: str, before: str, after: str, note: str = "") -> SchemaChange:
    """Something that is there in another way."""
    return SchemaChange(kind=ChangeKind.CHANGED, path=path, before=before, after=after, note=note)


def field_changes(
    before: tuple[Field, Message], after: tuple[Field, Message], path: str
) -> Iterator[SchemaChange]:
    """What differs between two fields, each with its message."""
    old, new = before[0], after[0]
    yield from _part_value(path, "name", old.name, new.name)
    yield from _part_value(path, "number", str(old.number), str(new.number))
    yield from _type(old, new, path)
    yield from _part_value(path, "default", _default(old), _default(new))
    yield from _part_value(path, "oneof", _oneof(*before), _oneof(*after))
    if old.oneof is None and new.oneof is None and old.repeated == new.repeated:
        yield from _part_value(path, "presence", _presence(old), _presence(new))
    if old.type is new.type and old.packed != new.packed and old.repeated and new.repeated:
        sides = ("packed" if field.packed else "not packed" for field in (old, new))
        yield change(path, next(sides), next(sides), "readers accept both")
    if old.type is new.type:
        yield from _part_value(path, "UTF-8", _utf8_check(old), _utf8_check(new))


def enum_changes(old: Enum, new: Enum, path: str) -> Iterator[SchemaChange]:
    """What differs between the values of two enums."""
    names = {value.name for value in new.values}
    free = {value.number: value for value in reversed(old.values) if value.name not in names}
    kept: set[EnumValue] = set()
    for value in new.values:
        if value.name in old.numbers:
            numbers = old.numbers[value.name], value.number
            yield from _part_value(path, value.name, str(numbers[0]), str(numbers[1]))
        elif value.number in free:
            before = free.pop(value.number)
            kept.add(before)
            yield change(path, _shown(before), _shown(value), "renamed")
        else:
            yield addition(path, _shown(value))
    for value in old.values:
        if value.name not in names and value not in kept:
            yield removal(path, _shown(value))
    yield from _part_value(path, "enum", _closed(old), _closed(new))
    yield from reserved_changes(old, new, path)


def reserved_changes(old: Message | Enum, new: Message | Enum, path: str) -> Iterator[SchemaChange]:
    """What differs between the numbers and names that nobody may use again."""
    yield from _part_value(path, "reserved", _reserved(old.reserved), _reserved(new.reserved))


def _type(old: Field, new: Field, path: str) -> Iterator[SchemaChange]:
    before, after = render_labelled_type(old), render_labelled_type(new)
    if before != after:
        yield change(path, before, after)
    elif old.named and new.named and not old.entry:
        yield from _part_value(path, "type", old.named.full_name, new.named.full_name)


def _default(field: Field) -> str:
    return _NONE if field.default is None else field.default


def _oneof(field: Field, message: Message) -> str:
    return _NONE if field.oneof is None else message.oneofs[field.oneof]


def _presence(field: Field) -> str:
    return "explicit" if field.presence else "implicit"


def _utf8_check(field: Field) -> str:
    if not field.checks_utf8:
        return "unchecked"
    return "checked in Java" if field.only_java else "checked"


def _wire_format(message: Message) -> str:
    return "message set" if message.message_set else "message"


def _closed(enum: Enum) -> str:
    return "closed" if enum.closed else "open"


def _shown(value: EnumValue) -> str:
    return f"value {value.name} = {value.number}"


def _reserved(reserved: ReservedFields) -> str:
    ranges = [str(a) if a == b else f"{a} to {b}" for a, b in reserved.ranges]
    names = [f'"{name}"' for name in sorted(reserved.names)]
    return ", ".join([*ranges, *names]) or _NONE


def _part_value(path: str, what: str, before: str, after: str) -> Iterator[SchemaChange]:
    if before != after:
        yield change(path, f"{what} {before}", f"{what} {after}")


# The differences between two PROTOBUF_NATIVE definitions, as changes of named places.
#
# The broker compares bytes: a definition in which no message differs is a new version all the
# same (Pulsar 4.0.7).


_VALUE = 2
"""The number of the value in a map's entry."""


def differences(before: bytes, after: bytes) -> tuple[SchemaChange, ...]:
    """Every difference, in the order of the new definition; raises InvalidEnvelopeError.

    Nothing for equal bytes.
    """
    if before == after:
        return ()
    changes = tuple(_Diff(resolve(before), resolve(after)).changes())
    return changes or (_LAYOUT_ONLY,)


_LAYOUT_ONLY = SchemaChange(
    kind=ChangeKind.CHANGED,
    path="definition",
    after="layout only",
    note="no message or enum differs, and yet it is a new version to Pulsar",
)


class _Diff:
    """One comparison; a pair of types is compared once, so recursion ends."""

    def __init__(self, old: Schema, new: Schema) -> None:
        self._old, self._new = old, new
        self._waiting: list[tuple[Message, Message, str]] = []
        self._seen: set[tuple[Message | Enum, Message | Enum]] = set()

    def changes(self) -> Iterator[SchemaChange]:
        yield from _value("root message", self._old.root.full_name, self._new.root.full_name)
        yield from _files(self._old, self._new)
        self._enter(self._old.root, self._new.root, "")
        yield from self._walk()
        yield from self._messages_alone()
        yield from self._enums_alone()
        yield from self._other_types()

    def _enter(self, old: Message, new: Message, path: str) -> None:
        if (old, new) not in self._seen:
            self._seen.add((old, new))
            self._waiting.append((old, new, path))

    def _walk(self) -> Iterator[SchemaChange]:
        """Depth first, as people read; without recursion, since messages nest as they like."""
        while self._waiting:
            old, new, path = self._waiting.pop()
            below = len(self._waiting)
            yield from self._messages(old, new, path)
            self._waiting[below:] = reversed(self._waiting[below:])

    def _messages(self, old: Message, new: Message, path: str) -> Iterator[SchemaChange]:
        matched = match(old, new)
        earlier = {after: before for before, after in matched.same}
        for field in new.fields:
            before = earlier.get(field)
            place = _place(path, field, new)
            if before is None:
                yield addition(place, render_field(field))
            else:
                yield from field_changes((before, old), (field, new), place)
                yield from self._types(before, field, place)
        for field in matched.removed:
            yield removal(_place(path, field, old), render_field(field))
        place = path or new.full_name
        yield from _part_value(place, "layout", _wire_format(old), _wire_format(new))
        yield from reserved_changes(old, new, place)

    def _types(self, old: Field, new: Field, path: str) -> Iterator[SchemaChange]:
        if old.message and new.message:
            self._enter(old.message, new.message, _inside(path, new))
        elif old.enum and new.enum and (old.enum, new.enum) not in self._seen:
            self._seen.add((old.enum, new.enum))
            yield from enum_changes(old.enum, new.enum, path)

    def _messages_alone(self) -> Iterator[SchemaChange]:
        """Messages that the root does not lead to; their place is their own name."""
        earlier = {item.full_name: item for item in self._old.messages}
        for message in self._new.messages:
            old = earlier.get(message.full_name)
            if old is not None and not old.map_entry:
                self._enter(old, message, message.full_name)
                yield from self._walk()

    def _enums_alone(self) -> Iterator[SchemaChange]:
        earlier = {item.full_name: item for item in self._old.enums}
        for enum in self._new.enums:
            old = earlier.get(enum.full_name)
            if old is not None and (old, enum) not in self._seen:
                self._seen.add((old, enum))
                yield from enum_changes(old, enum, enum.full_name)

    def _other_types(self) -> Iterator[SchemaChange]:
        """Types that came or went; one that was compared with one of another name did not."""
        known = {item for pair in self._seen for item in pair}
        for name, kind in _types(self._new, known):
            yield addition(name, kind)
        for name, kind in _types(self._old, known):
            yield removal(name, kind)


def _types(schema: Schema, known: set[Message | Enum]) -> Iterator[tuple[str, str]]:
    """Names and kinds of what is not `known`; the entries of maps are parts of their fields."""
    for message in schema.messages:
        if message not in known and not message.map_entry:
            yield message.full_name, "message"
    for enum in schema.enums:
        if enum not in known:
            yield enum.full_name, "enum"


def _files(old: Schema, new: Schema) -> Iterator[SchemaChange]:
    """The root's file is the same whatever its name; the others go by their names."""
    *imported, own = old.files
    earlier = {file.name: file for file in imported}
    *imports, root = new.files
    yield from _value("file", own.name, root.name)
    yield from _file(own, root, "")
    names = {file.name for file in imports}
    for file in imports:
        if file.name in earlier:
            yield from _file(earlier[file.name], file, f" of {file.name}")
        else:
            yield addition("import", file.name)
    for file in imported:
        if file.name not in names:
            yield removal("import", file.name)


def _file(old: SchemaFile, new: SchemaFile, where: str) -> Iterator[SchemaChange]:
    yield from _value(f"package{where}", old.package or "–", new.package or "–")
    yield from _value(f"syntax{where}", old.syntax, new.syntax)


def _value(path: str, before: str, after: str) -> Iterator[SchemaChange]:
    if before != after:
        yield change(path, before, after)


def _place(path: str, field: Field, message: Message) -> str:
    """`labels{}` for the value of a map: its entries have no place of their own."""
    if message.map_entry and field.number == _VALUE and path.endswith("{}"):
        return path
    return join(path, field.name)


def _inside(path: str, field: Field) -> str:
    if field.entry:
        return f"{path}{{}}"
    return f"{path}[]" if field.repeated else path
