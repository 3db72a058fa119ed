"""A rollout: its steps, what is known about their order, and the order itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rollout_reason import Reason


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
    """`first` comes before `then`, since otherwise on `topic` would happen what `reason` is.

    `cause` is the mismatch behind a reason that names a version: other versions may have it, too.
    `is_lockout`: the broker refuses the service that comes `first`, which it lets in now.
    """

    first: Step
    then: Step
    reason: Reason
    topic: TopicName
    cause: str = ""
    is_lockout: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Why there is no order at all; `steps` are those that stand in each other's way.

    `topics` are those that it is about. `is_lockout`: the broker refuses the one service, which it
    lets in now, or would if the service were there; `in_plan`: the plan's own findings name that.
    """

    reason: str
    steps: tuple[Step, ...] = ()
    topics: tuple[TopicName, ...] = ()
    is_lockout: bool = False
    in_plan: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Everything about the order of `steps`.

    `broken` says what does not work before the first step, which no order can mend. `may_stay`
    are services that never have to upgrade.
    """

    steps: tuple[Step, ...]
    before: tuple[Constraint, ...] = ()
    blocks: tuple[Block, ...] = ()
    broken: tuple[Block, ...] = ()
    may_stay: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedStep:
    """A step, the number of its wave (from 0), and what it waits for.

    Steps of one wave may be done in any order.
    """

    step: Step
    wave: int
    waits_for: tuple[Constraint, ...] = ()


class Role(Enum):
    """A side of a topic."""

    CONSUMER = "consumer"
    PRODUCER = "producer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What a service becomes on a topic by its upgrade, or what it is no longer (`leaves`)."""

    role: Role
    topic: TopicName
    leaves: bool = False


class Move(Enum):
    """What is done on the way from a topic to the one that takes its place, in this order."""

    CREATE = "create"
    """The new topic gets the new schema."""
    CONSUME_BOTH = "consumeBoth"
    """Consumers subscribe to the new topic, too."""
    PRODUCE = "produce"
    """Producers write to the new topic instead of the old one."""
    DRAIN = "drain"
    """Every subscription of the old topic comes to its end."""
    CONSUME_NEW = "consumeNew"
    """Consumers leave the old topic."""
    DELETE = "delete"
    """The old topic goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """The way from `topic` to a new one, where no order of upgrades leads to the new schema.

    Every step of `Move` is done, in its order; `consumers` and `producers` are the declared
    clients that take part, each side in any order.
    """

    topic: TopicName
    to: TopicName
    consumers: tuple[str, ...] = ()
    producers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """The steps in order, or the blocks that leave none.

    `broken` does not work before the first step. `may_stay` never have to upgrade. `sides` are
    what each service changes with its upgrade, `left` the topics that it consumes no more after it.
    `refused` are topics whose
    new schema is not registered at all. `migrations` are the ways out of blocks and refusals.
    `later` are services that upgrade in two parts, with what they change at the end, if they do.
    `strategies` are those of topics that would get a next version, and that no client declares to
    use: of their clients the strategy is all that is known. `client_registry` is the registry whose
    versions clients of these topics declare, where that is another one; else empty. `notes` are
    about brokers of other releases in the cluster, by which the order would be another.
    `locked_out` are topics and clients of which the findings say that a new version keeps them out.
    """

    steps: tuple[OrderedStep, ...] = ()
    blocks: tuple[Block, ...] = ()
    broken: tuple[str, ...] = ()
    may_stay: frozenset[str] = frozenset()
    sides: Mapping[str, tuple[Side, ...]] = field(default_factory=dict)
    left: Mapping[str, tuple[TopicName, ...]] = field(default_factory=dict)
    later: Mapping[str, tuple[Side, ...]] = field(default_factory=dict)
    refused: tuple[TopicName, ...] = ()
    migrations: tuple[Migration, ...] = ()
    strategies: Mapping[TopicName, SchemaCompatibilityStrategy] = field(default_factory=dict)
    client_registry: str = ""
    notes: tuple[str, ...] = ()
    locked_out: frozenset[tuple[str, str]] = frozenset()
