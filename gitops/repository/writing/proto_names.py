"""The shortest name of a type that means the same where it is written in a `.proto` file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import (
        DescriptorProto,
        EnumDescriptorProto,
        FileDescriptorProto,
    )


class ProtoNames:
    """Everything that the files of a descriptor set give a name to."""

    def __init__(self, files: Iterable[FileDescriptorProto]) -> None:
        self._known = {name for file in files for name in _names_of_file(file)}

    def short(self, full: str, scope: str) -> str:
        """A type (`.shop.Order`) as it is written inside `scope`; raises ValueError.

        protoc looks for the first part of a name from the innermost scope outwards.
        """
        if not full.startswith("."):
            raise ValueError(full)
        parts = full[1:].split(".")
        for start in range(len(parts) - 1, -1, -1):
            if self._innermost(parts[start], scope) == ".".join(parts[: start + 1]):
                return ".".join(parts[start:])
        return full

    def _innermost(self, name: str, scope: str) -> str | None:
        around = scope
        while around:
            if f"{around}.{name}" in self._known:
                return f"{around}.{name}"
            around = around.rpartition(".")[0]
        return name if name in self._known else None


def join(scope: str, name: str) -> str:
    """The full name of something in a package or a message."""
    return f"{scope}.{name}" if scope else name


def _names_of_file(file: FileDescriptorProto) -> Iterator[str]:
    package = file.package
    while package:
        yield package
        package = package.rpartition(".")[0]
    for message in file.message_type:
        yield from _names_of_message(message, file.package)
    for enum in file.enum_type:
        yield from _names_of_enum(enum, file.package)
    yield from (join(file.package, field.name) for field in file.extension)
    yield from (join(file.package, item.name) for item in file.service)


def _names_of_message(message: DescriptorProto, scope: str) -> Iterator[str]:
    name = join(scope, message.name)
    yield name
    for nested in message.nested_type:
        yield from _names_of_message(nested, name)
    for enum in message.enum_type:
        yield from _names_of_enum(enum, name)
    yield from (join(name, field.name) for field in message.field)
    yield from (join(name, field.name) for field in message.extension)
    yield from (join(name, oneof.name) for oneof in message.oneof_decl)


def _names_of_enum(enum: EnumDescriptorProto, scope: str) -> Iterator[str]:
    """The values of an enum are names beside it."""
    yield join(scope, enum.name)
    for value in enum.value:
        yield join(scope, value.name)
