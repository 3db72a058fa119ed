"""`.proto` files in memory, compiled into what a registry keeps."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.definitions.protobuf import envelope, messages, read_files
from gitops.repository.tracked_files import TrackedFiles
from tests.support.trees import MemoryTree

_WELL_KNOWN: Final = Path(protoc.__file__).parent / "_proto"


def sources(files: Mapping[str, str | bytes]) -> TrackedFiles:
    """These files, as a repository has them."""
    return TrackedFiles(MemoryTree(files))


def native(files: Mapping[str, str | bytes], file: str, message: str) -> SchemaInfo:
    """The PROTOBUF_NATIVE schema of a message that `file` or an import of it defines."""
    found = read_files(_compiled(files, file))
    text = envelope(found, messages(found, file.rpartition("/")[2])[message], message)
    return SchemaInfo(type=SchemaType.PROTOBUF_NATIVE, schema=text)


def _compiled(files: Mapping[str, str | bytes], file: str) -> tuple[bytes, ...]:
    """The descriptors of a file and its imports; in this process, which is fifty times as fast."""
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            place = Path(folder, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        main, made = Path(folder, file), Path(folder, "made")
        options = [f"-I{each}" for each in dict.fromkeys((main.parent, Path(folder)))]
        options += [f"-I{_WELL_KNOWN}", "--include_imports", f"--descriptor_set_out={made}"]
        assert protoc.main(["", *options, str(main)]) == 0
        found = FileDescriptorSet.FromString(made.read_bytes())
    return tuple(each.SerializeToString() for each in found.file)


def order(body: str, *, syntax: str = "proto3", more: str = "") -> SchemaInfo:
    """The message `shop.Order` of one file; `more` stands behind it."""
    head = f'edition = "{syntax}";' if syntax.isdigit() else f'syntax = "{syntax}";'
    text = f"{head} package shop; message Order {{ {body} }} {more}"
    return native({"order.proto": text}, "order.proto", "shop.Order")


def of_edition(number: int) -> SchemaInfo:
    """A message of an edition, also of one that no compiler knows."""
    files = _files(order("int32 a = 1;"))
    (file,) = files.file
    file.syntax = "editions"
    data = file.SerializeToString() + _varint(14 << 3) + _varint(number)
    return _with_files(order("int32 a = 1;"), _varint(1 << 3 | 2) + _varint(len(data)) + data)


def inner_root() -> SchemaInfo:
    """A message inside another one, of a file without a package."""
    text = 'syntax = "proto3"; message Order { message Line { int32 a = 1; } }'
    return native({"order.proto": text}, "order.proto", "Order.Line")


def message_set() -> SchemaInfo:
    """A message set with a field."""
    schema = order("optional int32 a = 1;", syntax="proto2")
    files = _files(schema)
    files.file[0].message_type[0].options.message_set_wire_format = True
    return _with_files(schema, files.SerializeToString())


def _files(info: SchemaInfo) -> FileDescriptorSet:
    data = base64.b64decode(json.loads(info.schema)["fileDescriptorSet"])
    return FileDescriptorSet.FromString(data)


def _with_files(info: SchemaInfo, data: bytes) -> SchemaInfo:
    tree = json.loads(info.schema) | {"fileDescriptorSet": base64.b64encode(data).decode()}
    return replace(info, schema=json.dumps(tree))


def _varint(value: int) -> bytes:
    low, high = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(high) if high else bytes([low])
