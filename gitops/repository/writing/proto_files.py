"""A stored PROTOBUF_NATIVE as `.proto` files, where they compile to the same text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, MutableSequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gitops.model.errors import extra_hint
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState
from gitops.repository.definitions.file_extensions import is_compiled
from gitops.repository.definitions.protobuf import (
    BROUGHT_ALONG,
    Files,
    envelope,
    files_in_import_order,
    read_files,
)
from gitops.repository.definitions.protoc import Protoc
from gitops.repository.writing.proto_text import UnwritableProtoError, proto_texts
from gitops.schemas.protobuf_native.envelope import Envelope, read_envelope
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError

if TYPE_CHECKING:
    from google.protobuf.message import Message

WITHOUT_PROTOC: Final = f"{extra_hint('protobuf')}, remove the files and import again"

OTHER_BYTES: Final = "its `.proto` files compile to other bytes"

_PATH: Final = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*/)*[A-Za-z0-9_][A-Za-z0-9._-]*\.proto")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoSources:
    """The files of a schema by the names under which they import each other.

    `file` defines the root message, whose full name is `message`.
    """

    file: str
    message: str
    texts: Mapping[str, str]

    def definition(self, stem: str) -> str:
        """What a manifest names: the file, or one that imports it where it is in a folder.

        The name of the root's file is a part of the schema, and protoc names a file that it is
        given by hand as seen from its own folder.
        """
        return f"{stem}.root.proto" if "/" in self.file else self.file

    def files(self, stem: str, *, complete: bool) -> dict[str, str]:
        """Name → text of what is written; with `complete` also files that protoc brings along."""
        wanted = {
            name: text
            for name, text in self.texts.items()
            if complete or not name.startswith(BROUGHT_ALONG)
        }
        named = self.definition(stem)
        if named != self.file:
            wanted[named] = f'syntax = "proto3";\n\nimport public "{self.file}";\n'
        return wanted


def sources_of(state: RegistryState) -> tuple[dict[TopicName, ProtoSources], dict[TopicName, str]]:
    """The files of each PROTOBUF_NATIVE schema, and why the others have none."""
    grouped: dict[TopicName, ProtoSources] = {}
    reasons: dict[TopicName, str] = {}
    for name, topic in state.topics.items():
        latest = topic.history.latest
        if latest is not None and is_compiled(latest.info.type):
            try:
                grouped[name] = proto_sources(latest.info)
            except UnwritableProtoError as error:
                reasons[name] = str(error)
    return grouped, reasons


def proto_sources(info: SchemaInfo) -> ProtoSources:
    """The files from which a PROTOBUF_NATIVE schema was made.

    Raises UnwritableProtoError where no file compiles to the schema, or nothing is there to
    compile it with.
    """
    if not Protoc.is_installed():
        raise UnwritableProtoError(WITHOUT_PROTOC)
    try:
        given = read_envelope(info.schema.encode("utf-8", "replace"))
        files = _files(given)
    except InvalidEnvelopeError as error:
        raise UnwritableProtoError(str(error)) from error
    file, message = given.root_file_descriptor_name, given.root_message_type_name or ""
    if file not in files or envelope(files, file, message) != info.schema:
        raise UnwritableProtoError(_difference(given, files))
    _check_names(files)
    texts = proto_texts([files[name][0] for name in files_in_import_order(files, file)])
    return ProtoSources(file=file, message=message, texts=texts)


def _files(given: Envelope) -> Files:
    """The files of an envelope as they are after protoc; raises InvalidEnvelopeError."""
    files = read_files(_members(given))
    if any(text not in files for file, _ in files.values() for text in file.dependency):
        raise InvalidEnvelopeError("an import is not in the envelope")
    return files


def _members(given: Envelope) -> tuple[bytes, ...]:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.message import DecodeError

    try:
        file_descriptor_set = FileDescriptorSet.FromString(given.file_descriptor_set)
    except DecodeError as error:
        raise InvalidEnvelopeError("the envelope has no descriptors") from error
    if not _is_text(file_descriptor_set):
        raise InvalidEnvelopeError("a name or a text of the descriptors is not UTF-8")
    return tuple(file.SerializeToString(deterministic=True) for file in file_descriptor_set.file)


def _is_text(message: Message) -> bool:
    """Whether no text is bytes, which the library makes of what is not UTF-8."""
    for field, value in message.ListFields():
        several = value if isinstance(value, MutableSequence) else [value]
        if field.message_type:
            if not all(map(_is_text, several)):
                return False
        elif field.type == field.TYPE_STRING and any(isinstance(item, bytes) for item in several):
            return False
    return True


def _difference(given: Envelope, files: Files) -> str:
    """Why the text of an envelope is not the one that Java's client makes of its own files."""
    if {data for _, data in files.values()} != set(_members(given)):
        return "it has JSON names of fields, which a client does not send, as protoc writes them"
    return "its files are not in the order or the form in which Java's client sends them"


def _check_names(names: Iterable[str]) -> None:
    folded: set[str] = set()
    for name in names:
        if not _PATH.fullmatch(name) or name.lower() in folded:
            raise UnwritableProtoError(f"its file '{name}' cannot be written under that name")
        folded.add(name.lower())
