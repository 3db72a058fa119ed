"""What an audit of a registry answers with."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from gitops.model.decision import Decision
from gitops.model.findings import Finding
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings


class Operation(Enum):
    """What clients and administrators ask of a broker; the value is the word for machines."""

    PRODUCE = "produce"
    CONSUME = "consume"
    REGISTER = "register"
    TEST = "test"
    READ = "read"


ASSUMED: Final = "; assumed: "
"""Behind the message of a finding: the broker's settings on which it rests and nobody knows."""

ITEM: Final = "• "
"""Before each item of a list in the message of a finding."""

Asked = tuple[Operation, int | None]
"""An operation, and the version that is sent or read; None for a new compatible schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """An operation that two broker lines answer otherwise."""

    operation: Operation
    version: int | None
    before: Decision
    after: Decision

    @property
    def asked(self) -> Asked:
        """What is answered otherwise."""
        return self.operation, self.version

    @property
    def is_loss(self) -> bool:
        """Whether it is refused only after the upgrade."""
        return not self.after.accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDifferences:
    """All differences of one topic; at least one."""

    topic: TopicName
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCounts:
    """How much was read. `changed` are the topics that lose something on the target line."""

    namespaces: int = 0
    topics: int = 0
    versions: int = 0
    changed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """Everything that there is to say about a registry.

    `broker` is what the present brokers were taken for, and `line` their line. `target` and
    `strategy` are what `--as-if-…` names, empty without; where nobody names a target and an
    upgrade `is_under_way`, it is the line of the newest brokers in the cluster. `steps` are what to
    do before the upgrade, in order. `limits` are sentences about what was not read, and `unlisted`
    about what no list has.
    """

    registry: str
    address: str
    broker: BrokerSettings = field(default_factory=BrokerSettings)
    line: str
    target: str = ""
    strategy: str = ""
    is_under_way: bool = False
    counts: AuditCounts
    findings: tuple[Finding, ...] = ()
    differences: tuple[TopicDifferences, ...] = ()
    steps: tuple[str, ...] = ()
    unlisted: str = ""
    limits: tuple[str, ...] = ()
