"""When two schemas are one version: the registry's equality, not that of bytes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from gitops.compatibility.avro.canonical import key
from gitops.compatibility.avro.parser import parse_data
from gitops.compatibility.decision import StoredSchema
from gitops.model.schema import AVRO_DEFINED


def find_equal(entries: Sequence[tuple[int, StoredSchema]], candidate: StoredSchema) -> int | None:
    """The oldest version that equals `candidate`; raises AvroParseError.

    AVRO, JSON and PROTOBUF are parsed, defaults checked, and compared by Avro's equality; every
    other type by its bytes. Types must match, properties never count. Versions behind the first
    hit are not read, so a broken one there does no harm (Pulsar 4.0.7).
    """
    if not entries:
        return None
    wanted = identity(candidate)
    for version, entry in entries:
        if identity(entry, beside=candidate) == wanted:
            return version
    return None


def identity(schema: StoredSchema, *, beside: StoredSchema | None = None) -> Hashable:
    """Equal for two schemas exactly if the registry takes them for one version.

    Raises AvroParseError for an Avro definition that does not parse, unless the schema that it
    stands `beside` is compared by its bytes.
    """
    struct = schema.type in AVRO_DEFINED and (beside is None or beside.type in AVRO_DEFINED)
    if not struct:
        return (schema.type, schema.data)
    return (schema.type, key(parse_data(schema.data, validate_defaults=True)))
