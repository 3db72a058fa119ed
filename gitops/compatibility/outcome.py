"""How a check of a candidate against existing versions ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from gitops.compatibility.decision import Incompatibility, StoredSchema


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


@dataclass(frozen=True, slots=True)
class Labelled:
    """A schema and what to call it: `v3`, or `candidate`."""

    label: str
    schema: StoredSchema
