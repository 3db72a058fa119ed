"""Rules about schemas: definitions, their changes, and what the broker does not compare."""

from __future__ import annotations

from typing import Final

from gitops.model.rules.rule import error, fixed_error, info, reader_warning, warning

AVRO_RULES: Final = (
    error(
        "AVRO-P001",
        "not a valid Avro definition",
        "repository.definitions.avro.AvroDefinitions._broken",
    ),
    error("AVRO-P002", "invalid default", "schemas.avro.review_definition.review_defaults"),
    error(
        "AVRO-P003",
        "a record that can never evolve",
        "schemas.avro.review_definition.review_recursion",
    ),
    error("JSON-P001", "a JSON schema in Jackson's form", "schemas.json.row._review_legacy"),
    warning(
        "AVRO-W020", "logicalType that Avro ignores", "repository.definitions.avro._passed_over"
    ),
    warning("AVRO-W021", "member that Avro ignores", "repository.definitions.avro._passed_over"),
    warning(
        "AVRO-W022",
        "member that is given twice",
        "repository.definitions.avro_ignored_members.repeated_member_findings",
    ),
    warning(
        "AVRO-W023",
        "the broker of another registry refuses the definition",
        "repository.definitions.avro.AvroDefinitions.read",
    ),
    warning(
        "AVRO-W024",
        "a default that its logical type refuses",
        "schemas.avro.review_logical_defaults.review_logical_defaults",
    ),
    fixed_error(
        "AVRO-R001",
        "the reader's type cannot read the writer's",
        "schemas.avro.compatibility._words",
    ),
    fixed_error("AVRO-R002", "a field has no default", "schemas.avro.compatibility.explain"),
    fixed_error(
        "AVRO-R003", "no branch of the reader's union fits", "schemas.avro.compatibility._words"
    ),
    fixed_error(
        "AVRO-R004",
        "the names of two enums or fixed types differ",
        "schemas.avro.compatibility._words",
    ),
    fixed_error(
        "AVRO-R005", "the sizes of two fixed types differ", "schemas.avro.compatibility._words"
    ),
    fixed_error(
        "AVRO-R006", "a record contains itself directly", "schemas.avro.compatibility._readability"
    ),
    fixed_error(
        "AVRO-R007",
        "a default that a reader needs cannot be used",
        "schemas.avro.compatibility._bad_default",
    ),
    fixed_error(
        "AVRO-R008", "aliases make the writer invalid", "schemas.avro.compatibility._readability"
    ),
    reader_warning("AVRO-W001", "an enum loses symbols", "schemas.avro.review_types.enum_remarks"),
    reader_warning(
        "AVRO-W002",
        "an enum gets symbols that older consumers do not have",
        "schemas.avro.review_types.enum_remarks",
    ),
    reader_warning(
        "AVRO-W003",
        "bytes and text are read as each other",
        "schemas.avro.review_types._other_kind",
    ),
    reader_warning(
        "AVRO-W004",
        "a decimal gets another precision or scale",
        "schemas.avro.review_types._decimals",
    ),
    reader_warning(
        "AVRO-W005", "a logical type changes", "schemas.avro.review_types._other_logical_type"
    ),
    reader_warning(
        "AVRO-W006", "a renamed field that readers do not find", "schemas.avro.review._renamed"
    ),
    warning("AVRO-W007", "fields of the same type change places", "schemas.avro.review._moved"),
    warning("AVRO-W008", "a promotion rounds numbers", "schemas.avro.review_types._other_kind"),
    warning(
        "AVRO-W009",
        "a record of a union is read as another",
        "schemas.avro.review_unions.new_reader_remarks",
    ),
    warning(
        "AVRO-W010",
        "clients that are not Java misread what Java reads",
        "schemas.avro.review_clients.client_remarks",
    ),
    warning(
        "AVRO-W011",
        "the definition is no record",
        "schemas.avro.review_definition.review_top",
    ),
    warning("AVRO-W012", "a default changes", "schemas.avro.changed_defaults.default_remarks"),
    reader_warning(
        "AVRO-W013", "a Java class changes", "schemas.avro.java_classes.java_class_remarks"
    ),
    warning(
        "AVRO-W014",
        "symbols of an enum in JSON change places",
        "schemas.avro.review_types._moved_symbols",
    ),
)
"""AVRO-*, JSON-*: definitions in Avro's form.

P: a definition that Pulsar refuses or that blocks later versions. R: why it refuses a change.
W: what it accepts although readers would suffer from it.
"""

