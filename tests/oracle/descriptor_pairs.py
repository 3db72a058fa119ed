"""Random pairs of Protobuf definitions, of which the second is the first with a few changes."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

ROOT: Final = "Root"
_LABELS: Final[Any] = (1, 2, 3)
_OPTIONAL, _REQUIRED, _REPEATED = _LABELS
_KINDS: Final[Any] = (11, 14)
_MESSAGE, _ENUM = _KINDS
_SCALARS: Final = tuple(each for each in range(1, 19) if each not in (10, _MESSAGE, _ENUM))
_TYPES: Final = (*_SCALARS, *[_MESSAGE] * 6, *[_ENUM] * 3)
_NUMBERS: Final = range(1, 10)
_MESSAGES: Final = (ROOT, "Line", "Item", "Leaf")
"""Each has fields of those behind it alone, so that every message has an end."""
_ENUMS: Final = ("Colour", "Size")
_SYMBOLS: Final = 5


@dataclass(slots=True, kw_only=True)
class _Field:
    name: str
    number: int
    type: Any
    label: Any
    refers_to: str = ""
    is_map: bool = False
    in_oneof: bool = False


@dataclass(slots=True, kw_only=True)
class Definition:
    """Messages with their fields, and enums with their numbers by name."""

    syntax: str
    messages: dict[str, list[_Field]] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)

    def files(self) -> bytes:
        """A set of the one file that defines them."""
        file = FileDescriptorProto(name="a.proto")
        if self.syntax != "proto2":  # which protoc does not name
            file.syntax = self.syntax
        for name, symbols in self.enums.items():
            enum = file.enum_type.add(name=name)
            for symbol, number in symbols.items():
                enum.value.add(name=symbol, number=number)
        for name, fields in self.messages.items():
            self._message(file.message_type.add(name=name), fields)
        return FileDescriptorSet(file=[file]).SerializeToString()

    def _message(self, made: DescriptorProto, fields: list[_Field]) -> None:
        if any(one.in_oneof for one in fields):
            made.oneof_decl.add(name="choice")
        for one in fields:
            place = made.field.add(name=one.name, number=one.number)
            if one.is_map:
                _map(made, place, one)
                continue
            is_plain = one.in_oneof or (one.label == _REQUIRED and self.syntax == "proto3")
            place.label = _OPTIONAL if is_plain else one.label
            _set_type(place, one)
            if one.in_oneof:
                place.oneof_index = 0


def _set_type(place: FieldDescriptorProto, one: _Field) -> None:
    place.type = one.type
    if one.refers_to:
        place.type_name = f".{one.refers_to}"


def _map(made: DescriptorProto, place: FieldDescriptorProto, one: _Field) -> None:
    """A map of texts to values of the field's type."""
    entry = made.nested_type.add(name=f"{one.name.title()}Entry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=_OPTIONAL, type=9)
    _set_type(entry.field.add(name="value", number=2, label=_OPTIONAL), one)
    place.label, place.type = _REPEATED, _MESSAGE
    # Relative names are resolved from the message outwards.
    place.type_name = f"{made.name}.{entry.name}"


class DescriptorPairs:
    """Pairs drawn from `random`."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def pair(self) -> tuple[Definition, Definition]:
        """An old definition and a new one."""
        old = self._definition()
        new = deepcopy(old)
        for _ in range(self._random.choice((1, 1, 1, 2, 3))):
            self._change(new)
        return old, new

    def _definition(self) -> Definition:
        made = Definition(syntax=self._random.choice(("proto2", "proto3")))
        for at, name in enumerate(_ENUMS):
            made.enums[name] = {f"{'ABCDE'[n]}{at}": n for n in range(3)}
        for name in _MESSAGES:
            numbers = self._random.sample(_NUMBERS, self._random.randint(1, 4))
            made.messages[name] = [self._field(name, number) for number in numbers]
        return made

    def _field(self, message: str, number: int) -> _Field:
        label = self._random.choice((_OPTIONAL, _OPTIONAL, _REQUIRED, _REPEATED))
        one = _Field(name=f"field{number}", number=number, type=0, label=label)
        self._type(message, one)
        one.is_map = self._random.random() < 0.1
        return one

    def _type(self, message: str, one: _Field) -> None:
        behind = _MESSAGES[_MESSAGES.index(message) + 1 :]
        one.type = self._random.choice(_TYPES)
        if one.type == _MESSAGE and not behind:
            one.type = _ENUM
        names = {_MESSAGE: behind, _ENUM: _ENUMS}.get(one.type)
        one.refers_to = self._random.choice(names) if names else ""

    # ------------------------------------------------------------ changes

    def _change(self, made: Definition) -> None:
        changes: tuple[Callable[[Definition, str, list[_Field]], None], ...] = (
            self._retype,
            self._retype,
            self._relabel,
            self._add,
            self._remove,
            self._renumber,
            self._choose,
            self._enum,
        )
        name = self._random.choice((ROOT, ROOT, *_MESSAGES))
        self._random.choice(changes)(made, name, made.messages[name])

    def _retype(self, _: Definition, name: str, fields: list[_Field]) -> None:
        if fields:
            self._type(name, self._random.choice(fields))

    def _relabel(self, _: Definition, __: str, fields: list[_Field]) -> None:
        if fields:
            one = self._random.choice(fields)
            one.label = self._random.choice((_OPTIONAL, _REQUIRED, _REPEATED))

    def _add(self, _: Definition, name: str, fields: list[_Field]) -> None:
        if free := sorted(set(_NUMBERS) - {one.number for one in fields}):
            one = self._field(name, self._random.choice(free))
            one.name = f"added{one.number}"
            fields.append(one)

    def _remove(self, _: Definition, __: str, fields: list[_Field]) -> None:
        if len(fields) > 1:
            fields.remove(self._random.choice(fields))

    def _renumber(self, _: Definition, __: str, fields: list[_Field]) -> None:
        free = sorted(set(_NUMBERS) - {one.number for one in fields})
        if fields and free:
            self._random.choice(fields).number = self._random.choice(free)

    def _choose(self, _: Definition, __: str, fields: list[_Field]) -> None:
        """Into a oneof; of one that is always written each other one would be lost unread."""
        for one in fields:
            one.in_oneof = one.label == _OPTIONAL and not one.is_map

    def _enum(self, made: Definition, _: str, __: list[_Field]) -> None:
        """A symbol goes, comes, or has another number; 0 stays, which proto3 asks for."""
        symbols = made.enums[self._random.choice(_ENUMS)]
        free = sorted(set(range(_SYMBOLS)) - set(symbols.values()))
        others = [name for name, number in symbols.items() if number]
        if self._random.random() < 0.5 and others:
            del symbols[self._random.choice(others)]
        elif free and self._random.random() < 0.5 and others:
            symbols[self._random.choice(others)] = free[0]
        elif free:
            symbols[f"N{free[0]}_{len(symbols)}"] = free[0]
