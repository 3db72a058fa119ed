"""PROTOBUF_NATIVE and PROTOBUF: messages of generated classes or of the schema's descriptors."""

from __future__ import annotations

from typing import Any, cast

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, EncodeError, Message
from google.protobuf.message_factory import GetMessageClass

from gitops.messaging.values.schema import ValueSchema
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo
from gitops.repository.definitions.protobuf import envelope, read_files
from gitops.schemas.protobuf_native.envelope import read_envelope
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError
from gitops.schemas.protobuf_native.parser import default_json_name


class ProtobufSchema(ValueSchema):
    """Values are messages; PROTOBUF's definition is Avro's and describes no message class."""

    def encode(self, value: Any) -> bytes:  # noqa: ANN401 - checked here
        """The message's bytes; raises InvalidValueError."""
        if not isinstance(value, Message):
            raise self.invalid(f"a protobuf message is expected, not {type(value).__name__}")
        try:
            return value.SerializeToString()
        except EncodeError as error:
            raise self.invalid(error) from None

    def validate(self, payload: bytes) -> None:
        """Any bytes may be a message of a class that is not known here."""


class ProtobufNativeSchema(ProtobufSchema):
    """Values are messages of the definition's root, or mappings in protobuf's JSON form."""

    def __init__(self, info: SchemaInfo) -> None:
        super().__init__(info)
        self._class = _message_class(self.stored.data)

    def encode(self, value: Any) -> bytes:  # noqa: ANN401 - checked here
        """The message's bytes; raises InvalidValueError."""
        if isinstance(value, Message) and value.DESCRIPTOR.full_name != self._root:
            raise self.invalid(f"a {self._root} is expected, not a {value.DESCRIPTOR.full_name}")
        return super().encode(self._parse(value) if isinstance(value, dict) else value)

    def validate(self, payload: bytes) -> None:
        """Parse it as the root message."""
        try:
            message = self._class.FromString(payload)
        except DecodeError as error:
            raise self.invalid(error) from None
        if not message.IsInitialized():
            raise self.invalid("a required field is missing")

    @property
    def _root(self) -> str:
        return str(self._class.DESCRIPTOR.full_name)

    def _parse(self, value: dict[str, Any]) -> Message:
        from google.protobuf.json_format import ParseDict, ParseError

        try:
            return ParseDict(value, self._class())
        except ParseError as error:
            raise self.invalid(error) from None


def protobuf_definition(message: type[Message]) -> str:
    """The PROTOBUF_NATIVE definition of a generated class, as Java's client writes it."""
    root = message.DESCRIPTOR
    files = read_files(
        tuple(
            _serialized(file) for file in _with_imports(cast("FileDescriptor", root.file)).values()
        )
    )
    return envelope(files, root.file.name, root.full_name)


def _with_imports(file: FileDescriptor) -> dict[str, FileDescriptor]:
    grouped: dict[str, FileDescriptor] = {}
    waiting = [file]
    while waiting:
        file_descriptor = waiting.pop()
        if file_descriptor.name not in grouped:
            grouped[file_descriptor.name] = file_descriptor
            waiting += file_descriptor.dependencies
    return grouped


def _serialized(file: FileDescriptor) -> bytes:
    """The file as protoc writes it into a descriptor set: with all JSON names."""
    result = FileDescriptorProto.FromString(file.serialized_pb)
    waiting = list(result.message_type)
    fields = list(result.extension)
    while waiting:
        message = waiting.pop()
        waiting += message.nested_type
        fields += [*message.field, *message.extension]
    for field in fields:
        field.json_name = field.json_name or default_json_name(field.name)
    return result.SerializeToString(deterministic=True)


def _message_class(data: bytes) -> type[Message]:
    """The root's class in a pool of its own, so that two versions of a message may differ."""
    try:
        read = read_envelope(data)
        pool = DescriptorPool()
        for file in FileDescriptorSet.FromString(read.file_descriptor_set).file:
            pool.Add(file)
        return GetMessageClass(pool.FindMessageTypeByName(read.root_message_type_name or ""))
    except (InvalidEnvelopeError, DecodeError, KeyError, TypeError) as error:
        raise UsageError(f"the PROTOBUF_NATIVE schema cannot be used to write: {error}") from None
