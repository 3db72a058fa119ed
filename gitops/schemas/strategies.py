"""Which schema must read which under each strategy, and how such a check ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeVar

from gitops.model.decision import Incompatibility, StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy

# Which schema must read which: the meaning of each strategy.

TRANSITIVE: Final = frozenset(
    {Strategy.BACKWARD_TRANSITIVE, Strategy.FORWARD_TRANSITIVE, Strategy.FULL_TRANSITIVE}
)
"""Strategies that look at the whole live history; the others look at the latest version."""

_BACKWARD: Final = frozenset({Strategy.BACKWARD, Strategy.BACKWARD_TRANSITIVE})
_FORWARD: Final = frozenset({Strategy.FORWARD, Strategy.FORWARD_TRANSITIVE})
_FULL: Final = frozenset({Strategy.FULL, Strategy.FULL_TRANSITIVE})
NEW_READS: Final = _BACKWARD | _FULL
"""Strategies that let consumers of the candidate read what existing schemas wrote."""

_OLD_READ: Final = _FORWARD | _FULL
_OLD_READ_NEW: Final = _OLD_READ | {Strategy.UNDEFINED}
_T = TypeVar("_T")


def reads_forward(strategy: Strategy) -> bool:
    """Whether consumers of an existing schema are to read what the candidate writes."""
    return strategy in _OLD_READ_NEW


def promised_reads(strategy: Strategy) -> tuple[bool, bool]:
    """Whether the candidate is promised to read what is stored, and stored schemas to read it.

    Of the latest version, and under TRANSITIVE strategies of every live one.
    """
    return strategy in NEW_READS, strategy in _OLD_READ


def pairs(strategy: Strategy, existing: Sequence[_T], candidate: _T) -> Iterator[tuple[_T, _T]]:
    """(reader, writer) for every check, in the broker's order: the newest version first.

    A FULL strategy asks first whether the existing schema reads the candidate's data
    (Pulsar 4.0.7). ALWAYS_* strategies ask nothing.
    """
    is_forward, is_backward = strategy in _OLD_READ, strategy in NEW_READS
    for old in reversed(existing):
        if is_forward:
            yield old, candidate
        if is_backward:
            yield candidate, old


# How a check of a candidate against existing versions ends.


class End(Enum):
    """The ways in which the broker's checkers come back."""

    COMPATIBLE = "compatible"
    INCOMPATIBLE = "incompatible"
    CRASHED = "crashed"
    OVERFLOWED = "overflowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`reason` in one line; `incompatibilities` explain it as far as definitions do."""

    end: End
    reason: str = ""
    incompatibilities: tuple[Incompatibility, ...] = ()


COMPATIBLE: Final = Outcome(end=End.COMPATIBLE)


def incompatible(reason: str) -> Outcome:
    """Refused for a reason that has no place in a definition."""
    return Outcome(end=End.INCOMPATIBLE, reason=reason)


def check_strategy(strategy: Strategy) -> Outcome:
    """Primitives, NONE, and PROTOBUF, whose checker a broker does not load by default."""
    if strategy is Strategy.ALWAYS_INCOMPATIBLE:
        return incompatible("the strategy ALWAYS_INCOMPATIBLE allows no other schema")
    return COMPATIBLE


@dataclass(frozen=True, slots=True)
class LabelledSchema:
    """A schema and what to call it: `v3`, or `candidate`."""

    label: str
    schema: StoredSchema


def check_types(existing: Sequence[LabelledSchema], candidate: LabelledSchema) -> Outcome | None:
    """The refusal of a candidate of another type than a version, None if there is none."""
    for schema in existing:
        if schema.schema.type is not candidate.schema.type:
            old, new = schema.schema.type.value, candidate.schema.type.value
            return incompatible(f"{schema.label} is {old} and the candidate {new}")
    return None
