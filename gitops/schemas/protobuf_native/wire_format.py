"""A FileDescriptorSet's wire format to descriptors, as protobuf-java 3.25.5 reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from gitops.schemas.java_text import java_text
from gitops.schemas.protobuf_native.descriptor_messages import FILE_DESCRIPTOR_SET, Kind, Shape
from gitops.schemas.protobuf_native.descriptor_messages import Field as ShapeField
from gitops.schemas.protobuf_native.descriptors import (
    EnumType,
    Features,
    Field,
    File,
    Label,
    Message,
    Method,
    ReservedFields,
    Service,
    Type,
)
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError, WireError

# The wire format of Protobuf, read as protobuf-java 3.25.5 reads it.

VARINT: Final = 0
FIXED64: Final = 1
LENGTH_DELIMITED: Final = 2
START_GROUP: Final = 3
END_GROUP: Final = 4
FIXED32: Final = 5

MAX_DEPTH: Final = 100
"""Messages and groups that nest deeper than this are refused."""

_SIZES: Final = {FIXED64: 8, FIXED32: 4}
_LONGEST_VARINT: Final = 10
_BIT_63: Final = 1 << 63
_UINT32: Final = (1 << 32) - 1
_INT32_MAX: Final = (1 << 31) - 1


@dataclass(slots=True)
class Reader:
    """A place in `data`; nothing behind `end` is read. Raises WireError."""

    data: bytes
    at: int
    end: int

    def tag(self) -> tuple[int, int]:
        """The number and the wire type of the next field; (0, 0) at the end."""
        if self.at == self.end:
            return 0, 0
        tag = self.varint() & _UINT32
        if not tag >> 3:
            _refuse("a field has the number 0")
        return tag >> 3, tag & 7

    def varint(self) -> int:
        """An unsigned number; where a 32-bit one is wanted, only its low bits count.

        Java does not look at the bits of a tenth byte: it stands for the bit 63, which is all that
        a writer says by it.
        """
        value = 0
        for index in range(_LONGEST_VARINT):
            if self.at == self.end:
                _refuse("it ends too early")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:  # noqa: PLR2004 - the bit that says that more bytes follow
                return value if index < _LONGEST_VARINT - 1 else value | _BIT_63
        return _refuse("a number is too long")

    def int32(self) -> int:
        """A signed number of 32 bits."""
        value = self.varint() & _UINT32
        return value if value <= _INT32_MAX else value - _UINT32 - 1

    def part(self) -> Reader:
        """A reader of the length-delimited value that comes next, which is passed over."""
        size = self.int32()
        start = self.at
        self._skip(size)
        return Reader(self.data, start, self.at)

    def fixed(self, size: int) -> bytes:
        """The value of so many bytes that comes next."""
        start = self.at
        self._skip(size)
        return self.data[start : self.at]

    def rest(self) -> bytes:
        """The bytes up to the end."""
        return self.data[self.at : self.end]

    def skip_field(self, number: int, wire_type: int, depth: int) -> None:
        """Pass over a field of no interest, whose tag was read; groups count into `depth`."""
        if wire_type == VARINT:
            self.varint()
        elif wire_type == LENGTH_DELIMITED:
            self._skip(self.int32())
        elif wire_type in _SIZES:
            self._skip(_SIZES[wire_type])
        elif wire_type == START_GROUP:
            self._skip_group(number, depth)
        else:
            _refuse("a field has no known wire type")

    def _skip_group(self, number: int, depth: int) -> None:
        check_depth(depth)
        while True:
            inner, wire_type = self.tag()
            if not inner or wire_type == END_GROUP:
                break
            self.skip_field(inner, wire_type, depth + 1)
        if inner != number:
            _refuse("a group has no end")

    def _skip(self, size: int) -> None:
        if size < 0 or size > self.end - self.at:
            _refuse("it ends too early")
        self.at += size


def check_depth(depth: int) -> None:
    """Whether a message or group at `depth` may hold another; raises WireError."""
    if depth >= MAX_DEPTH:
        _refuse("its messages nest too deep")


def _refuse(why: str) -> NoReturn:
    raise WireError(why)


# A file that protoc has written with --descriptor_set_out.


DESCRIPTOR_SET: Final = "a descriptor set of protoc"
DESCRIPTOR_SET_HINT: Final = (
    "name the .proto file as the definition. Without it, write the JSON object that Pulsar stores: "
    "base64 of a set that has all imports (`protoc --include_imports`) as fileDescriptorSet, with "
    "rootMessageTypeName and rootFileDescriptorName"
)
_FIRST_FILE: Final = re.compile(
    rb"\n[\x80-\xff]{0,4}[\x00-\x7f]\n[\x80-\xff]?[\x00-\x7f][\w./-]+\.proto"
)
"""A length-delimited first field, which begins with another one: the name of a .proto file."""


def is_descriptor_set(data: bytes) -> bool:
    """Whether a file begins as a FileDescriptorSet does."""
    return _FIRST_FILE.match(data) is not None


# From the wire format of a FileDescriptorSet to descriptors.


_Values = dict[str, Any]
"""What was set: name → int, bool, str, _Values, or a list of one of them."""

_CLOSED: Final[Mapping[Kind, frozenset[int]]] = {
    Kind.LABEL: frozenset(Label),
    Kind.TYPE: frozenset(Type),
}


def read_files(data: bytes) -> tuple[File, ...]:
    """The files of a FileDescriptorSet in their order; raises InvalidEnvelopeError."""
    grouped: _Values = {}
    _read(Reader(data, 0, len(data)), FILE_DESCRIPTOR_SET, 0, grouped)
    return tuple(map(_file, grouped.get("file", ())))


def _read(reader: Reader, shape: Shape, depth: int, into: _Values) -> None:
    """Add the fields up to the reader's end to `into`."""
    while True:
        number, wire_type = reader.tag()
        if not number:
            break
        field = shape.fields.get(number)
        if field is None or not _read_field(reader, field, wire_type, depth, into):
            reader.skip_field(number, wire_type, depth)
    if not shape.required <= into.keys():
        raise InvalidEnvelopeError("'fileDescriptorSet' lacks a required field")