KEY_VALUE_RULES: Final = (
    error("KV-P001", "half of a KEY_VALUE is a KEY_VALUE", "schemas.key_value.review.review_half"),
    reader_warning(
        "KV-W001", "the encoding of a KEY_VALUE changes", "schemas.key_value.review._encoding"
    ),
    reader_warning(
        "KV-W002",
        "half of a KEY_VALUE changes its type, and Pulsar keeps the old one",
        "schemas.key_value.review._half_types",
    ),
    warning(
        "KV-W003",
        "invalid default in half of a KEY_VALUE",
        "schemas.avro.row.AvroDefinitions.review_half_defaults",
    ),
    warning(
        "KV-W004",
        "nobody reads the definition of half of a KEY_VALUE",
        "schemas.key_value.review.ignored_definitions",
    ),
    warning(
        "KV-W005",
        "the bytes of a separated key change",
        "schemas.key_value.review.key_remarks",
    ),
)
"""KV-*: pairs of key and value that the broker accepts and should not."""

EXTERNAL_RULES: Final = (
    error(
        "EXTERNAL-P001",
        "no registry has the schema type",
        "repository.definitions.line_types.LineTypes.findings",
    ),
    warning(
        "EXTERNAL-W001",
        "another registry does not have the schema type",
        "repository.definitions.line_types.LineTypes.findings",
    ),
)
"""EXTERNAL-*: schemas of a type that older brokers do not have."""

PROTOBUF_RULES: Final = (
    warning("PROTO-W001", "a field is removed", "schemas.protobuf_native.review_fields._became"),
    reader_warning(
        "PROTO-W002",
        "a field gets another number",
        "schemas.protobuf_native.review_fields._became",
    ),
    reader_warning(
        "PROTO-W003",
        "another field uses the number of a field",
        "schemas.protobuf_native.review_fields._became",
    ),
    reader_warning(
        "PROTO-W004",
        "a type is laid out in another way",
        "schemas.protobuf_native.review_types.type_remarks",
    ),
    reader_warning(
        "PROTO-W005",
        "a type reads some values differently",
        "schemas.protobuf_native.review._Walk._types",
    ),
    reader_warning(
        "PROTO-W006",
        "a field becomes repeated, single or optional",
        "schemas.protobuf_native.review_fields._cardinality",
    ),
    reader_warning(
        "PROTO-W007",
        "a field becomes required, or is no longer",
        "schemas.protobuf_native.review_fields.required_field_remarks",
    ),
    warning(
        "PROTO-W008",
        "fields are moved into one oneof, or out of it",
        "schemas.protobuf_native.review.oneof_remarks",
    ),
    reader_warning(
        "PROTO-W009",
        "the values of an enum change",
        "schemas.protobuf_native.review_types._Enums.remarks",
    ),
    warning(
        "PROTO-W010", "a default changes", "schemas.protobuf_native.review_fields.field_remarks"
    ),
    info(
        "PROTO-W011",
        "a field or a value is renamed",
        "schemas.protobuf_native.review_fields._renamed",
    ),
    reader_warning(
        "PROTOBUF-W001", "the fields of a PROTOBUF change", "schemas.protobuf.review._changes"
    ),
)
"""PROTO-W*, PROTOBUF-W*: changes that Pulsar does not compare and that harm readers."""
