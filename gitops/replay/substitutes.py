"""What stands in place of sensitive values: of the same type, so that readers accept it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from typing import Any, Final, final
from uuid import UUID

from gitops.replay.sensitive_fields import REDACTED
from gitops.schemas.avro.schema import Enum, Fixed, Schema


class Substitutes:
    """The same everywhere: nothing of the value is left but its type."""

    how = "redact"

    def number(self, _value: Any, _most: int) -> int:  # noqa: ANN401 - any value of a field
        """In place of a number, an index or a flag; below `most`."""
        return 0

    def text(self, _value: str) -> str:
        """In place of a text."""
        return REDACTED

    def data(self, _value: bytes, size: int) -> bytes:
        """In place of bytes, so many."""
        return bytes(size)


@final
class KeyedHashes(Substitutes):
    """By the value and a key (HMAC-SHA-256).

    Equal values stay equal, and nobody without the key can find them by trying.
    """

    how = "hash"

    def __init__(self, key: bytes) -> None:
        self._key = key

    def number(self, value: Any, most: int) -> int:  # noqa: ANN401 - any value of a field
        """As Substitutes has it."""
        return int.from_bytes(self._digest(repr(value).encode())[:8], "big") % most

    def text(self, value: str) -> str:
        """Of 32 hexadecimal digits."""
        return self._digest(value.encode("utf-8", "surrogatepass")).hex()[:32]

    def data(self, value: bytes, size: int) -> bytes:
        """As Substitutes has it."""
        data = b"".join(
            self._digest(number.to_bytes(4, "big") + value) for number in range(size // 32 + 1)
        )
        return data[:size]

    def _digest(self, value: bytes) -> bytes:
        return hmac.new(self._key, value, hashlib.sha256).digest()


_BOUNDS: Final = {"int": 2**31, "long": 2**53}
_LOGICAL_BOUNDS: Final = {"int": 20_000, "long": 2**36}
"""Below these a number is a day, a time of day or a moment in every unit."""

_BYTES: Final = 16


def substitute(schema: Schema, value: Any, by: Substitutes) -> Any:  # noqa: ANN401
    """In place of a value without members, of the same type."""
    match schema:
        case Enum():
            return schema.symbols[by.number(value, len(schema.symbols))]
        case Fixed():
            return _decimal(schema, value, by) or by.data(value, schema.size)
        case _ if schema.kind in _SCALARS:
            return _SCALARS[schema.kind](schema, value, by)
    return value


def _whole_number(schema: Schema, value: int, by: Substitutes) -> int:
    bounds = _LOGICAL_BOUNDS if schema.props.get("logicalType") else _BOUNDS
    return by.number(value, bounds[schema.kind])


def _string(schema: Schema, value: str, by: Substitutes) -> str:
    if schema.props.get("logicalType") == "uuid":
        return str(UUID(bytes=by.data(value.encode("utf-8", "replace"), _BYTES)))
    return by.text(value)


_SCALARS: Final[dict[str, Callable[[Schema, Any, Substitutes], Any]]] = {
    "boolean": lambda _schema, value, by: bool(by.number(value, 2)),
    "int": _whole_number,
    "long": _whole_number,
    "float": lambda _schema, value, by: float(by.number(value, 2**24)),
    "double": lambda _schema, value, by: float(by.number(value, 2**24)),
    "string": _string,
    "bytes": lambda schema, value, by: _decimal(schema, value, by) or by.data(value, _BYTES),
}


def _decimal(schema: Schema, value: bytes, by: Substitutes) -> bytes | None:
    """Of a decimal, within its precision; None where it is none."""
    precision = schema.props.get("precision")
    if schema.props.get("logicalType") != "decimal" or not isinstance(precision, int):
        return None
    size = schema.size if isinstance(schema, Fixed) else _BYTES
    most = min(10 ** min(precision, 18), 2 ** (8 * size - 1))
    return by.number(value, most).to_bytes(size, "big")
