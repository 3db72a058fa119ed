"""JSON: one compact document for each value."""

from __future__ import annotations

from typing import Any

import msgspec

from gitops.messaging.values.schema import ValueSchema


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
