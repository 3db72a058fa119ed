"""The descriptors of Protobuf, as far as linking them looks at them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Label(IntEnum):
    """`FieldDescriptorProto.Label`."""

    OPTIONAL = 1
    REQUIRED = 2
    REPEATED = 3


class Type(IntEnum):
    """`FieldDescriptorProto.Type`."""

    DOUBLE = 1
    FLOAT = 2
    INT64 = 3
    UINT64 = 4
    INT32 = 5
    FIXED64 = 6
    FIXED32 = 7
    BOOL = 8
    STRING = 9
    GROUP = 10
    MESSAGE = 11
    BYTES = 12
    UINT32 = 13
    ENUM = 14
    SFIXED32 = 15
    SFIXED64 = 16
    SINT32 = 17
    SINT64 = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field or an extension; None where the descriptor does not say."""

    name: str
    number: int
    label: Label
    type: Type | None
    type_name: str | None
    extendee: str | None
    default_value: str | None
    oneof_index: int | None
    proto3_optional: bool
    packed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumType:
    """An enum and the names of its values."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message; `oneofs` counts them.

    The bounds of its extension ranges are sorted each for itself, the ends outside the ranges.
    """

    name: str
    fields: tuple[Field, ...]
    messages: tuple[Message, ...]
    enums: tuple[EnumType, ...]
    extensions: tuple[Field, ...]
    extension_starts: tuple[int, ...]
    extension_ends: tuple[int, ...]
    oneofs: int
    message_set: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method of a service."""

    name: str
    input_type: str
    output_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service and its methods."""

    name: str
    methods: tuple[Method, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A `.proto` file; `public_dependencies` are indexes into `dependencies`."""

    name: str
    package: str
    dependencies: tuple[str, ...]
    public_dependencies: tuple[int, ...]
    messages: tuple[Message, ...]
    enums: tuple[EnumType, ...]
    services: tuple[Service, ...]
    extensions: tuple[Field, ...]
