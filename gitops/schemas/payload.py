"""Between the text of admin REST and the bytes that the registry stores."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.schema import SchemaHistory, SchemaInfo, SchemaType
from gitops.schemas.key_value.parser import named_halves, with_half
from gitops.schemas.primitive.row import BYTES
from gitops.schemas.row import DefinitionForm, PayloadError, UndecodableError
from gitops.schemas.types import TYPES

__all__ = [
    "PayloadError",
    "shown_schema",
    "stored_history",
    "to_info",
    "to_stored",
    "to_stored_type",
]


_NULL: Final = b"null"

to_stored = TYPES.to_stored


def to_stored_type(schema: StoredSchema) -> StoredSchema:
    """The schema as it is read back: BYTES is kept as NONE (Pulsar 4.0.7)."""
    kept = TYPES.row_of(schema.type).kept_as
    return schema if kept is None else replace(schema, type=kept)


def to_sent_type(stored: StoredSchema) -> StoredSchema:
    """The schema as it may have been sent: NONE may have been BYTES (Pulsar 4.0.7)."""
    if stored.type is not BYTES.kept_as:
        return stored
    kept = (schema_type for schema_type in SchemaType if TYPES.row_of(schema_type) is BYTES)
    return replace(
        stored, type=next(schema_type for schema_type in kept if schema_type is not stored.type)
    )


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
    entries = tuple((e.version, _read_back(e.info)) for e in history.entries)
    return StoredHistory(entries=entries, next_version=history.next_version)


def _read_back(shown: SchemaInfo) -> StoredSchema:
    """What is stored of a schema that is shown so.

    An empty half of a KEY_VALUE that nobody reads is shown as null, as the text null is (Pulsar
    4.2.4): it is taken for empty, since null defines nothing.
    """
    stored = to_stored_type(to_stored(shown))
    if TYPES.row_of(stored.type).form is not DefinitionForm.HALVES:
        return stored
    try:
        for name, (half,) in named_halves(stored):
            if half.data == _NULL and TYPES.row_of(half.type).is_opaque:
                stored = with_half(stored, name, b"")
    except UndecodableError:  # the type of a half has a name that no line knows
        return stored
    return stored
