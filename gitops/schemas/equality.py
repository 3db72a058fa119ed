"""When two schemas are one version: the registry's equality, not that of bytes."""

from __future__ import annotations

from collections.abc import Sequence

from gitops.model.decision import StoredSchema
from gitops.model.schema import AVRO_DEFINED
from gitops.schemas.avro import equality as avro
from gitops.schemas.avro.parser import parse_data
from gitops.schemas.avro.schema import Schema


def find_equal(entries: Sequence[tuple[int, StoredSchema]], candidate: StoredSchema) -> int | None:
    """The oldest version that equals `candidate`; raises AvroParseError.

    AVRO, JSON and PROTOBUF are parsed, defaults checked, and compared by Avro's equality; every
    other type by its bytes. Types must match, properties never count. Versions behind the first
    hit are not read, so a broken one there does no harm (Pulsar 4.0.7).
    """
    if entries and candidate.type in AVRO_DEFINED:
        parse(candidate)  # the broker reads it before any version
    return next((version for version, entry in entries if are_equal(candidate, entry)), None)


def are_equal(one: StoredSchema, other: StoredSchema) -> bool:
    """Whether the registry takes both for one version; raises AvroParseError.

    A definition counts only beside another definition: the bytes of other types are not read.
    """
    if one.type in AVRO_DEFINED and other.type in AVRO_DEFINED:
        mine, theirs = parse(one), parse(other)
        return one.type is other.type and avro.equal(mine, theirs)
    return one.type is other.type and one.data == other.data


def parse(schema: StoredSchema) -> Schema:
    """An Avro definition as equality reads it, with its defaults; raises AvroParseError."""
    return parse_data(schema.data, validate_defaults=True)
