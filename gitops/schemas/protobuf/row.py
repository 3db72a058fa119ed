"""The row of PROTOBUF in the table of schema types: an Avro definition with fields by number."""

from __future__ import annotations

from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.avro import row
from gitops.schemas.avro.review_definition import review_defaults
from gitops.schemas.protobuf import review
from gitops.schemas.row import DefinitionForm, Remark, SchemaTypeRow, text_of


def _validate(schema: StoredSchema) -> None:
    row.read_valid(schema)


def _review(schema: StoredSchema) -> tuple[Remark, ...]:
    return review_defaults(text_of(schema), "AVRO-P002")


def _review_change(old: StoredSchema, new: StoredSchema, _strategy: Strategy) -> tuple[Remark, ...]:
    return review.remarks(old, new)


PROTOBUF: Final = SchemaTypeRow(
    validate=_validate,
    form=DefinitionForm.AVRO,
    definition=row.read_definition,
    equal=row.equal,
    review=_review,
    review_half_defaults=row.review_half_defaults,
    review_change=_review_change,
    diff=row.diff,
    names=row.names,
)
