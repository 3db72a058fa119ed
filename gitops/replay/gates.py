"""Which failures of a replay count: the strategy says it, or the user."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final

from gitops.model.policy import SchemaCompatibilityStrategy as Strategy


class Gate(StrEnum):
    """What a user wants to count; `strategy` leaves it to each topic's own."""

    STRATEGY = "strategy"
    BACKWARD = "backward"
    FORWARD = "forward"
    BOTH = "both"
    NONE = "none"


class Versions(Enum):
    """Of which versions the readers count."""

    NONE = "none"
    LATEST = "latest"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """`backward`: failures of the proposed schema count, on data of whatever live version.

    `forward`: those of readers with these versions count; those of the declared clients count
    unless it is NONE.
    """

    backward: bool
    forward: Versions


_BY_STRATEGY: Final = {
    Strategy.UNDEFINED: Gates(backward=True, forward=Versions.LATEST),
    Strategy.FULL: Gates(backward=True, forward=Versions.LATEST),
    Strategy.FULL_TRANSITIVE: Gates(backward=True, forward=Versions.ALL),
    Strategy.BACKWARD: Gates(backward=True, forward=Versions.NONE),
    Strategy.BACKWARD_TRANSITIVE: Gates(backward=True, forward=Versions.NONE),
    Strategy.FORWARD: Gates(backward=False, forward=Versions.LATEST),
    Strategy.FORWARD_TRANSITIVE: Gates(backward=False, forward=Versions.ALL),
    # Nothing is promised, and nothing is held back.
    Strategy.ALWAYS_COMPATIBLE: Gates(backward=False, forward=Versions.NONE),
    # No change is let in at all, so the files hold the schema that everybody has.
    Strategy.ALWAYS_INCOMPATIBLE: Gates(backward=True, forward=Versions.ALL),
}

_BY_CHOICE: Final = {
    Gate.BACKWARD: Gates(backward=True, forward=Versions.NONE),
    Gate.FORWARD: Gates(backward=False, forward=Versions.ALL),
    Gate.BOTH: Gates(backward=True, forward=Versions.ALL),
    Gate.NONE: Gates(backward=False, forward=Versions.NONE),
}


def gates_of(strategy: Strategy, choice: Gate = Gate.STRATEGY) -> Gates:
    """What counts for a topic.

    Stored messages of every version are there to be read, so backward has no LATEST: a consumer
    that starts at the beginning meets them all, whatever the strategy compares.
    """
    return _BY_STRATEGY[strategy] if choice is Gate.STRATEGY else _BY_CHOICE[choice]
