"""The messages of descriptor.proto, as far as they decide anything.

What is left out reads as an unknown field would. Options are here because a message inside them
that cannot be read spoils the whole set. Seen with protobuf-java 3.25.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final


class Kind(Enum):
    """How the value of a field is read."""

    INT32 = auto()
    BOOL = auto()
    TEXT = auto()
    LABEL = auto()
    TYPE = auto()
    MESSAGE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a message: `shape` gives the message that a MESSAGE field holds."""

    name: str
    kind: Kind
    repeated: bool = False
    shape: Callable[[], Shape] | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """A message: its fields by number, and the names of those that it must have."""

    fields: Mapping[int, Field]
    required: frozenset[str] = field(default_factory=frozenset)


def _text(name: str) -> Field:
    return Field(name=name, kind=Kind.TEXT)


def _texts(name: str) -> Field:
    return Field(name=name, kind=Kind.TEXT, repeated=True)


def _int32(name: str) -> Field:
    return Field(name=name, kind=Kind.INT32)


def _int32s(name: str) -> Field:
    return Field(name=name, kind=Kind.INT32, repeated=True)


def _bool(name: str) -> Field:
    return Field(name=name, kind=Kind.BOOL)


def _one(name: str, shape: Callable[[], Shape]) -> Field:
    return Field(name=name, kind=Kind.MESSAGE, shape=shape)


def _many(name: str, shape: Callable[[], Shape]) -> Field:
    return Field(name=name, kind=Kind.MESSAGE, repeated=True, shape=shape)


_NAME_PART: Final = Shape(
    {1: _text("name_part"), 2: _bool("is_extension")}, frozenset(("name_part", "is_extension"))
)
_UNINTERPRETED: Final = Shape({2: _many("name", lambda: _NAME_PART)})
_EMPTY: Final = Shape({})


_FEATURES: Final = Shape(
    {
        1: _int32("field_presence"),
        2: _int32("enum_type"),
        3: _int32("repeated_field_encoding"),
        4: _int32("utf8_validation"),
        5: _int32("message_encoding"),
    }
)
_RANGE: Final = Shape({1: _int32("start"), 2: _int32("end")})


def _options(features: int, *others: tuple[int, Field]) -> Shape:
    """Options, whose `features` have that number."""
    return Shape(
        {
            features: _one("features", lambda: _FEATURES),
            999: _many("uninterpreted_option", lambda: _UNINTERPRETED),
            **dict(others),
        }
    )


_FILE_OPTIONS: Final = _options(50, (27, _bool("java_string_check_utf8")))
_MESSAGE_OPTIONS: Final = _options(
    12, (1, _bool("message_set_wire_format")), (7, _bool("map_entry"))
)
_FIELD_OPTIONS: Final = _options(
    21,
    (2, _bool("packed")),
    (19, _int32s("targets")),
    (20, _many("edition_defaults", lambda: _EMPTY)),
)
_ONEOF_OPTIONS: Final = _options(1)
_ENUM_OPTIONS: Final = _options(7)
_ENUM_VALUE_OPTIONS: Final = _options(2)
_SERVICE_OPTIONS: Final = _options(34)
_METHOD_OPTIONS: Final = _options(35)
_EXTENSION_RANGE_OPTIONS: Final = _options(50, (2, _many("declaration", lambda: _EMPTY)))

_LOCATION: Final = Shape({1: _int32s("path"), 2: _int32s("span")})
_SOURCE_CODE_INFO: Final = Shape({1: _many("location", lambda: _LOCATION)})

_EXTENSION_RANGE: Final = Shape(
    {1: _int32("start"), 2: _int32("end"), 3: _one("options", lambda: _EXTENSION_RANGE_OPTIONS)}
)
_ENUM_VALUE: Final = Shape(
    {1: _text("name"), 2: _int32("number"), 3: _one("options", lambda: _ENUM_VALUE_OPTIONS)}
)
_ENUM: Final = Shape(
    {
        1: _text("name"),
        2: _many("value", lambda: _ENUM_VALUE),
        3: _one("options", lambda: _ENUM_OPTIONS),
        4: _many("reserved_range", lambda: _RANGE),
        5: _texts("reserved_name"),
    }
)
_ONEOF: Final = Shape({1: _text("name"), 2: _one("options", lambda: _ONEOF_OPTIONS)})
_FIELD: Final = Shape(
    {
        1: _text("name"),
        2: _text("extendee"),
        3: _int32("number"),
        4: Field(name="label", kind=Kind.LABEL),
        5: Field(name="type", kind=Kind.TYPE),
        6: _text("type_name"),
        7: _text("default_value"),
        8: _one("options", lambda: _FIELD_OPTIONS),
        9: _int32("oneof_index"),
        10: _text("json_name"),
        17: _bool("proto3_optional"),
    }
)
_MESSAGE: Final[Shape] = Shape(
    {
        1: _text("name"),
        2: _many("field", lambda: _FIELD),
        3: _many("nested_type", lambda: _MESSAGE),
        4: _many("enum_type", lambda: _ENUM),
        5: _many("extension_range", lambda: _EXTENSION_RANGE),
        6: _many("extension", lambda: _FIELD),
        7: _one("options", lambda: _MESSAGE_OPTIONS),
        8: _many("oneof_decl", lambda: _ONEOF),
        9: _many("reserved_range", lambda: _RANGE),
        10: _texts("reserved_name"),
    }
)
_METHOD: Final = Shape(
    {
        1: _text("name"),
        2: _text("input_type"),
        3: _text("output_type"),
        4: _one("options", lambda: _METHOD_OPTIONS),
    }
)
_SERVICE: Final = Shape(
    {
        1: _text("name"),
        2: _many("method", lambda: _METHOD),
        3: _one("options", lambda: _SERVICE_OPTIONS),
    }
)
_FILE: Final = Shape(
    {
        1: _text("name"),
        2: _text("package"),
        3: _texts("dependency"),
        4: _many("message_type", lambda: _MESSAGE),
        5: _many("enum_type", lambda: _ENUM),
        6: _many("service", lambda: _SERVICE),
        7: _many("extension", lambda: _FIELD),
        8: _one("options", lambda: _FILE_OPTIONS),
        9: _one("source_code_info", lambda: _SOURCE_CODE_INFO),
        10: _int32s("public_dependency"),
        11: _int32s("weak_dependency"),
        12: _text("syntax"),
        14: _int32("edition"),
    }
)
FILE_DESCRIPTOR_SET: Final = Shape({1: _many("file", lambda: _FILE)})
"""What an envelope holds."""
