"""The text and the properties of a KEY_VALUE, as Java's KeyValueSchemaInfo writes them.

Seen with the classes of Pulsar 4.0.7.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gitops.model.schema import KeyValueEncodingType, SchemaType
from gitops.schemas.avro.json_text import JsonTextError, blank_comments, read_json

JAVA_NAMES: Final[Mapping[str, str]] = {
    "BYTES": "Bytes", "STRING": "String", "BOOLEAN": "Boolean", "INT8": "INT8", "INT16": "INT16",
    "INT32": "INT32", "INT64": "INT64", "FLOAT": "Float", "DOUBLE": "Double", "DATE": "Date",
    "TIME": "Time", "TIMESTAMP": "Timestamp", "INSTANT": "Instant", "LOCAL_DATE": "LocalDate",
    "LOCAL_TIME": "LocalTime", "LOCAL_DATE_TIME": "LocalDateTime",
}  # fmt: skip
"""How Java's client calls the schemas that have no definition; it calls the others nothing."""

_STRING_OR_SPACE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[ \t\r\n]+', re.DOTALL)
_HTML: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&='\u2028\u2029"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """The key or the value; `text` is its definition in JSON, empty where it has none."""

    type: SchemaType
    text: str = ""
    name: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


def compact(text: str) -> str:
    """JSON without comments and without space between its words; raises JsonTextError."""
    try:
        read_json(text)
    except RecursionError:
        raise JsonTextError("nested too deep to be read", 0) from None
    blanked = blank_comments(text) if "/" in text else text
    return _STRING_OR_SPACE.sub(lambda m: m[0] if m[0][0] == '"' else "", blanked)


def pair_text(key: Half, value: Half) -> str:
    """The member `schema` of admin REST: an object of both definitions."""
    return f'{{"key":{key.text or _NOTHING},"value":{value.text or _NOTHING}}}'


def pair_properties(key: Half, value: Half, encoding: KeyValueEncodingType) -> dict[str, str]:
    """The properties that say what the halves are."""
    return {
        **_half_properties("key", key),
        **_half_properties("value", value),
        "kv.encoding.type": encoding.value,
    }


_NOTHING: Final = '""'


def _half_properties(prefix: str, half: Half) -> dict[str, str]:
    return {
        f"{prefix}.schema.name": half.name,
        f"{prefix}.schema.type": half.type.value,
        f"{prefix}.schema.properties": gson(half.properties),
    }


def gson(properties: Mapping[str, str]) -> str:
    """A map as Java's client writes it: keys in order, HTML's characters escaped."""
    ordered = {key: properties[key] for key in sorted(properties, key=_java_order)}
    text = json.dumps(ordered, separators=(",", ":"), ensure_ascii=False)
    return text.translate(_HTML)


def _java_order(text: str) -> bytes:
    """Java compares UTF-16 units, Python code points."""
    return text.encode("utf-16-be", "surrogatepass")
