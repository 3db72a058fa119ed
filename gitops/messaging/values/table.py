"""The table from schema types to their encoders, and the schemas that a caller may hand over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from gitops.messaging.values.primitive import FIXED_TYPES, FixedSchema, StringSchema
from gitops.messaging.values.schema import BytesSchema, ValueSchema, from_wire
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import PayloadError, to_info

_KEPT_SCHEMAS: Final = 1024
"""How many objects of the caller are known by their encoder, so that none is made a message."""


def value_schema(info: SchemaInfo) -> ValueSchema:
    """The encoder of a schema; raises UsageError where the definition is not valid."""
    make = _MAKERS.get(info.type)
    if make is None:
        raise UsageError(
            f"no messages can be written with a schema of type {info.type.value}",
            hint="send the bytes with gitops.messaging.BytesSchema(info)",
        )
    return make(info)


def schema_of(given: Any) -> ValueSchema:  # noqa: ANN401 - what callers have
    """The encoder of whatever a caller calls a schema; raises UsageError.

    A ValueSchema itself, a schema of `pulsar-client` (`pulsar.schema.AvroSchema(Order)`), or a
    generated protobuf class.
    """
    return _schema_of(given)


@lru_cache(maxsize=_KEPT_SCHEMAS)
def _schema_of(given: Any) -> ValueSchema:  # noqa: ANN401 - as above
    if isinstance(given, ValueSchema):
        return given
    if hasattr(given, "DESCRIPTOR") and isinstance(given, type):
        from gitops.messaging.values.protobuf import protobuf_definition

        kind = SchemaType.PROTOBUF_NATIVE
        return value_schema(SchemaInfo(type=kind, schema=protobuf_definition(given)))
    if hasattr(given, "schema_info") and hasattr(given, "encode"):
        return ClientSchema(given)
    raise UsageError(
        f"{type(given).__name__} is no schema",
        hint="use value_schema(SchemaInfo(…)), a pulsar.schema class or a protobuf class",
    )


def stored_value_schema(schema: api.Schema) -> ValueSchema:
    """The encoder of a schema that a broker answered; raises UsageError."""
    try:
        return value_schema(to_info(from_wire(schema)))
    except PayloadError as error:
        raise UsageError(f"the topic's schema cannot be used to write: {error}") from None


class ClientSchema(ValueSchema):
    """A schema of `pulsar-client` as it is: its definition and its bytes."""

    def __init__(self, schema: Any) -> None:  # noqa: ANN401 - it ships no types
        value = schema.schema_info()
        kind = SchemaType(value.schema_type().name)
        super().__init__(SchemaInfo(type=kind, schema=value.schema()))
        self._schema = schema

    def encode(self, value: Any) -> bytes:  # noqa: ANN401 - what that schema takes
        """What that schema makes of the value; raises InvalidValueError."""
        try:
            return bytes(self._schema.encode(value))
        except Exception as error:  # noqa: BLE001 - it raises whatever a value's type raises
            raise self.invalid(error) from None

    def validate(self, payload: bytes) -> None:
        """As for a schema of that definition."""
        value_schema(self.info).validate(payload)


class AutoProduceSchema(ValueSchema):
    """Bytes that are validated before they are sent (Java's AUTO_PRODUCE_BYTES).

    Wraps an actual schema; the producer's own AUTO_PRODUCE wraps the topic's latest one.
    """

    takes_bytes = True

    def __init__(self, actual: ValueSchema) -> None:
        super().__init__(actual.info)
        self.separates_key = actual.separates_key
        self._actual = actual

    def encode(self, value: Any) -> bytes:  # noqa: ANN401 - checked here
        """The bytes; raises InvalidValueError for others than those of a value."""
        if not isinstance(value, bytes):
            raise self.invalid(f"bytes are expected, not {type(value).__name__}")
        self.validate(value)
        return value

    def validate(self, payload: bytes) -> None:
        """As the actual schema has it."""
        self._actual.validate(payload)


def _avro(info: SchemaInfo) -> ValueSchema:
    from gitops.messaging.values.struct_schemas import AvroSchema

    return AvroSchema(info)


def _json(info: SchemaInfo) -> ValueSchema:
    from gitops.messaging.values.struct_schemas import JsonSchema

    return JsonSchema(info)


def _protobuf(info: SchemaInfo) -> ValueSchema:
    from gitops.messaging.values.protobuf import ProtobufSchema

    return ProtobufSchema(info)


def _protobuf_native(info: SchemaInfo) -> ValueSchema:
    from gitops.messaging.values.protobuf import ProtobufNativeSchema

    return ProtobufNativeSchema(info)


def _key_value(info: SchemaInfo) -> ValueSchema:
    from gitops.messaging.values.key_value import KeyValueSchema

    return KeyValueSchema(info, value_schema)


_MAKERS: Final[Mapping[SchemaType, Callable[[SchemaInfo], ValueSchema]]] = {
    **dict.fromkeys(FIXED_TYPES, FixedSchema),
    SchemaType.BYTES: BytesSchema,
    SchemaType.NONE: BytesSchema,
    SchemaType.EXTERNAL: BytesSchema,
    SchemaType.STRING: StringSchema,
    SchemaType.AVRO: _avro,
    SchemaType.JSON: _json,
    SchemaType.PROTOBUF: _protobuf,
    SchemaType.PROTOBUF_NATIVE: _protobuf_native,
    SchemaType.KEY_VALUE: _key_value,
}
