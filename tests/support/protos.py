"""`.proto` files in memory, compiled into what a registry keeps."""

from __future__ import annotations

from collections.abc import Mapping

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.definitions.protobuf import envelope, messages, read_files
from gitops.repository.definitions.protoc import Protoc
from gitops.repository.sources import Sources
from tests.support.trees import MemoryTree


def sources(files: Mapping[str, str | bytes]) -> Sources:
    """These files, as a repository has them."""
    return Sources(MemoryTree(files))


def native(files: Mapping[str, str | bytes], file: str, message: str) -> SchemaInfo:
    """The PROTOBUF_NATIVE schema of a message that `file` or an import of it defines."""
    protoc = Protoc(sources(files))
    try:
        compiled = protoc.compile(file)
    finally:
        protoc.close()
    assert compiled.problems == ()
    found = read_files(compiled.files)
    text = envelope(found, messages(found, file.rpartition("/")[2])[message], message)
    return SchemaInfo(type=SchemaType.PROTOBUF_NATIVE, schema=text)


def order(body: str, *, syntax: str = "proto3", more: str = "") -> SchemaInfo:
    """The message `shop.Order` of one file; `more` stands behind it."""
    head = f'edition = "{syntax}";' if syntax.isdigit() else f'syntax = "{syntax}";'
    text = f"{head} package shop; message Order {{ {body} }} {more}"
    return native({"order.proto": text}, "order.proto", "shop.Order")
