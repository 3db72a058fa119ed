"""Which versions a broker compares with a candidate, before the checker of its type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas import types
from gitops.schemas.strategies import COMPATIBLE, End, Labelled, Outcome, check_types


def check_latest(latest: Labelled, candidate: Labelled, strategy: Strategy) -> Outcome:
    """Against the latest version: type, then bytes, then the type's checker (Pulsar 4.0.7)."""
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        return COMPATIBLE
    if other := check_types([latest], candidate):
        return other
    if latest.schema.data == candidate.schema.data:
        return COMPATIBLE
    return types.check_latest(latest, candidate, strategy)


def check_all(existing: Sequence[Labelled], candidate: Labelled, strategy: Strategy) -> Outcome:
    """Against the whole live history; Java's exceptions count as incompatible (Pulsar 4.0.7)."""
    outcome = check_types(existing, candidate) or types.checker_of(candidate.schema.type)(
        existing, candidate, strategy
    )
    if outcome.end is not End.CRASHED:
        return outcome
    return replace(outcome, end=End.INCOMPATIBLE)
