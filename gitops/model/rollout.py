"""A rollout: its steps, what is known about their order, and the order itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitops.model.names import TopicName


@dataclass(frozen=True, slots=True, order=True)
class Register:
    """The topic's new schema is registered as `version`."""

    topic: TopicName
    version: int


@dataclass(frozen=True, slots=True, order=True)
class Upgrade:
    """The service is deployed anew, all its consumers and producers at once."""

    service: str


@dataclass(frozen=True, slots=True, order=True)
class Drain:
    """Wait until no message of `version` is retained or in a backlog."""

    topic: TopicName
    version: int


@dataclass(frozen=True, slots=True, order=True)
class Delete:
    """The topic's schema is deleted."""

    topic: TopicName


Step = Register | Upgrade | Drain | Delete


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """`first` comes before `then`, since otherwise what `reason` says would happen."""

    first: Step
    then: Step
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Why there is no order at all; `steps` are those that stand in each other's way."""

    reason: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Everything about the order of `steps`.

    `broken` says what does not work before the first step, which no order can mend. `may_stay`
    are services that never have to upgrade.
    """

    steps: tuple[Step, ...]
    before: tuple[Constraint, ...] = ()
    blocks: tuple[Block, ...] = ()
    broken: tuple[str, ...] = ()
    may_stay: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """A step, the number of its wave (from 0), and what it waits for.

    Steps of one wave may be done in any order.
    """

    step: Step
    wave: int
    waits_for: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """The steps in order, or the blocks that leave none.

    `broken` does not work before the first step. `may_stay` never have to upgrade. `sides` say of
    each service what it is, as `consumer of shop/orders/order-created`.
    """

    steps: tuple[Ordered, ...] = ()
    blocks: tuple[Block, ...] = ()
    broken: tuple[str, ...] = ()
    may_stay: frozenset[str] = frozenset()
    sides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
