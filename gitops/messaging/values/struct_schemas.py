"""AVRO and JSON, Pulsar's struct schemas: binary datums, and compact documents."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import msgspec

from gitops.messaging.values.schema import ValueSchema
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo


class AvroSchema(ValueSchema):
    """Values are those of fastavro: a record is a mapping, logical types are Python's own.

    A payload is the plain datum, without any header.
    """

    def __init__(self, info: SchemaInfo) -> None:
        super().__init__(info)
        try:
            self._parsed = fastavro.parse_schema(json.loads(self.stored.data))
        except (
            ValueError,
            TypeError,
            KeyError,
            RecursionError,
            fastavro.schema.SchemaParseException,
        ) as error:
            raise UsageError(f"the AVRO schema cannot be used to write: {error}") from None

    def encode(self, value: Any) -> bytes:  # noqa: ANN401 - any Avro value
        """The datum; raises InvalidValueError."""
        out = io.BytesIO()
        try:
            fastavro.schemaless_writer(out, self._parsed, value)
        except Exception as error:  # noqa: BLE001 - fastavro raises whatever a value's type raises
            raise self.invalid(error) from None
        return out.getvalue()

    def validate(self, payload: bytes) -> None:
        """Decode it, to its last byte."""
        source = io.BytesIO(payload)
        try:
            fastavro.schemaless_reader(source, self._parsed, None)
        except Exception as error:  # noqa: BLE001 - as above
            raise self.invalid(f"the bytes cannot be decoded: {error!r}") from None
        if source.tell() != len(payload):
            raise self.invalid(f"{len(payload) - source.tell()} bytes are left over")


class JsonSchema(ValueSchema):
    """Values are what msgspec writes: mappings, lists, dataclasses, dates, UUIDs, numbers.

    As with Pulsar's clients the definition is not consulted: no broker and no client compares a
    JSON payload with it (Pulsar 4.0.7).
    """

    def encode(self, value: Any) -> bytes:  # noqa: ANN401 - any value that JSON can write
        """The document; raises InvalidValueError."""
        try:
            return msgspec.json.encode(value)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise self.invalid(error) from None

    def validate(self, payload: bytes) -> None:
        """Check that it is one JSON document."""
        try:
            msgspec.json.decode(payload, type=msgspec.Raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise self.invalid(error) from None
