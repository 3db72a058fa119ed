"""The old form of JSON definitions: Jackson's JsonSchema, which Pulsar still reads.

Only whether a text is in that form matters, and its `id`; nothing in it is ever compared.
"""

from __future__ import annotations

import json
from typing import Any, Final

_TYPES: Final = frozenset(
    {"string", "number", "integer", "boolean", "object", "array", "null", "any"}
)


class UnknownTypeIdError(ValueError):
    """A top-level `type` that Jackson does not know; the broker answers 500 (Pulsar 4.0.7)."""


class NotJacksonError(ValueError):
    """The text is no JsonSchema."""


def read(text: str) -> dict[str, Any] | None:
    """The object, or None for the text `null`; raises NotJacksonError, UnknownTypeIdError.

    Text behind the value is not looked at (Pulsar 4.0.7).
    """
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip(" \t\r\n"))
    except (ValueError, RecursionError) as error:
        raise NotJacksonError(str(error)) from None
    if value is None:
        return None
    if not isinstance(value, dict):
        raise NotJacksonError("expected an object")
    kind = value.get("type")
    if not isinstance(kind, str):
        raise NotJacksonError("it has no 'type'")
    if kind not in _TYPES:
        raise UnknownTypeIdError(f"'{kind}' is not a type of JsonSchema")
    return value
