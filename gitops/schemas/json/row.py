"""The row of JSON in the table of schema types: Avro's, or the old form of Jackson."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.schemas.avro.errors import AvroParseError, JavaError
from gitops.schemas.avro.parser import AvroParser
from gitops.schemas.avro.review_definition import review_defaults, review_recursion
from gitops.schemas.avro.review_types import Wire
from gitops.schemas.avro.row import AvroDefinitions, avro_row
from gitops.schemas.client_profiles import Decoding
from gitops.schemas.json.compatibility import JacksonForm, JsonChecker
from gitops.schemas.json.legacy_parser import LegacyParser, NotJacksonError, UnknownTypeIdError
from gitops.schemas.json.reading import unread_json
from gitops.schemas.row import (
    InvalidSchemaDataError,
    Reason,
    Remark,
    SchemaTypeRow,
    no_misreadings,
    text_of,
)


class _JsonDefinitions:
    """Definitions of type JSON, read by the parser of one broker line."""

    def __init__(self, parser: AvroParser, jackson: JacksonForm, legacy: LegacyParser) -> None:
        self._parser, self._jackson, self._legacy = parser, jackson, legacy

    def validate(self, schema: StoredSchema) -> None:
        try:
            self._parser.parse_data(schema.data)
        except AvroParseError as error:
            if not self._may_be_jackson(error):
                raise InvalidSchemaDataError(f"not a valid JSON schema: {error}") from None
            self._validate_legacy(schema, error)

    def review(self, schema: StoredSchema) -> tuple[Remark, ...]:
        defaults = review_defaults(self._parser, text_of(schema), "AVRO-P002")
        return (*defaults, *self.review_half(schema))

    def review_half(self, schema: StoredSchema) -> tuple[Remark, ...]:
        text = text_of(schema)
        try:
            return review_recursion(self._parser.parse(text))
        except AvroParseError as error:
            return _review_legacy(self._legacy, text) if self._may_be_jackson(error) else ()

    def _may_be_jackson(self, error: AvroParseError) -> bool:
        match self._jackson:
            case JacksonForm.AFTER_PARSE_FAILURE:
                return error.java is JavaError.SCHEMA_PARSE
            case JacksonForm.AFTER_ANY_FAILURE:
                return True
            case JacksonForm.NEVER:
                return False

    def _validate_legacy(self, schema: StoredSchema, avro: AvroParseError) -> None:
        try:
            self._legacy.read_data(schema.data)
        except NotJacksonError:
            raise InvalidSchemaDataError(f"not a valid JSON schema: {avro}") from None
        except UnknownTypeIdError:
            raise InvalidSchemaDataError(f"not a valid JSON schema: {avro}", status=500) from None


def _review_legacy(legacy: LegacyParser, text: str) -> tuple[Remark, ...]:
    try:
        legacy.read(text)
    except (NotJacksonError, UnknownTypeIdError):
        return ()
    return (
        Remark(
            rule="JSON-P001",
            message="this is a JSON schema in Jackson's form, which old clients wrote: Pulsar "
            "accepts it as a first schema, and no other one after it",
            hint="write it as an Avro record",
        ),
    )


def _resolve(
    definitions: AvroDefinitions, writer: StoredSchema, reader: StoredSchema
) -> tuple[Reason, ...]:
    """Why clients fail, or may fail, on the JSON of another schema."""
    written, read = definitions.read_or_none(writer), definitions.read_or_none(reader)
    if written is None or read is None:
        return (_UNKNOWN,)
    try:
        return tuple(unread_json(written, read))
    except RecursionError:
        return (_UNKNOWN,)


_UNKNOWN: Final = Reason(
    rule="JSON-P001",
    message="a definition is not an Avro schema, so that fields are not compared",
    path="",
    writer_pointer="",
    reader_pointer="",
    hint="compare the two definitions by hand",
    is_certain=False,
)


def json_row(parser: AvroParser, form: JacksonForm, legacy: LegacyParser) -> SchemaTypeRow:
    """The row for the parsers of one broker line."""
    json, avro = _JsonDefinitions(parser, form, legacy), AvroDefinitions(parser)
    return replace(
        avro_row(parser, takes_top_union=True),
        validate=json.validate,
        check_latest=JsonChecker(parser, form, legacy).check,
        review=json.review,
        review_half=json.review_half,
        review_change=avro.change_review(Wire.JSON),
        unreadable_reason=avro.reader_check(Wire.JSON),
        resolve=partial(_resolve, avro),
        decoded_by=tuple(Decoding),
        misreadings=no_misreadings,  # `resolve` has what clients of any language fail on
    )
