"""Between the text of admin REST and the bytes that the registry stores."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.schema import AUTO_TYPES, SchemaHistory, SchemaInfo, SchemaType
from gitops.schemas.key_value import parser

_KEPT_AS_NONE: Final = AUTO_TYPES | {SchemaType.BYTES}


class PayloadError(ValueError):
    """The text cannot be turned into what is stored; the broker answers 500."""


def to_stored(info: SchemaInfo) -> StoredSchema:
    """What POST …/schema hands to the registry for `info`; raises PayloadError."""
    data = info.schema.encode("utf-8", "replace")
    if info.type is SchemaType.KEY_VALUE:
        try:
            data = parser.pack(info.schema)
        except parser.UndecodableError as error:
            raise PayloadError(str(error)) from None
    return StoredSchema(type=info.type, data=data, properties=info.properties)


def as_kept(schema: StoredSchema) -> StoredSchema:
    """The schema as it is read back: BYTES is kept as NONE (Pulsar 4.0.7)."""
    return replace(schema, type=SchemaType.NONE) if schema.type in _KEPT_AS_NONE else schema


def to_info(stored: StoredSchema) -> SchemaInfo:
    """What GET …/schema answers for a stored schema; raises PayloadError."""
    text = stored.data.decode("utf-8", "replace")
    if stored.type is SchemaType.KEY_VALUE:
        try:
            text = parser.to_text(stored)
        except parser.UndecodableError as error:
            raise PayloadError(str(error)) from None
    return SchemaInfo(type=stored.type, schema=text, properties=stored.properties)


def as_shown(info: SchemaInfo) -> StoredSchema:
    """What can be told of a schema from outside, once it is registered; raises PayloadError.

    A KEY_VALUE loses what is stored of halves that need no definition (Pulsar 4.0.7).
    """
    kept = as_kept(to_stored(info))
    return to_stored(to_info(kept)) if kept.type is SchemaType.KEY_VALUE else kept


def stored_history(history: SchemaHistory) -> StoredHistory:
    """A history as admin REST shows it, as bytes; raises PayloadError."""
    entries = tuple((e.version, as_kept(to_stored(e.info))) for e in history.entries)
    return StoredHistory(entries=entries, next_version=history.next_version)
