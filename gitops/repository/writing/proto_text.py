"""File descriptors as the text of `.proto` files that compiles to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, cast

from gitops.repository.writing.proto_names import ProtoNames, join
from gitops.schemas.protobuf_native.parser import default_json_name

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor
    from google.protobuf.descriptor_pb2 import (
        DescriptorProto,
        EnumDescriptorProto,
        FieldDescriptorProto,
        FileDescriptorProto,
        MethodDescriptorProto,
        ServiceDescriptorProto,
    )
    from google.protobuf.message import Message

# Options of a descriptor, and literals, as `.proto` text.

_MADE_BY_PROTOC: Final = "map_entry"
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def options(given: Message, prefix: str = "") -> Iterator[str]:
    """`name = value` for each option that is set; raises KeyError for an enum's unknown number."""
    for field, value in given.ListFields():
        if field.name == _MADE_BY_PROTOC:
            continue
        name = prefix + (f"({field.full_name})" if field.is_extension else field.name)
        if field.message_type and not field.is_extension and not _is_list(value):
            yield from options(value, f"{name}.")
            continue
        for item in value if _is_list(value) else [value]:
            yield f"{name} = {_value(field, item)}"


def literal(text: str) -> str:
    """A text in quotes."""
    return f'"{"".join(map(_escape, text))}"'


def _escape(character: str) -> str:
    if character < " " or character == "\x7f":
        return _ESCAPES.get(character, f"\\{ord(character):03o}")
    return _ESCAPES.get(character, character)


def _value(field: FieldDescriptor, value: Any) -> str:  # noqa: ANN401 - of any type
    if field.message_type:
        from google.protobuf.text_format import MessageToString

        return f"{{ {MessageToString(value, as_one_line=True, as_utf8=True)} }}"
    if field.enum_type:
        return field.enum_type.values_by_number[value].name
    if isinstance(value, bytes):
        from google.protobuf.text_encoding import CEscape

        return f'"{CEscape(value, as_utf8=False)}"'
    if isinstance(value, bool):
        return str(value).lower()
    return literal(value) if isinstance(value, str) else repr(value)


def _is_list(value: object) -> bool:
    return isinstance(value, MutableSequence)


# File descriptors as the text of `.proto` files that compiles to them.
#
# What a descriptor does not keep is not written: comments, and the order of things of different
# kinds. Whether the text compiles to the same bytes is for whoever writes it to prove.


_END: Final = 1 << 29
"""Behind the last number of a field; that of an extension in a message set is beyond it."""

_LAST_OF_AN_ENUM: Final = (1 << 31) - 1
_REQUIRED, _REPEATED = 2, 3
_STRING, _GROUP, _BYTES = 9, 10, 12
_SCALARS: Final = {
    1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 7: "fixed32",
    8: "bool", 9: "string", 12: "bytes", 13: "uint32", 15: "sfixed32", 16: "sfixed64",
    17: "sint32", 18: "sint64",
}  # fmt: skip

Block = list[str]
"""Lines that belong together."""


class UnwritableProtoError(ValueError):
    """There is no `.proto` text; the message is the reason."""


def proto_texts(files: Sequence[FileDescriptorProto]) -> dict[str, str]:
    """The text of each file by its name; each file stands behind those that it imports.

    Raises UnwritableProtoError for descriptors that protoc cannot have made.
    """
    known = _with_custom_options(files)
    names = ProtoNames(known)
    try:
        return {file.name: _Printer(file, names).text() for file in known}
    except (KeyError, IndexError, ValueError) as error:
        raise UnwritableProtoError("its descriptors do not fit together") from error


def _with_custom_options(files: Sequence[FileDescriptorProto]) -> list[FileDescriptorProto]:
    """The same descriptors, of a class to which the options that the files define are known."""
    from google.protobuf import descriptor_pb2
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    pool = DescriptorPool()
    own = descriptor_pb2.DESCRIPTOR
    try:
        if own.name not in {file.name for file in files}:
            pool.AddSerializedFile(own.serialized_pb)
        for file in files:
            pool.AddSerializedFile(file.SerializeToString())
        kind = GetMessageClass(pool.FindMessageTypeByName("google.protobuf.FileDescriptorProto"))
        parsed = [kind.FromString(file.SerializeToString()) for file in files]
    except (TypeError, KeyError) as error:
        raise UnwritableProtoError("its descriptors are not valid") from error
    return [cast("FileDescriptorProto", message) for message in parsed]


