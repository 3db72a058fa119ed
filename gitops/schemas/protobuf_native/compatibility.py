"""The checker for PROTOBUF_NATIVE: Pulsar compares the names of the root messages alone."""

from __future__ import annotations

from collections.abc import Sequence

from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.protobuf_native.descriptors import DescriptorRules
from gitops.schemas.protobuf_native.errors import EndlessImportsError, InvalidEnvelopeError
from gitops.schemas.protobuf_native.root_message import root_message
from gitops.schemas.strategies import (
    COMPATIBLE,
    End,
    LabelledSchema,
    Outcome,
    check_strategy,
    incompatible,
)


def check(
    rules: DescriptorRules,
    existing: Sequence[LabelledSchema],
    candidate: LabelledSchema,
    strategy: Strategy,
) -> Outcome:
    """Name by name, oldest first; both sides are read even where every change is refused."""
    try:
        for schema in existing:
            old = root_message(schema.schema.data, rules)
            new = root_message(candidate.schema.data, rules)
            outcome = check_strategy(strategy)
            if outcome.end is not End.COMPATIBLE:
                return outcome
            if old != new and strategy is not Strategy.ALWAYS_COMPATIBLE:
                return incompatible(f"the root message of {schema.label} is {old}, not {new}")
    except EndlessImportsError as error:
        return Outcome(end=End.OVERFLOWED, reason=str(error))
    except InvalidEnvelopeError as error:
        return Outcome(end=End.CRASHED, reason=str(error))
    return COMPATIBLE
