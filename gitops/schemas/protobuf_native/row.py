"""The row of PROTOBUF_NATIVE in the table of schema types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.plan import SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.protobuf_native.diff import differences
from gitops.schemas.protobuf_native.envelope import read_envelope
from gitops.schemas.protobuf_native.errors import EndlessImportsError, InvalidEnvelopeError
from gitops.schemas.protobuf_native.review import remarks
from gitops.schemas.protobuf_native.root_message import root_message
from gitops.schemas.row import InvalidSchemaDataError, Remark, SchemaTypeRow, whole_change
from gitops.schemas.strategies import (
    COMPATIBLE,
    End,
    Labelled,
    Outcome,
    check_strategy,
    incompatible,
    reads_forward,
)


def _validate(schema: StoredSchema) -> None:
    try:
        root_message(schema.data)
    except EndlessImportsError as error:
        raise InvalidSchemaDataError(str(error), status=500) from None
    except InvalidEnvelopeError as error:
        raise InvalidSchemaDataError(str(error)) from None


def _check(existing: Sequence[Labelled], candidate: Labelled, strategy: Strategy) -> Outcome:
    """Name by name, oldest first; both sides are read even where every change is refused."""
    try:
        for one in existing:
            old, new = root_message(one.schema.data), root_message(candidate.schema.data)
            outcome = check_strategy(strategy)
            if outcome.end is not End.COMPATIBLE:
                return outcome
            if old != new and strategy is not Strategy.ALWAYS_COMPATIBLE:
                return incompatible(f"the root message of {one.label} is {old}, not {new}")
    except EndlessImportsError as error:
        return Outcome(end=End.OVERFLOWED, reason=str(error))
    except InvalidEnvelopeError as error:
        return Outcome(end=End.CRASHED, reason=str(error))
    return COMPATIBLE


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


PROTOBUF_NATIVE: Final = SchemaTypeRow(
    validate=_validate,
    check=_check,
    review_change=_review_change,
    diff=_diff,
    names=_names,
)