@dataclass(frozen=True, slots=True)
class _Member:
    """A field, a oneof or extensions, and the messages that their groups and maps define."""

    lines: Block
    defines: frozenset[str]


class _Printer:
    """One file on its way into text."""

    def __init__(self, file: FileDescriptorProto, names: ProtoNames) -> None:
        self._file = file
        self._names = names
        self._is_proto2 = file.syntax in ("", "proto2")

    def text(self) -> str:
        """The whole file."""
        file = self._file
        blocks = [
            [self._syntax()],
            [f"package {file.package};"] if file.package else [],
            list(self._imports()),
            [f"option {option};" for option in options(file.options)],
            *self._members(
                file.message_type,
                [self._extensions(file.extension, file.message_type, file.package)],
                file.package,
            ),
            *map(self._enum, file.enum_type),
            *map(self._service, file.service),
        ]
        return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"

    def _syntax(self) -> str:
        if self._file.syntax != "editions":
            return f'syntax = "{self._file.syntax or "proto2"}";'
        from google.protobuf.descriptor_pb2 import Edition

        return f'edition = "{Edition.Name(self._file.edition).removeprefix("EDITION_")}";'

    def _imports(self) -> Iterator[str]:
        public, weak = set(self._file.public_dependency), set(self._file.weak_dependency)
        for index, name in enumerate(self._file.dependency):
            how = "public " if index in public else "weak " if index in weak else ""
            yield f"import {how}{literal(name)};"

    def _members(
        self, messages: Iterable[DescriptorProto], given: Sequence[list[_Member]], scope: str
    ) -> Iterator[Block]:
        """Messages and members in an order in which protoc numbers the messages as they are.

        protoc puts the messages of groups and maps among those that are written, where it meets
        their fields. `given` are fields and extensions, each in their own order.
        """
        waiting = [list(members) for members in given]
        made = {name for members in given for member in members for name in member.defines}
        for message in messages:
            if message.name not in made:
                yield _braces(f"message {message.name}", self._message(message, scope))
                continue
            for members in waiting:
                last = next((i for i, m in enumerate(members) if message.name in m.defines), -1)
                yield from (member.lines for member in members[: last + 1])
                del members[: last + 1]
        yield from (member.lines for members in waiting for member in members)

    def _message(self, message: DescriptorProto, scope: str) -> Iterator[Block]:
        """What is between the braces of a message or a group."""
        name = join(scope, message.name)
        yield [f"option {option};" for option in options(message.options)]
        yield list(self._reserved_lines(message, lambda end: end - 1, _END - 1))
        yield from map(self._enum, message.enum_type)
        fields = self._fields(message, name)
        extensions = self._extensions(message.extension, message.nested_type, name)
        yield from self._members(message.nested_type, [fields, extensions], name)
        for extension_range in message.extension_range:
            numbers = _range(
                extension_range.start, extension_range.end - 1, max(_END, extension_range.end) - 1
            )
            yield [f"extensions {numbers}{_brackets(options(extension_range.options))};"]

    def _fields(self, message: DescriptorProto, scope: str) -> list[_Member]:
        types = {f".{join(scope, item.name)}": item for item in message.nested_type}
        members: list[_Member] = []
        for index, run in groupby(message.field, _oneof):
            fields = [self._field(field, types, scope) for field in run]
            if index is None:
                members += fields
                continue
            oneof = message.oneof_decl[index]
            head = [[f"option {option};"] for option in options(oneof.options)]
            members.append(_together(f"oneof {oneof.name}", head, fields))
        return members

    def _extensions(
        self,
        extensions: Iterable[FieldDescriptorProto],
        messages: Iterable[DescriptorProto],
        scope: str,
    ) -> list[_Member]:
        types = {f".{join(scope, message.name)}": message for message in messages}
        return [
            _together(
                f"extend {self._names.short(extendee, scope)}",
                [],
                [self._field(field, types, scope) for field in run],
            )
            for extendee, run in groupby(extensions, lambda field: field.extendee)
        ]

    def _field(
        self, field: FieldDescriptorProto, types: Mapping[str, DescriptorProto], scope: str
    ) -> _Member:
        """A field; `types` are the messages beside it, by their full names."""
        message = types.get(field.type_name)
        number = f"{field.number}{_brackets(self._field_options(field))}"
        if field.type == _GROUP:
            group = types[field.type_name]
            head = f"{self._label(field)}group {group.name} = {number}"
            return _Member(_braces(head, self._message(group, scope)), frozenset({group.name}))
        if message is not None and message.options.map_entry:
            key, value = (self._type(item, scope) for item in message.field)
            line = f"map<{key}, {value}> {field.name} = {number};"
            return _Member([line], frozenset({message.name}))
        line = f"{self._label(field)}{self._type(field, scope)} {field.name} = {number};"
        return _Member([line], frozenset())

    def _label(self, field: FieldDescriptorProto) -> str:
        if field.label == _REPEATED:
            return "repeated "
        if field.label == _REQUIRED:
            return "required "
        is_told = field.proto3_optional or (self._is_proto2 and not field.HasField("oneof_index"))
        return "optional " if is_told else ""

    def _type(self, field: FieldDescriptorProto, scope: str) -> str:
        return _SCALARS.get(field.type) or self._names.short(field.type_name, scope)

    @staticmethod
    def _field_options(field: FieldDescriptorProto) -> Iterator[str]:
        if field.HasField("default_value"):
            value = field.default_value
            quoted = literal(value) if field.type == _STRING else f'"{value}"'
            yield f"default = {quoted if field.type in (_STRING, _BYTES) else value}"
        if field.json_name and field.json_name != default_json_name(field.name):
            yield f"json_name = {literal(field.json_name)}"
        yield from options(field.options)

    def _enum(self, enum: EnumDescriptorProto) -> Block:
        values = [
            [f"{item.name} = {item.number}{_brackets(options(item.options))};"]
            for item in enum.value
        ]
        head = [[f"option {option};"] for option in options(enum.options)]
        reserved = [
            [reserved_line]
            for reserved_line in self._reserved_lines(enum, lambda end: end, _LAST_OF_AN_ENUM)
        ]
        return _braces(f"enum {enum.name}", [*head, *reserved, *values])

    def _reserved_lines(
        self,
        owner: DescriptorProto | EnumDescriptorProto,
        last: Callable[[int], int],
        greatest: int,
    ) -> Iterator[str]:
        """Reserved numbers and names; `last` is the last number of a range that ends so."""
        if owner.reserved_range:
            ranges = (_range(item.start, last(item.end), greatest) for item in owner.reserved_range)
            yield f"reserved {', '.join(ranges)};"
        if owner.reserved_name:
            is_bare = self._file.syntax == "editions"
            names = (name if is_bare else literal(name) for name in owner.reserved_name)
            yield f"reserved {', '.join(names)};"

    def _service(self, service: ServiceDescriptorProto) -> Block:
        head = [[f"option {option};"] for option in options(service.options)]
        scope = join(self._file.package, service.name)
        methods = (self._method(method, scope) for method in service.method)
        return _braces(f"service {service.name}", [*head, *methods])

    def _method(self, method: MethodDescriptorProto, scope: str) -> Block:
        given, answered = (
            f"({'stream ' if streams else ''}{self._names.short(name, scope)})"
            for name, streams in (
                (method.input_type, method.client_streaming),
                (method.output_type, method.server_streaming),
            )
        )
        head = f"rpc {method.name}{given} returns {answered}"
        if not method.HasField("options"):
            return [f"{head};"]
        return _braces(head, [[f"option {option};"] for option in options(method.options)])


def _oneof(field: FieldDescriptorProto) -> int | None:
    """The oneof of a field, unless it only stands for an `optional` of proto3."""
    is_member = field.HasField("oneof_index") and not field.proto3_optional
    return field.oneof_index if is_member else None


def _together(head: str, first: Iterable[Block], members: Iterable[_Member]) -> _Member:
    """Several members as one."""
    items = list(members)
    lines = _braces(head, [*first, *(member.lines for member in items)])
    return _Member(lines, frozenset().union(*(member.defines for member in items)))


def _braces(head: str, blocks: Iterable[Block]) -> Block:
    """Blocks between braces; one of several lines is set apart."""
    lines: Block = []
    previous: Block = []
    for block in filter(None, blocks):
        if previous and max(len(block), len(previous)) > 1:
            lines.append("")
        lines += [f"  {line}" if line else "" for line in block]
        previous = block
    return [f"{head} {{", *lines, "}"] if lines else [f"{head} {{}}"]


def _brackets(given: Iterable[str]) -> str:
    text = ", ".join(given)
    return f" [{text}]" if text else ""


def _range(first: int, last: int, greatest: int) -> str:
    if first == last:
        return str(first)
    return f"{first} to {'max' if last == greatest else last}"
