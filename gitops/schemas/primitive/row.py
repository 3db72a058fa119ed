"""The rows of types without a definition in the table of schema types."""

from __future__ import annotations

from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.schema import SchemaType
from gitops.schemas.row import InvalidSchemaDataError, SchemaTypeRow


def _accept(_schema: StoredSchema) -> None:
    pass


def _validate_empty(schema: StoredSchema) -> None:
    if schema.data:
        raise InvalidSchemaDataError(f"{schema.type.value} has no definition")


def _validate_string(schema: StoredSchema) -> None:
    if schema.data not in (b"", b"null"):
        raise InvalidSchemaDataError("STRING has no definition")


def _refuse(schema: StoredSchema) -> None:
    raise InvalidSchemaDataError(f"{schema.type.value} is for clients and is never stored")


BYTES: Final = SchemaTypeRow(validate=_accept, kept_as=SchemaType.NONE)
"""Also NONE, as which Pulsar 4.0.7 keeps both."""

STRING: Final = SchemaTypeRow(validate=_validate_string)

VALUE: Final = SchemaTypeRow(validate=_validate_empty)
"""A boolean, a number, a date or a time."""

AUTO: Final = SchemaTypeRow(validate=_refuse, kept_as=SchemaType.NONE)
"""What only clients use: nothing of such a type is ever stored."""

_ALIKE: Final = (
    {SchemaType.INT8, SchemaType.BOOLEAN},
    {SchemaType.INT64, SchemaType.DATE, SchemaType.TIME, SchemaType.TIMESTAMP},
    {SchemaType.INT64, SchemaType.LOCAL_DATE},
    {SchemaType.INT64, SchemaType.LOCAL_TIME},
)
"""Types whose bytes may have been meant as one another (Java client 4.0.7)."""


def may_share_bytes(left: SchemaType, right: SchemaType) -> bool:
    """Whether values of one may be what the other reads: bytes may be anything."""
    types = {left, right}
    is_bytes = not types.isdisjoint({SchemaType.BYTES, SchemaType.NONE})
    return is_bytes or any(types <= alike for alike in _ALIKE)
