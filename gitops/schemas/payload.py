"""Between the text of admin REST and the bytes that the registry stores."""

from __future__ import annotations

from dataclasses import replace

from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.schemas.row import PayloadError, UndecodableError
from gitops.schemas.types import TYPES

__all__ = [
    "PayloadError",
    "shown_schema",
    "stored_history",
    "to_info",
    "to_stored",
    "to_stored_type",
]


to_stored = TYPES.to_stored


def to_stored_type(schema: StoredSchema) -> StoredSchema:
    """The schema as it is read back: BYTES is kept as NONE (Pulsar 4.0.7)."""
    kept = TYPES.row_of(schema.type).kept_as
    return schema if kept is None else replace(schema, type=kept)


def to_info(stored: StoredSchema) -> SchemaInfo:
    """What GET …/schema answers for a stored schema; raises PayloadError."""
    try:
        text = TYPES.row_of(stored.type).show(stored)
    except UndecodableError as error:
        raise PayloadError(str(error)) from None
    return SchemaInfo(type=stored.type, schema=text, properties=stored.properties)


def shown_schema(info: SchemaInfo) -> StoredSchema:
    """What can be told of a schema from outside, once it is registered; raises PayloadError.

    A KEY_VALUE loses what is stored of halves that need no definition (Pulsar 4.0.7).
    """
    return to_stored(to_info(to_stored_type(to_stored(info))))


def stored_history(history: SchemaHistory) -> StoredHistory:
    """A history as admin REST shows it, as bytes; raises PayloadError."""
    entries = tuple((e.version, to_stored_type(to_stored(e.info))) for e in history.entries)
    return StoredHistory(entries=entries, next_version=history.next_version)
