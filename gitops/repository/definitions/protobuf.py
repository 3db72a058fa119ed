"""The envelope of a PROTOBUF_NATIVE schema, as Java's ProtobufNativeSchemaUtils writes it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gitops.schemas.protobuf_native import client_envelopes
from gitops.schemas.protobuf_native.parser import default_json_name

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import (
        DescriptorProto,
        FieldDescriptorProto,
        FileDescriptorProto,
    )

# The order in which Java's HashMap gives its keys back.
#
# Java's client writes the files of a PROTOBUF_NATIVE envelope in that order, and Pulsar compares
# envelopes byte for byte (Pulsar 4.0.7), so the same order makes the same schema.

_FIRST_CAPACITY: Final = 16
_LOAD: Final = 0.75


def java_order(keys: Sequence[str]) -> list[str]:
    """Distinct keys, given in the order of insertion, as `HashMap.keySet()` lists them.

    Keys of one bucket keep their order; the trees that Java makes of eight or more such keys
    keep it too.
    """
    capacity = _FIRST_CAPACITY
    while len(keys) > capacity * _LOAD:
        capacity *= 2
    return sorted(keys, key=lambda key: _bucket(key, capacity))


def _bucket(key: str, capacity: int) -> int:
    code = 0
    units = key.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + high * 256 + low) & 0xFFFFFFFF
    return (code ^ (code >> 16)) & (capacity - 1)


# The envelope of a PROTOBUF_NATIVE schema, as Java's ProtobufNativeSchemaUtils writes it.
#
# Seen with the classes of Pulsar 4.0.7.


BROUGHT_ALONG: Final = "google/protobuf/"
"""The folder of the files that protoc and protobuf-java bring along."""

Files = Mapping[str, "tuple[FileDescriptorProto, bytes]"]


def read_files(files: tuple[bytes, ...]) -> Files:
    """File descriptors by their names, each with its bytes as Java has them.

    They come from protoc, or from the classes that it generates: it writes each field's JSON name
    into a descriptor set, but into classes only a name that the `.proto` file gives (protoc
    3.25.5). A name that the file gives although it is the usual one cannot be told from those. The
    classes that protobuf-java brings along have all names (protobuf-java 3.25.5).
    """
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    parsed = [FileDescriptorProto.FromString(data) for data in files]
    for file in parsed:
        is_brought = file.name.startswith(BROUGHT_ALONG)
        for field in _fields(file):
            if is_brought:
                field.json_name = field.json_name or default_json_name(field.name)
            elif field.extendee or field.json_name == default_json_name(field.name):
                field.ClearField("json_name")
    return {file.name: (file, file.SerializeToString(deterministic=True)) for file in parsed}


def _fields(file: FileDescriptorProto) -> Iterator[FieldDescriptorProto]:
    """Every field and every extension of a file."""
    yield from file.extension
    waiting = list(file.message_type)
    while waiting:
        message = waiting.pop()
        yield from message.field
        yield from message.extension
        waiting += message.nested_type


def messages(files: Files, root: str) -> dict[str, str]:
    """The full names of all messages that a file and its imports define, with their files."""
    return {
        name: file
        for file in files_in_import_order(files, root)
        for name in _names(files[file][0].message_type, files[file][0].package)
    }


def envelope(files: Files, file: str, message: str) -> str:
    """The text that a registry keeps for `message`, which `file` defines."""
    order = java_order(list(files_in_import_order(files, file)))
    descriptor_set = b"".join(_member(files[name][1]) for name in order)
    members = {
        "fileDescriptorSet": base64.b64encode(descriptor_set).decode(),
        "rootMessageTypeName": message,
        "rootFileDescriptorName": file,
    }
    return json.dumps(members, separators=(",", ":"), ensure_ascii=False)


def files_in_import_order(files: Files, root: str) -> Iterator[str]:
    """A file after all that it imports, each once."""
    return client_envelopes.files_in_import_order(root, lambda name: files[name][0].dependency)


def _names(items: Iterable[DescriptorProto], prefix: str) -> Iterator[str]:
    waiting = [(item, prefix) for item in items]
    while waiting:
        message, before = waiting.pop()
        name = f"{before}.{message.name}" if before else message.name
        yield name
        waiting += [(item, name) for item in message.nested_type]


def _member(data: bytes) -> bytes:
    """One member of a FileDescriptorSet: field 1, its length, its bytes."""
    length = len(data)
    header = bytearray(b"\x0a")
    while length > 0x7F:  # noqa: PLR2004 - seven bits a byte
        header.append(length & 0x7F | 0x80)
        length >>= 7
    header.append(length)
    return bytes(header) + data
