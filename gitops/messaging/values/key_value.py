"""KEY_VALUE: a pair in one payload (INLINE), or its key apart as the message's (SEPARATED)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from gitops.messaging.values.schema import ValueSchema
from gitops.model.errors import UsageError
from gitops.model.schema import KeyValueEncodingType, SchemaInfo, SchemaType
from gitops.schemas.key_value.parser import ENCODING, named_halves
from gitops.schemas.payload import to_info
from gitops.schemas.row import PayloadError, UndecodableError

_LENGTH: Final = struct.Struct(">i")
_NULL: Final = _LENGTH.pack(-1)
_PAIR: Final = 2


class KeyValueSchema(ValueSchema):
    """Values are pairs `(key, value)`, each None for null (Pulsar 4.0.7).

    INLINE: four bytes of length before the key and before the value, -1 for null.
    """

    def __init__(self, info: SchemaInfo, half: Callable[[SchemaInfo], ValueSchema]) -> None:
        super().__init__(info)
        try:
            self._key, self._value = (
                half(to_info(schema)) for _, (schema,) in named_halves(self.stored)
            )
        except (PayloadError, UndecodableError) as error:
            raise UsageError(f"the KEY_VALUE schema is not valid: {error}") from None
        separated = KeyValueEncodingType.SEPARATED.value
        self.separates_key = info.properties.get(ENCODING) == separated

    def split(self, pair: Any) -> tuple[bytes | None, bytes | None]:  # noqa: ANN401 - checked here
        """The key's and the value's own bytes; raises InvalidValueError."""
        if not isinstance(pair, tuple | list) or len(pair) != _PAIR:
            raise self.invalid("a pair (key, value) is expected")
        key, value = pair
        return (
            None if key is None else self._key.encode(key),
            None if value is None else self._value.encode(value),
        )

    def encode(self, value: Any) -> bytes:  # noqa: ANN401 - any pair
        """The pair in one payload, or the value alone where the key is apart."""
        key, payload = self.split(value)
        return payload or b"" if self.separates_key else _part(key) + _part(payload)

    def validate(self, payload: bytes) -> None:
        """Both halves, or the value alone where the key is apart."""
        if self.separates_key:
            self._value.validate(payload)
            return
        key, rest = self._take(payload)
        value, rest = self._take(rest)
        if rest:
            raise self.invalid(f"{len(rest)} bytes are left over")
        for schema, half in ((self._key, key), (self._value, value)):
            if half is not None:
                schema.validate(half)

    def _take(self, data: bytes) -> tuple[bytes | None, bytes]:
        if len(data) < _LENGTH.size:
            raise self.invalid("the pair ends too early")
        (length,) = _LENGTH.unpack_from(data)
        rest = data[_LENGTH.size :]
        if length == -1:
            return None, rest
        if not 0 <= length <= len(rest):
            raise self.invalid("the pair ends too early")
        return rest[:length], rest[length:]


def pair_info(key: SchemaInfo, value: SchemaInfo, encoding: KeyValueEncodingType) -> SchemaInfo:
    """The KEY_VALUE schema of two halves, as Java's client and the repository write it."""
    from gitops.repository.definitions.schema_builder import (
        JAVA_NAMES,
        Half,
        pair_properties,
        pair_text,
    )

    key_half, value_half = (
        Half(
            name=JAVA_NAMES.get(schema.type.value, ""),
            type=schema.type,
            text=schema.schema,
            properties=schema.properties,
        )
        for schema in (key, value)
    )
    return SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema=pair_text(key_half, value_half),
        properties=pair_properties(key_half, value_half, encoding),
    )


def _part(data: bytes | None) -> bytes:
    return _NULL if data is None else _LENGTH.pack(len(data)) + data
