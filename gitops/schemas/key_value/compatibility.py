"""The broker's checker for KEY_VALUE: the checkers of the types of its halves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaType
from gitops.schemas.key_value import parser
from gitops.schemas.key_value.parser import HALVES, add_half_prefix, known_halves
from gitops.schemas.row import CheckList, RowOf, UndecodableError
from gitops.schemas.strategies import COMPATIBLE, End, LabelledSchema, Outcome, check_types

_NULL: Final = Outcome(end=End.CRASHED, reason="an existing version has null in its place")

CheckerOf = Callable[[SchemaType], CheckList]


def check_pairs(
    existing: Sequence[LabelledSchema],
    candidate: LabelledSchema,
    strategy: Strategy,
    *,
    row_of: RowOf,
    checker_of: CheckerOf,
) -> Outcome:
    """Pulsar 4.0.7's KeyValueSchemaCompatibilityCheck, with every incompatibility."""
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        return COMPATIBLE
    try:
        halves = known_halves(row_of, candidate.schema, *(schema.schema for schema in existing))
    except UndecodableError as error:
        return Outcome(end=End.CRASHED, reason=str(error))
    # The list is turned round on its way to the checker of a half, so that the oldest comes first.
    pairs = [
        (
            [
                LabelledSchema(schema.label, half)
                for schema, half in zip(existing, old, strict=True)
            ][::-1],
            new,
        )
        for _, (new, *old) in halves
    ]
    nulls = [[half is None for half in parser.unpack(schema.schema.data)] for schema in existing]
    crashes = [
        any(null[i] for null in nulls) and row_of(pairs[i][1].type).crashes_on_null
        for i in range(2)
    ]
    return _check_halves(pairs, candidate.label, strategy, crashes, checker_of)


def _check_halves(
    pairs: Sequence[tuple[list[LabelledSchema], StoredSchema]],
    label: str,
    strategy: Strategy,
    crashes: Sequence[bool],
    checker_of: CheckerOf,
) -> Outcome:
    """Key, then value; the types of both come before the definition of either.

    A half `crashes` that is to be parsed and is null, which only a client's own bytes can say.
    """
    for name, (halves, schema) in zip(HALVES, pairs, strict=True):
        if refusal := check_types(halves, LabelledSchema(label, schema)):
            return _outcome_in_pair(refusal, name)
    outcomes = [
        _outcome_in_pair(
            _NULL
            if null
            else checker_of(schema.type)(halves, LabelledSchema(label, schema), strategy),
            name,
        )
        for name, (halves, schema), null in zip(HALVES, pairs, crashes, strict=True)
    ]
    failed = [outcome for outcome in outcomes if outcome.end is not End.COMPATIBLE]
    if not failed:
        return COMPATIBLE
    # The broker stops at the first, which alone tells how the check ends.
    every = tuple(chain.from_iterable(outcome.incompatibilities for outcome in failed))
    return replace(failed[0], incompatibilities=every)


def _outcome_in_pair(outcome: Outcome, half: str) -> Outcome:
    incompatibilities = tuple(
        add_half_prefix(incompatibility, half) for incompatibility in outcome.incompatibilities
    )
    reason = f"{half}: {outcome.reason}"
    return replace(outcome, reason=reason, incompatibilities=incompatibilities)
