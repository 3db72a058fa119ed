"""The row of JSON in the table of schema types: Avro's, or the old form of Jackson."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.schemas.avro import row
from gitops.schemas.avro.errors import AvroParseError, JavaError
from gitops.schemas.avro.parser import parse, parse_data
from gitops.schemas.avro.review_definition import review_defaults, review_recursion
from gitops.schemas.avro.review_types import Wire
from gitops.schemas.json import compatibility, legacy_parser
from gitops.schemas.row import InvalidSchemaDataError, Remark, text_of


def _validate(schema: StoredSchema) -> None:
    try:
        parse_data(schema.data)
    except AvroParseError as error:
        if error.java is not JavaError.SCHEMA_PARSE:
            raise InvalidSchemaDataError(f"not a valid JSON schema: {error}") from None
        _validate_legacy(schema, error)


def _validate_legacy(schema: StoredSchema, avro: AvroParseError) -> None:
    try:
        legacy_parser.read_data(schema.data)
    except legacy_parser.NotJacksonError:
        raise InvalidSchemaDataError(f"not a valid JSON schema: {avro}") from None
    except legacy_parser.UnknownTypeIdError:
        raise InvalidSchemaDataError(f"not a valid JSON schema: {avro}", status=500) from None


def _review_half(schema: StoredSchema) -> tuple[Remark, ...]:
    text = text_of(schema)
    try:
        return review_recursion(parse(text))
    except AvroParseError as error:
        # JSON is read as Jackson's JsonSchema only where Avro calls it no schema.
        return _review_legacy(text) if error.java is JavaError.SCHEMA_PARSE else ()


def _review_legacy(text: str) -> tuple[Remark, ...]:
    try:
        legacy_parser.read(text)
    except (legacy_parser.NotJacksonError, legacy_parser.UnknownTypeIdError):
        return ()
    return (
        Remark(
            rule="JSON-P001",
            message="this is a JSON schema in Jackson's form, which old clients wrote: Pulsar "
            "takes it as a first schema, and no other one after it",
            hint="write it as an Avro record",
        ),
    )


def _review(schema: StoredSchema) -> tuple[Remark, ...]:
    return (*review_defaults(text_of(schema), "AVRO-P002"), *_review_half(schema))


JSON: Final = replace(
    row.AVRO,
    validate=_validate,
    check_latest=compatibility.check,
    review=_review,
    review_half=_review_half,
    review_change=row.change_review(Wire.JSON),
    why_unreadable=row.reader_check(Wire.JSON),
)
