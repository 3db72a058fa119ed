"""What every schema of a message is: its definition, and how its values become bytes."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from gitops.messaging.errors import InvalidValueError
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.decision import StoredSchema
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import PayloadError, to_stored

_NO_SCHEMA: Final = frozenset({SchemaType.BYTES, SchemaType.NONE})


class ValueSchema(ABC):
    """A schema with which a producer writes values.

    `digest` is the same for two schemas exactly if type, definition and properties are. Java's
    SchemaHash leaves the properties out (Pulsar 4.0.7), so that KEY_VALUE schemas of different
    primitive halves share a version there.
    """

    separates_key = False
    """Whether a value brings its own key: KEY_VALUE with the encoding SEPARATED."""
    takes_bytes = False
    """Whether values are payloads already, whose key is apart from them."""

    def __init__(self, info: SchemaInfo) -> None:
        """Raise UsageError for a definition that no registry accepts."""
        self.info: Final = info
        try:
            self.stored: Final[StoredSchema] = to_stored(info)
        except PayloadError as error:
            raise UsageError(f"the {info.type.value} schema is not valid: {error}") from None
        self.digest: Final = _digest(self.stored)

    @property
    def has_definition(self) -> bool:
        """Whether a broker keeps it: bytes alone are sent without a schema."""
        return self.info.type not in _NO_SCHEMA

    def to_wire(self) -> api.Schema:
        """The schema as commands carry it."""
        kept = self.stored if self.has_definition else StoredSchema(type=SchemaType.NONE, data=b"")
        schema = api.Schema(name="schema", schema_data=kept.data, type=kept.type.value)
        schema.properties.extend(key_values(kept.properties))
        return schema

    @abstractmethod
    def encode(self, value: Any) -> bytes:  # noqa: ANN401 - what the type's own schema takes
        """The payload of a value; raises InvalidValueError."""

    @abstractmethod
    def validate(self, payload: bytes) -> None:
        """Raise InvalidValueError for bytes that are no value of this schema."""

    def invalid(self, reason: object) -> InvalidValueError:
        """The error of a value that does not fit."""
        return InvalidValueError(
            f"the value does not fit the {self.info.type.value} schema: {reason}",
            hint="nothing was sent; change the value, or send it with another schema",
        )


class BytesSchema(ValueSchema):
    """Bytes as they are, with any schema beside them: nothing is looked at."""

    takes_bytes = True

    def __init__(self, info: SchemaInfo | None = None) -> None:
        super().__init__(info or SchemaInfo(type=SchemaType.BYTES))

    def encode(self, value: Any) -> bytes:  # noqa: ANN401 - checked here
        """The bytes."""
        if not isinstance(value, bytes | bytearray | memoryview):
            raise self.invalid(f"bytes are expected, not {type(value).__name__}")
        return bytes(value)

    def validate(self, payload: bytes) -> None:
        """Any bytes fit."""


def from_wire(schema: api.Schema) -> StoredSchema:
    """The schema that a broker answered."""
    properties = {key_value.key: key_value.value for key_value in schema.properties}
    kind = SchemaType(api.Schema.Type.Name(schema.type))
    return StoredSchema(type=kind, data=schema.schema_data, properties=properties)


def key_values(properties: Mapping[str, str]) -> list[api.KeyValue]:
    """Properties as the protocol has them, in order of their names."""
    return [api.KeyValue(key=key, value=value) for key, value in sorted(properties.items())]


def _digest(stored: StoredSchema) -> bytes:
    sha = hashlib.sha256()
    parts = [stored.type.value.encode(), stored.data]
    for pair in sorted(stored.properties.items()):
        parts += [text.encode("utf-8", "surrogatepass") for text in pair]
    for part in parts:
        sha.update(len(part).to_bytes(8, "big") + part)
    return sha.digest()
