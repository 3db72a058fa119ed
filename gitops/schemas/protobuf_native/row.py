"""The row of PROTOBUF_NATIVE in the table of schema types."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache, partial

from gitops.model.decision import StoredSchema
from gitops.model.plan import SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.protobuf_native.compatibility import check
from gitops.schemas.protobuf_native.descriptors import DescriptorRules
from gitops.schemas.protobuf_native.diff import differences
from gitops.schemas.protobuf_native.envelope import read_envelope
from gitops.schemas.protobuf_native.errors import EndlessImportsError, InvalidEnvelopeError
from gitops.schemas.protobuf_native.review import remarks
from gitops.schemas.protobuf_native.root_message import root_message
from gitops.schemas.row import (
    DefinitionForm,
    InvalidSchemaDataError,
    Remark,
    SchemaTypeRow,
    blocking_text,
    whole_change,
)
from gitops.schemas.strategies import reads_forward


def _validate(rules: DescriptorRules, schema: StoredSchema) -> None:
    try:
        root_message(schema.data, rules)
    except EndlessImportsError as error:
        raise InvalidSchemaDataError(str(error), status=500) from None
    except InvalidEnvelopeError as error:
        raise InvalidSchemaDataError(str(error)) from None


def _review_change(old: StoredSchema, new: StoredSchema, strategy: Strategy) -> tuple[Remark, ...]:
    return remarks(old.data, new.data, forward=reads_forward(strategy))


def _diff(old: StoredSchema, new: StoredSchema) -> Iterator[SchemaChange]:
    try:
        yield from differences(old.data, new.data)
    except InvalidEnvelopeError:
        yield from whole_change(old, new)


def _names(schema: StoredSchema) -> tuple[str, ...]:
    try:
        name = read_envelope(schema.data).root_message_type_name
    except InvalidEnvelopeError:
        return ()
    return (name,) if name else ()


def _unreadable_reason(reader: StoredSchema, writer: StoredSchema) -> str | None:
    return _stop_text(reader.data, writer.data)


@lru_cache(maxsize=4096)
def _stop_text(reader: bytes, writer: bytes) -> str | None:
    return blocking_text(remarks(writer, reader, forward=False))


@cache
def protobuf_native_row(rules: DescriptorRules) -> SchemaTypeRow:
    """The row for the descriptor rules of one broker line."""
    return SchemaTypeRow(
        validate=partial(_validate, rules),
        form=DefinitionForm.DESCRIPTORS,
        check=partial(check, rules),
        review_change=_review_change,
        diff=_diff,
        names=_names,
        unreadable_reason=_unreadable_reason,
    )
