"""From the wire format of a FileDescriptorSet to descriptors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitops.compatibility.java_text import java_text
from gitops.compatibility.protobuf_native.descriptors import (
    EnumType,
    Features,
    Field,
    File,
    Label,
    Message,
    Method,
    Reserved,
    Service,
    Type,
)
from gitops.compatibility.protobuf_native.errors import InvalidEnvelopeError
from gitops.compatibility.protobuf_native.shapes import FILE_DESCRIPTOR_SET, Kind, Shape
from gitops.compatibility.protobuf_native.shapes import Field as ShapeField
from gitops.compatibility.protobuf_native.wire import (
    LENGTH_DELIMITED,
    VARINT,
    Reader,
    check_depth,
)

_Values = dict[str, Any]
"""What was set: name → int, bool, str, _Values, or a list of one of them."""

_CLOSED: Final[Mapping[Kind, frozenset[int]]] = {
    Kind.LABEL: frozenset(Label),
    Kind.TYPE: frozenset(Type),
}


def read_files(data: bytes) -> tuple[File, ...]:
    """The files of a FileDescriptorSet in their order; raises InvalidEnvelopeError."""
    found: _Values = {}
    _read(Reader(data, 0, len(data)), FILE_DESCRIPTOR_SET, 0, found)
    return tuple(map(_file, found.get("file", ())))


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
    )


def _message(values: _Values) -> Message:
    ranges = [(one.get("start", 0), one.get("end", 0)) for one in values.get("extension_range", ())]
    options = values.get("options", {})
    return Message(
        name=values.get("name", ""),
        fields=tuple(map(_field, values.get("field", ()))),
        messages=tuple(map(_message, values.get("nested_type", ()))),
        enums=tuple(map(_enum, values.get("enum_type", ()))),
        extensions=tuple(map(_field, values.get("extension", ()))),
        extension_starts=tuple(sorted(start for start, _ in ranges)),
        extension_ends=tuple(sorted(end for _, end in ranges)),
        oneofs=tuple(one.get("name", "") for one in values.get("oneof_decl", ())),
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
    found = values.get("value", ())
    return EnumType(
        name=values.get("name", ""),
        values=tuple(one.get("name", "") for one in found),
        numbers=tuple(one.get("number", 0) for one in found),
        reserved=_reserved(values, beyond=0),
        features=_features(values),
    )


def _reserved(values: _Values, beyond: int) -> Reserved:
    """`beyond`: by how much a range's end is behind its last number."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(_ranges(values, beyond)):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return Reserved(ranges=tuple(merged), names=frozenset(values.get("reserved_name", ())))


def _ranges(values: _Values, beyond: int) -> Iterator[tuple[int, int]]:
    for one in values.get("reserved_range", ()):
        yield one.get("start", 0), one.get("end", 0) - beyond


def _features(values: _Values) -> Features:
    return Features(**values.get("options", {}).get("features", {}))


def _service(values: _Values) -> Service:
    methods = [
        Method(
            name=one.get("name", ""),
            input_type=one.get("input_type", ""),
            output_type=one.get("output_type", ""),
        )
        for one in values.get("method", ())
    ]
    return Service(name=values.get("name", ""), methods=tuple(methods))
