"""The row of PROTOBUF in the table of schema types: an Avro definition with fields by number."""

from __future__ import annotations

from functools import cache

from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.avro.parser import AvroParser
from gitops.schemas.avro.row import AvroDefinitions
from gitops.schemas.protobuf import review
from gitops.schemas.row import DefinitionForm, Remark, SchemaTypeRow
from gitops.schemas.strategies import reads_forward


def _review_change(old: StoredSchema, new: StoredSchema, strategy: Strategy) -> tuple[Remark, ...]:
    return review.remarks(old, new, forward=reads_forward(strategy))


@cache
def protobuf_row(parser: AvroParser) -> SchemaTypeRow:
    """The row for the parser of one broker line."""
    avro = AvroDefinitions(parser)

    def validate(schema: StoredSchema) -> None:
        avro.read_valid(schema)

    return SchemaTypeRow(
        validate=validate,
        form=DefinitionForm.AVRO,
        definition=avro.read,
        equal=avro.equal,
        review=avro.review_defaults,
        review_half_defaults=avro.review_half_defaults,
        review_change=_review_change,
        diff=avro.diff,
        names=avro.names,
        reading_properties={review.PARSING_INFO: None},
    )
