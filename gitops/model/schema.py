"""Schemas as Pulsar names them: SchemaType, SchemaInfo, and the history of a topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class SchemaType(Enum):
    """Every SchemaType that Pulsar's admin REST understands by name; EXTERNAL from 4.1 on."""

    NONE = "NONE"
    STRING = "STRING"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"
    AVRO = "AVRO"
    BOOLEAN = "BOOLEAN"
    INT8 = "INT8"
    INT16 = "INT16"
    INT32 = "INT32"
    INT64 = "INT64"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    KEY_VALUE = "KEY_VALUE"
    INSTANT = "INSTANT"
    LOCAL_DATE = "LOCAL_DATE"
    LOCAL_TIME = "LOCAL_TIME"
    LOCAL_DATE_TIME = "LOCAL_DATE_TIME"
    PROTOBUF_NATIVE = "PROTOBUF_NATIVE"
    EXTERNAL = "EXTERNAL"
    BYTES = "BYTES"
    AUTO = "AUTO"
    AUTO_CONSUME = "AUTO_CONSUME"
    AUTO_PUBLISH = "AUTO_PUBLISH"


AUTO_TYPES = frozenset({SchemaType.AUTO, SchemaType.AUTO_CONSUME, SchemaType.AUTO_PUBLISH})
"""Types that only clients use; a registry stores none of them."""


class KeyValueEncodingType(Enum):
    """How a KEY_VALUE message carries its key."""

    INLINE = "INLINE"
    SEPARATED = "SEPARATED"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaInfo:
    """A schema as admin REST takes and gives it.

    `schema` is the text of the member `schema` (POST) or `data` (GET): the definition itself, for
    KEY_VALUE the object of both halves, for PROTOBUF_NATIVE the envelope, empty for primitives.
    """

    type: SchemaType
    schema: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaEntry:
    """One stored version of a topic's schema; `timestamp` in ms since 1970, None if not known."""

    version: int
    info: SchemaInfo
    timestamp: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaHistory:
    """The live history of a topic (what stands after the last tombstone), oldest first.

    `next_version` is the number that the next stored entry gets: a deletion takes a number too, so
    it can be above zero while `entries` is empty (Pulsar 4.0.7).
    """

    entries: tuple[SchemaEntry, ...] = ()
    next_version: int = 0

    @property
    def latest(self) -> SchemaEntry | None:
        """The newest live entry, None where there is none."""
        return self.entries[-1] if self.entries else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedLoss:
    """Versions that a registry lost, and when somebody last accepted that (RFC 3339, in UTC)."""

    accepted: str
    versions: tuple[SchemaEntry, ...] = ()
