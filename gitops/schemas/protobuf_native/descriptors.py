"""The descriptors of Protobuf: what linking looks at, and what a comparison looks at."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import IntEnum
from operator import itemgetter

from gitops.schemas.jackson import JACKSON_2_17, Jackson


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
class Features:
    """Numbers of `FeatureSet`'s enums; 0 where the place says nothing."""

    field_presence: int = 0
    enum_type: int = 0
    repeated_field_encoding: int = 0
    utf8_validation: int = 0
    message_encoding: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedFields:
    """Numbers and names that nobody may use again.

    A range is its first and its last number; they are in order and do not touch each other.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    names: frozenset[str] = frozenset()

    def has(self, number: int) -> bool:
        """Whether a number is reserved."""
        at = bisect_right(self.ranges, number, key=itemgetter(0))
        return at > 0 and number <= self.ranges[at - 1][1]


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
    json_name: str | None
    proto3_optional: bool
    packed: bool | None
    features: Features


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumType:
    """An enum, the names of its values and their numbers."""

    name: str
    values: tuple[str, ...]
    numbers: tuple[int, ...]
    reserved: ReservedFields
    features: Features


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message; `oneofs` are their names.

    The bounds of its extension ranges are sorted each for itself, the ends outside the ranges.
    """

    name: str
    fields: tuple[Field, ...]
    messages: tuple[Message, ...]
    enums: tuple[EnumType, ...]
    extensions: tuple[Field, ...]
    extension_starts: tuple[int, ...]
    extension_ends: tuple[int, ...]
    oneofs: tuple[str, ...]
    message_set: bool
    map_entry: bool
    reserved: ReservedFields
    features: Features


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
    """A `.proto` file; `public_dependencies` are indexes into `dependencies`.

    `checks_text`: it has the option `java_string_check_utf8`.
    """

    name: str
    package: str
    syntax: str
    features: Features
    dependencies: tuple[str, ...]
    public_dependencies: tuple[int, ...]
    messages: tuple[Message, ...]
    enums: tuple[EnumType, ...]
    services: tuple[Service, ...]
    extensions: tuple[Field, ...]
    checks_text: bool = False
    edition: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptorRules:
    """How strict a version of protobuf-java is; the defaults are those of 3.25.5 (Pulsar 4.0.7).

    `editions` are the numbers that it knows, None where it takes any. `message_set_fields`: a
    message set may have fields. `jackson` reads the JSON around the descriptors. `exact` as of
    Pulsar 5.0.1: the root message is looked for by its exact name first, and imports in a circle
    are an error like others.
    """

    editions: frozenset[int] | None = None
    message_set_fields: bool = False
    jackson: Jackson = JACKSON_2_17
    exact: bool = False
