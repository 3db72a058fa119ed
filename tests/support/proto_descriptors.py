"""Random file descriptors as protoc makes them, from a source of choices."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileOptions,
    MethodOptions,
)

_SCALARS: Final[Any] = tuple(n for n in range(1, 19) if n not in (10, 11, 14))
_KEYS: Final[Any] = (3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 18)
_DEFAULTS: Final = {
    1: ("inf", "-1.5", "nan"), 2: ("0.25", "-inf"), 3: ("-9223372036854775808",),
    5: ("7", "-1"), 8: ("true", "false"), 9: ("", 'a "b" \\ \n\té\x01', "?"),
    12: (r"\000\377\"x\\",), 13: ("4294967295",),
}  # fmt: skip
_NAMES: Final = ("A", "p", "a", "Line", "q")
_LABELS: Final[Any] = (1, 2, 3)
_OPTIONAL, _REQUIRED, _REPEATED = _LABELS
_TYPES: Final[Any] = (10, 11, 14)
_GROUP, _MESSAGE, _ENUM = _TYPES


class RandomFile:
    """One file; messages may be named like packages, and like each other in other scopes."""

    def __init__(self, random: Random, name: str, known: tuple[RandomFile, ...]) -> None:
        self._random = random
        self._count = 1000 * len(known)
        self.file = FileDescriptorProto(name=name, package=random.choice(["p", "a.p"]))
        self._proto2 = random.random() < 0.5
        if not self._proto2:
            self.file.syntax = "proto3"
        self.messages: list[str] = [
            name for each in known for name in each.messages if "google" not in name
        ]
        self.enums = [name for each in known for name in each.open_enums]
        self.open_enums: list[str] = list(self.enums) if not self._proto2 else []
        self.file.dependency.extend(each.file.name for each in known)
        self.file.public_dependency.extend(i for i in range(len(known)) if self._chance(0.3))
        if self._chance(0.3):
            self.file.dependency.append("google/protobuf/timestamp.proto")
            self.messages.append(".google.protobuf.Timestamp")
        if self._chance(0.5):
            self.file.options.java_package = "shop"
            self.file.options.optimize_for = FileOptions.CODE_SIZE
            self.file.options.deprecated = True
        self._fill(self.file.message_type, self.file.enum_type, self.file.package, name[:1], 0)
        self._services()

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _new(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def _fill(self, messages, enums, scope: str, suffix: str, depth: int) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - repeated fields of the library
        for _ in range(self._random.randrange(3)):
            self._enum(enums.add(), scope)
        for name in self._random.sample(_NAMES, self._random.randrange(4 - depth)):
            own = name if depth else f"{name}{suffix}"
            self._message(messages.add(name=own), f"{scope}.{own}", depth)

    def _enum(self, enum: EnumDescriptorProto, scope: str) -> None:
        enum.name = self._new("E")
        for number in range(self._random.randrange(1, 4)):
            value = enum.value.add(name=self._new("V"), number=number)
            if self._chance(0.2):
                value.options.deprecated = True
        if self._chance(0.3):
            enum.value.add(name=self._new("V"), number=0)
            enum.options.allow_alias = True
        if self._chance(0.3):
            enum.reserved_range.add(start=-5, end=-5)
            enum.reserved_range.add(start=100, end=self._random.choice([200, (1 << 31) - 1]))
            enum.reserved_name.append("GONE")
        self.enums.append(f".{scope}.{enum.name}")
        if not self._proto2:
            self.open_enums.append(f".{scope}.{enum.name}")

    def _message(self, message: DescriptorProto, name: str, depth: int) -> None:
        if depth < 2:
            self._fill(message.nested_type, message.enum_type, name, "", depth + 1)
        self.messages.append(f".{name}")
        numbers = iter(range(1, 100))
        for _ in range(self._random.randrange(6)):
            kind = self._random.randrange(6)
            if kind == 0:
                self._map(message, name, next(numbers))
            elif kind == 1:
                self._oneof(message, name, numbers)
            elif kind == 2 and self._proto2:
                self._group(message, name, next(numbers), self._random.choice(_LABELS), depth)
            else:
                self._field(message.field.add(), next(numbers))
        for field in message.field:
            if field.proto3_optional:
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")
        self._numbers(message, name)

    def _numbers(self, message: DescriptorProto, name: str) -> None:
        """Reserved numbers, those of extensions, and extensions of the message itself."""
        if self._chance(0.3):
            message.reserved_range.add(start=200, end=201)
            message.reserved_range.add(start=300, end=400)
            message.reserved_name.extend(["gone", "away"])
        if self._proto2 and self._chance(0.4):
            message.extension_range.add(start=1000, end=1001)
            message.extension_range.add(start=2000, end=self._random.choice([3000, 1 << 29]))
            field = message.extension.add(extendee=f".{name}")
            self._field(field, 1000, required=False)
            self.file.extension.add(
                name=self._new("x"), extendee=f".{name}", number=2000, label=3, type=5
            ).options.packed = True

    def _field(
        self, field: FieldDescriptorProto, number: int, *, alone: bool = True, required: bool = True
    ) -> None:
        """A field; one in a oneof, or an extension, has not every label."""
        field.name, field.number = self._new("f_"), number
        labels = [_OPTIONAL] + [_REPEATED] * alone + [_REQUIRED] * (required and self._proto2)
        field.label = self._random.choice(labels if alone else [_OPTIONAL])
        kind = self._random.random()
        if kind < 0.3 and self.messages:
            field.type, field.type_name = _MESSAGE, self._random.choice(self.messages)
        elif kind < 0.5 and (enums := self.enums if self._proto2 else self.open_enums):
            field.type, field.type_name = _ENUM, self._random.choice(enums)
        else:
            field.type = self._random.choice(_SCALARS)
        if self._proto2 and field.label == _OPTIONAL and field.type in _DEFAULTS:
            field.default_value = self._random.choice(_DEFAULTS[field.type])
        is_plain = alone and required and not self._proto2 and field.label == _OPTIONAL
        if is_plain and self._chance(0.3):
            field.proto3_optional = True
        if field.label == _REPEATED and field.type in (1, 5, 8, 14):
            field.options.packed = self._chance(0.5)
        if self._chance(0.2):
            field.options.deprecated = True
        if self._chance(0.2) and required:
            field.json_name = self._random.choice([field.name, 'ä"\\']) + str(number)

    def _map(self, message: DescriptorProto, name: str, number: int) -> None:
        field_name = self._new("m_x")
        entry = message.nested_type.add(name=f"MX{field_name[3:]}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=1, type=self._random.choice(_KEYS))
        value = entry.field.add(name="value", number=2, label=1)
        if self.messages and self._chance(0.5):
            value.type, value.type_name = _MESSAGE, self._random.choice(self.messages)
        else:
            value.type = self._random.choice(_SCALARS)
        message.field.add(
            name=field_name,
            number=number,
            label=3,
            type=_MESSAGE,
            type_name=f".{name}.{entry.name}",
        )

    def _oneof(self, message: DescriptorProto, name: str, numbers) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - an iterator
        index = len(message.oneof_decl)
        message.oneof_decl.add(name=self._new("choice"))
        for _ in range(self._random.randrange(1, 4)):
            if self._proto2 and self._chance(0.2):
                self._group(message, name, next(numbers), _OPTIONAL, 2)
            else:
                self._field(message.field.add(), next(numbers), alone=False)
            message.field[-1].oneof_index = index

    def _group(
        self,
        message: DescriptorProto,
        name: str,
        number: int,
        label: Any,  # noqa: ANN401 - a number that the library types
        depth: int,
    ) -> None:
        group = self._new("G")
        made = message.nested_type.add(name=group)
        field = message.field.add(name=group.lower(), number=number, label=label, type=_GROUP)
        field.type_name = f".{name}.{group}"
        self._message(made, f"{name}.{group}", max(depth, 1) + 1)

    def _services(self) -> None:
        if self.messages and self._chance(0.3):
            method = self.file.service.add(name=self._new("S")).method.add(name="Get")
            method.input_type = self._random.choice(self.messages)
            method.output_type = self._random.choice(self.messages)
            method.client_streaming = True
            if self._chance(0.5):
                method.options.idempotency_level = MethodOptions.NO_SIDE_EFFECTS


def random_files(random: Random) -> list[FileDescriptorProto]:
    """Files that import each other, and those that protoc brings along."""
    first = RandomFile(random, "one.proto", ())
    second = RandomFile(random, "folder/two.proto", (first,))
    return [first.file, second.file]
