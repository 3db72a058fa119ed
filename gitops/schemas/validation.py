"""The broker's first gate: whether the data of a schema is valid for its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.schema import AUTO_TYPES, SchemaType
from gitops.schemas.avro.errors import AvroParseError, JavaError
from gitops.schemas.avro.parser import parse_data
from gitops.schemas.json import legacy_parser
from gitops.schemas.key_value import parser
from gitops.schemas.protobuf_native.errors import EndlessImportsError, InvalidEnvelopeError
from gitops.schemas.protobuf_native.root_message import root_message


class InvalidSchemaDataError(ValueError):
    """The data is not valid; `status` is what the broker answers, 422 or 500."""

    def __init__(self, message: str, *, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


def validate(schema: StoredSchema) -> None:
    """Raise InvalidSchemaDataError where Pulsar 4.0.7's SchemaDataValidator would.

    It runs before everything else, also for a schema that is registered already.
    """
    if schema.type in AUTO_TYPES:
        raise InvalidSchemaDataError(f"{schema.type.value} is for clients and is never stored")
    _VALIDATORS.get(schema.type, _empty)(schema)


def _anything(_schema: StoredSchema) -> None:
    pass


def _empty(schema: StoredSchema) -> None:
    if schema.data:
        raise InvalidSchemaDataError(f"{schema.type.value} takes no definition")


def _string(schema: StoredSchema) -> None:
    if schema.data not in (b"", b"null"):
        raise InvalidSchemaDataError("STRING takes no definition")


def _avro(schema: StoredSchema) -> None:
    try:
        parsed = parse_data(schema.data)
    except AvroParseError as error:
        raise InvalidSchemaDataError(f"not a valid Avro schema: {error}") from None
    if schema.type is SchemaType.AVRO and parsed.kind == "union":
        raise InvalidSchemaDataError("an AVRO schema cannot be a union at the top")


def _json(schema: StoredSchema) -> None:
    try:
        parse_data(schema.data)
    except AvroParseError as error:
        if error.java is not JavaError.SCHEMA_PARSE:
            raise InvalidSchemaDataError(f"not a valid JSON schema: {error}") from None
        _jackson(schema, error)


def _jackson(schema: StoredSchema, avro: AvroParseError) -> None:
    try:
        legacy_parser.read_data(schema.data)
    except legacy_parser.NotJacksonError:
        raise InvalidSchemaDataError(f"not a valid JSON schema: {avro}") from None
    except legacy_parser.UnknownTypeIdError:
        raise InvalidSchemaDataError(f"not a valid JSON schema: {avro}", status=500) from None


def _protobuf_native(schema: StoredSchema) -> None:
    try:
        root_message(schema.data)
    except EndlessImportsError as error:
        raise InvalidSchemaDataError(str(error), status=500) from None
    except InvalidEnvelopeError as error:
        raise InvalidSchemaDataError(str(error)) from None


def _key_value(schema: StoredSchema) -> None:
    try:
        halves = parser.split(schema)
    except parser.UndecodableError as error:
        raise InvalidSchemaDataError(str(error), status=500) from None
    for name, half in zip(("key", "value"), halves, strict=True):
        try:
            validate(half)
        except InvalidSchemaDataError as error:
            raise InvalidSchemaDataError(f"{name}: {error}", status=error.status) from None


_VALIDATORS: Final[dict[SchemaType, Callable[[StoredSchema], None]]] = {
    SchemaType.NONE: _anything,
    SchemaType.BYTES: _anything,
    SchemaType.STRING: _string,
    SchemaType.AVRO: _avro,
    SchemaType.PROTOBUF: _avro,
    SchemaType.JSON: _json,
    SchemaType.PROTOBUF_NATIVE: _protobuf_native,
    SchemaType.KEY_VALUE: _key_value,
}
