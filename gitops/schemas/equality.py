"""When two schemas are one version: the registry's equality, not that of bytes."""

from __future__ import annotations

from collections.abc import Sequence

from gitops.model.decision import StoredSchema
from gitops.schemas.types import row_of


def find_equal(entries: Sequence[tuple[int, StoredSchema]], candidate: StoredSchema) -> int | None:
    """The oldest version that equals `candidate`; raises AvroParseError.

    AVRO, JSON and PROTOBUF are parsed, defaults checked, and compared by Avro's equality; every
    other type by its bytes. Types must match, properties never count. Versions behind the first
    hit are not read, so a broken one there does no harm (Pulsar 4.0.7).
    """
    if entries:
        read_definition(candidate)  # the broker reads it before any version
    return next((version for version, entry in entries if are_equal(candidate, entry)), None)


def are_equal(one: StoredSchema, other: StoredSchema) -> bool:
    """Whether the registry takes both for one version; raises AvroParseError.

    A definition counts only beside another definition: the bytes of other types are not read.
    """
    if one.type is other.type:
        return row_of(one.type).equal(one, other)
    if row_of(one.type).definition and row_of(other.type).definition:
        read_definition(one)
        read_definition(other)
    return False


def read_definition(schema: StoredSchema) -> None:
    """Raise AvroParseError for a definition on which the registry's equality fails."""
    read = row_of(schema.type).definition
    if read is not None:
        read(schema)