def _read_field(
    reader: Reader, field: ShapeField, wire_type: int, depth: int, into: _Values
) -> bool:
    """Whether the field has a wire type that its kind has; only then it is read."""
    if wire_type == VARINT and field.kind not in {Kind.TEXT, Kind.MESSAGE}:
        _keep(into, field, _number(reader, field.kind))
    elif wire_type != LENGTH_DELIMITED:
        return False
    elif field.kind is Kind.TEXT:
        _keep(into, field, java_text(reader.part().rest()))
    elif field.kind is Kind.MESSAGE:
        _read_message(reader, field, depth, into)
    elif field.repeated:
        packed = reader.part()
        while packed.at < packed.end:
            _keep(into, field, _number(packed, field.kind))
    else:
        return False
    return True


def _read_message(reader: Reader, field: ShapeField, depth: int, into: _Values) -> None:
    """A message that is there several times, and not repeated, is one: the last value counts."""
    check_depth(depth)
    values: _Values = {} if field.repeated else into.get(field.name, {})
    if field.shape is not None:
        _read(reader.part(), field.shape(), depth + 1, values)
    _keep(into, field, values)


def _number(reader: Reader, kind: Kind) -> int | None:
    if kind is Kind.BOOL:
        return int(reader.varint() & _UINT64 != 0)
    number = reader.int32()
    return number if number in _CLOSED.get(kind, (number,)) else None


_UINT64: Final = (1 << 64) - 1


def _keep(into: _Values, field: ShapeField, value: object) -> None:
    if field.repeated:
        into.setdefault(field.name, []).append(value)
    elif value is not None:
        into[field.name] = value


def _file(values: _Values) -> File:
    return File(
        name=values.get("name", ""),
        package=values.get("package", ""),
        syntax=values.get("syntax", ""),
        features=_features(values),
        dependencies=tuple(values.get("dependency", ())),
        public_dependencies=tuple(values.get("public_dependency", ())),
        messages=tuple(map(_message, values.get("message_type", ()))),
        enums=tuple(map(_enum, values.get("enum_type", ()))),
        services=tuple(map(_service, values.get("service", ()))),
        extensions=tuple(map(_field, values.get("extension", ()))),
        checks_text=bool(values.get("options", {}).get("java_string_check_utf8")),
        edition=values.get("edition", 0),
    )


def _message(values: _Values) -> Message:
    ranges = [
        (value.get("start", 0), value.get("end", 0)) for value in values.get("extension_range", ())
    ]
    options = values.get("options", {})
    return Message(
        name=values.get("name", ""),
        fields=tuple(map(_field, values.get("field", ()))),
        messages=tuple(map(_message, values.get("nested_type", ()))),
        enums=tuple(map(_enum, values.get("enum_type", ()))),
        extensions=tuple(map(_field, values.get("extension", ()))),
        extension_starts=tuple(sorted(start for start, _ in ranges)),
        extension_ends=tuple(sorted(end for _, end in ranges)),
        oneofs=tuple(value.get("name", "") for value in values.get("oneof_decl", ())),
        message_set=bool(options.get("message_set_wire_format")),
        map_entry=bool(options.get("map_entry")),
        reserved=_reserved(values, beyond=1),
        features=_features(values),
    )


def _field(values: _Values) -> Field:
    kind = values.get("type")
    packed = values.get("options", {}).get("packed")
    return Field(
        name=values.get("name", ""),
        number=values.get("number", 0),
        label=Label(values.get("label", Label.OPTIONAL)),
        type=None if kind is None else Type(kind),
        type_name=values.get("type_name"),
        extendee=values.get("extendee"),
        default_value=values.get("default_value"),
        oneof_index=values.get("oneof_index"),
        json_name=values.get("json_name"),
        proto3_optional=bool(values.get("proto3_optional")),
        packed=None if packed is None else bool(packed),
        features=_features(values),
    )


def _enum(values: _Values) -> EnumType:
    value = values.get("value", ())
    return EnumType(
        name=values.get("name", ""),
        values=tuple(item.get("name", "") for item in value),
        numbers=tuple(item.get("number", 0) for item in value),
        reserved=_reserved(values, beyond=0),
        features=_features(values),
    )


def _reserved(values: _Values, beyond: int) -> ReservedFields:
    """`beyond`: by how much a range's end is behind its last number."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(_ranges(values, beyond)):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return ReservedFields(ranges=tuple(merged), names=frozenset(values.get("reserved_name", ())))


def _ranges(values: _Values, beyond: int) -> Iterator[tuple[int, int]]:
    for value in values.get("reserved_range", ()):
        yield value.get("start", 0), value.get("end", 0) - beyond


def _features(values: _Values) -> Features:
    return Features(**values.get("options", {}).get("features", {}))


def _service(values: _Values) -> Service:
    methods = [
        Method(
            name=value.get("name", ""),
            input_type=value.get("input_type", ""),
            output_type=value.get("output_type", ""),
        )
        for value in values.get("method", ())
    ]
    return Service(name=values.get("name", ""), methods=tuple(methods))
