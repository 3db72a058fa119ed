"""The table of schema types: what each of them is to a registry, to its readers and to us.

A new type is a package beside these and a row here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import AUTO_TYPES, SchemaInfo, SchemaType
from gitops.schemas.avro.equality import is_read_alike
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.row import avro_row
from gitops.schemas.external.row import EXTERNAL, UNKNOWN
from gitops.schemas.installed_checkers import installed_checker
from gitops.schemas.json.legacy_parser import LegacyParser
from gitops.schemas.json.row import json_row
from gitops.schemas.key_value.row import key_value_row
from gitops.schemas.primitive.row import AUTO, BYTES, STRING, VALUE
from gitops.schemas.protobuf.row import protobuf_row
from gitops.schemas.protobuf_native.row import protobuf_native_row
from gitops.schemas.row import (
    CheckList,
    DefinitionForm,
    PayloadError,
    SchemaTypeRow,
    UndecodableError,
)
from gitops.schemas.rules import ANY_LINE, SchemaRules
from gitops.schemas.strategies import LabelledSchema, Outcome


class SchemaTypes:
    """The schema types as one broker line has them."""

    def __init__(self, rules: SchemaRules) -> None:
        self._unchecked: Final = rules.unchecked
        self._rows: Final[Mapping[SchemaType, SchemaTypeRow]] = {
            **dict.fromkeys(SchemaType, VALUE),
            **dict.fromkeys(AUTO_TYPES, AUTO),
            SchemaType.NONE: BYTES,
            SchemaType.BYTES: BYTES,
            SchemaType.STRING: STRING,
            SchemaType.AVRO: avro_row(rules.avro, takes_top_union=rules.takes_top_union),
            SchemaType.JSON: json_row(
                rules.avro, rules.jackson, LegacyParser(rules.jackson_version)
            ),
            SchemaType.PROTOBUF: protobuf_row(rules.avro),
            SchemaType.PROTOBUF_NATIVE: protobuf_native_row(rules.descriptors),
            SchemaType.EXTERNAL: EXTERNAL if rules.has_external else UNKNOWN,
            SchemaType.KEY_VALUE: key_value_row(
                rules.deepest_pair, self.row_of, self.checker_of, self.unreadable_reason
            ),
        }

    def row_of(self, schema_type: SchemaType) -> SchemaTypeRow:
        """The row of a type; every type has one."""
        return self._rows[schema_type]

    def types_with(self, *forms: DefinitionForm) -> frozenset[SchemaType]:
        """The types whose definitions are written in one of these forms."""
        return frozenset(
            schema_type for schema_type, row in self._rows.items() if row.form in forms
        )

    def reads_alike(self, other_schema_types: SchemaTypes, schema: StoredSchema) -> bool:
        """Whether a schema is the same to both, so that decisions about such schemas are.

        Also False where it may be, but takes more to tell than to decide.
        """
        row, other_row = self._rows[schema.type], other_schema_types.row_of(schema.type)
        if row is other_row:
            return True
        if row.form is not DefinitionForm.AVRO or not (row.definition and other_row.definition):
            return False
        try:
            return is_read_alike(row.definition(schema), other_row.definition(schema))
        except (AvroParseError, RecursionError):
            return False

    # What a registry makes of a schema.

    def to_stored(self, info: SchemaInfo) -> StoredSchema:
        """What POST …/schema hands to the registry for `info`; raises PayloadError."""
        try:
            data = self._rows[info.type].pack(info.schema)
        except UndecodableError as error:
            raise PayloadError(str(error)) from None
        return StoredSchema(type=info.type, data=data, properties=info.properties)

    def validate(self, schema: StoredSchema) -> None:
        """Raise InvalidSchemaDataError where the broker's SchemaDataValidator would.

        It runs before everything else, also for a schema that is registered already.
        """
        self._rows[schema.type].validate(schema)

    def checker_of(self, schema_type: SchemaType) -> CheckList:
        """The checker for lists of versions: of an installed package, else the built-in one.

        A type without one has SchemaCompatibilityCheck.DEFAULT, also as a half, which refuses under
        ALWAYS_INCOMPATIBLE alone (classes of Pulsar 3.0.7 to 5.0.0-M1; seen on 4.0.7 and 4.2.4).
        """
        built_in = VALUE if schema_type in self._unchecked else self._rows[schema_type]
        return installed_checker(schema_type) or built_in.check

    def check_latest(
        self, latest: LabelledSchema, candidate: LabelledSchema, strategy: Strategy
    ) -> Outcome:
        """The checker for a single version, which is another one for JSON."""
        schema_type = candidate.schema.type
        check = self._rows[schema_type].check_latest
        is_other = schema_type in self._unchecked or installed_checker(schema_type) is not None
        if check is not None and not is_other:
            return check(latest, candidate, strategy)
        return self.checker_of(schema_type)([latest], candidate, strategy)

    def unreadable_reason(self, reader: StoredSchema, writer: StoredSchema) -> str | None:
        """Why a consumer fails on messages of `writer`; None if it reads them."""
        if reader.type is not writer.type:
            return f"it reads {reader.type.value}, and messages are {writer.type.value}"
        return self._rows[reader.type].unreadable_reason(reader, writer)

    # When two schemas are one version: the registry's equality, not that of bytes.

    def find_equal(
        self, entries: Sequence[tuple[int, StoredSchema]], candidate: StoredSchema
    ) -> int | None:
        """The oldest version that equals `candidate`; raises AvroParseError.

        AVRO, JSON and PROTOBUF are parsed, defaults checked, and compared by Avro's equality;
        every other type by its bytes. Types must match, properties never count. Versions behind
        the first hit are not read, so a broken one there does no harm (Pulsar 4.0.7).
        """
        if entries:
            self.read_definition(candidate)  # the broker reads it before any version
        return next(
            (version for version, entry in entries if self.are_equal(candidate, entry)), None
        )

    def are_equal(self, left: StoredSchema, right: StoredSchema) -> bool:
        """Whether the registry takes both for one version; raises AvroParseError.

        A definition counts only beside another definition: the bytes of other types are not read.
        """
        if left.type is right.type:
            return self._rows[left.type].equal(left, right)
        if self._rows[left.type].definition and self._rows[right.type].definition:
            self.read_definition(left)
            self.read_definition(right)
        return False

    def read_definition(self, schema: StoredSchema) -> None:
        """Raise AvroParseError for a definition on which the registry's equality fails."""
        read = self._rows[schema.type].definition
        if read is not None:
            read(schema)


@cache
def schema_types(rules: SchemaRules) -> SchemaTypes:
    """The table for a broker line's rules, made once."""
    return SchemaTypes(rules)


TYPES: Final = schema_types(ANY_LINE)
"""The table for what no broker is asked about: differences, reviews, replays."""

DEFINED_TYPES: Final = TYPES.types_with(*DefinitionForm)
"""Types that need a definition; the others are told by their type alone."""

AVRO_DEFINED: Final = TYPES.types_with(DefinitionForm.AVRO)
"""Types whose definition is an Avro schema, and which Pulsar compares by Avro's equality."""


def other_primitive(types: Collection[SchemaType]) -> SchemaType:
    """A type without a definition that is none of these."""
    candidates = (SchemaType.STRING, SchemaType.INT64, SchemaType.BOOLEAN)
    return next(candidate for candidate in candidates if candidate not in types)
