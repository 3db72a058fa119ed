"""The table of schema types: what each of them is to a registry, to its readers and to us.

A new type is a package beside these and a row here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import AUTO_TYPES, SchemaType
from gitops.schemas.avro.row import AVRO
from gitops.schemas.installed_checkers import installed_checker
from gitops.schemas.json.row import JSON
from gitops.schemas.key_value.row import key_value_row
from gitops.schemas.primitive.row import AUTO, BYTES, STRING, VALUE
from gitops.schemas.protobuf.row import PROTOBUF
from gitops.schemas.protobuf_native.row import PROTOBUF_NATIVE
from gitops.schemas.row import CheckList, DefinitionForm, SchemaTypeRow
from gitops.schemas.strategies import LabelledSchema, Outcome


def row_of(schema_type: SchemaType) -> SchemaTypeRow:
    """The row of a type; every type has one."""
    return _ROWS[schema_type]


def checker_of(schema_type: SchemaType) -> CheckList:
    """The checker for lists of versions: of an installed package, else the built-in one."""
    return installed_checker(schema_type) or row_of(schema_type).check


def check_latest(latest: LabelledSchema, candidate: LabelledSchema, strategy: Strategy) -> Outcome:
    """The checker for a single version, which is another one for JSON."""
    schema_type = candidate.schema.type
    check = row_of(schema_type).check_latest
    if check is not None and installed_checker(schema_type) is None:
        return check(latest, candidate, strategy)
    return checker_of(schema_type)([latest], candidate, strategy)


def validate(schema: StoredSchema) -> None:
    """Raise InvalidSchemaDataError where Pulsar 4.0.7's SchemaDataValidator would.

    It runs before everything else, also for a schema that is registered already.
    """
    row_of(schema.type).validate(schema)


def why_unreadable(reader: StoredSchema, writer: StoredSchema) -> str | None:
    """Why a consumer fails on messages of `writer`; None if it reads them."""
    if reader.type is not writer.type:
        return f"it reads {reader.type.value}, and messages are {writer.type.value}"
    return row_of(reader.type).why_unreadable(reader, writer)


_ROWS: Final[Mapping[SchemaType, SchemaTypeRow]] = {
    **dict.fromkeys(SchemaType, VALUE),
    **dict.fromkeys(AUTO_TYPES, AUTO),
    SchemaType.NONE: BYTES,
    SchemaType.BYTES: BYTES,
    SchemaType.STRING: STRING,
    SchemaType.AVRO: AVRO,
    SchemaType.JSON: JSON,
    SchemaType.PROTOBUF: PROTOBUF,
    SchemaType.PROTOBUF_NATIVE: PROTOBUF_NATIVE,
    SchemaType.KEY_VALUE: key_value_row(row_of, checker_of, why_unreadable),
}

DEFINED_TYPES: Final = frozenset(each for each, row in _ROWS.items() if row.form)
"""Types that need a definition; the others are told by their type alone."""

AVRO_DEFINED: Final = frozenset(
    each for each, row in _ROWS.items() if row.form is DefinitionForm.AVRO
)
"""Types whose definition is an Avro schema, and which Pulsar compares by Avro's equality."""


# When two schemas are one version: the registry's equality, not that of bytes.


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
