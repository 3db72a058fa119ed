"""An audit: topics and namespaces in, one by one; findings and counts out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitops.audit.cause import Cause, CauseGroups, assumed_values
from gitops.audit.downgrade import downgrade_cause
from gitops.audit.health import health_causes, unread_causes
from gitops.audit.namespace import NamespaceAudit
from gitops.audit.operations import differences
from gitops.audit.steps import upgrade_steps
from gitops.audit.strategies import lockout_causes, refusal_causes
from gitops.audit.topic import AuditedTopic
from gitops.audit.upgrade import upgrade_causes, upgrade_deadline
from gitops.broker.connection import connection_policies
from gitops.broker.lines.line import BrokerLine
from gitops.model.audit import AuditCounts, AuditReport, Difference, TopicDifferences
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import apply_severities
from gitops.model.state import NamespaceState, TopicState
from gitops.schemas.payload import PayloadError, stored_history

_AS_IN_TABLE: Final[Mapping[str, Severity]] = {}
"""No rule has another severity than its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """What a registry is judged by; `target` and `strategy` are None where nobody asks.

    `others` are the lines of the cluster's brokers that answer otherwise than `line`, the oldest
    first.
    """

    registry: str
    address: str
    broker: BrokerSettings
    line: BrokerLine
    target: BrokerLine | None = None
    strategy: Strategy | None = None
    others: tuple[BrokerLine, ...] = ()

    @property
    def is_under_way(self) -> bool:
        """Whether the cluster has brokers of the target line already."""
        target = self.target
        return target is not None and any(
            broker_line.rules == target.rules for broker_line in self.others
        )


class Audit:
    """Keeps findings and counts; a topic is forgotten as soon as it was looked at."""

    def __init__(self, settings: AuditSettings) -> None:
        self._settings = settings
        self._groups = CauseGroups()
        self._differences: list[TopicDifferences] = []
        self._known: dict[tuple[Difference, ...], tuple[Difference, ...]] = {}
        self._deadlines: dict[str, str] = {}
        self._limits: list[str] = []
        self._namespaces = self._topics = self._versions = 0

    def namespace(self, state: NamespaceState, settings: AuditSettings) -> NamespaceAudit:
        """Begin with a namespace; it may have shown more of the broker's settings."""
        self._namespaces += 1
        self._settings = settings
        return NamespaceAudit(state, self._settings.broker)

    def add(self, namespace_audit: NamespaceAudit, topics: Iterable[TopicState]) -> None:
        """Look at topics of a namespace."""
        for state in topics:
            self._topics += 1
            self._groups.add(self._causes(namespace_audit, state), namespace_audit.assumed)

    def end(self, namespace_audit: NamespaceAudit) -> None:
        """No more topics of this namespace."""
        self._groups.add(namespace_audit.causes(), namespace_audit.assumed)

    def add_unread(self, reasons: Mapping[TopicName, str]) -> None:
        """Topics whose schemas the broker could not show, with its answers."""
        self._groups.add(unread_causes(reasons))

    def skip(self, reason: str) -> None:
        """Something could not be read; a whole sentence."""
        self._limits.append(reason)

    def report(self, severities: Mapping[str, Severity] = _AS_IN_TABLE) -> AuditReport:
        """What was found, and rated by the severities of its rules: what is off is no step."""
        own = self._settings
        if own.target and (cause := downgrade_cause(own.registry, own.line, own.target)):
            self._groups.add([cause], assumed_values(own.broker))
        findings = apply_severities(self._groups.findings, severities)
        changed = sum(
            any(d.is_loss for d in difference.differences) for difference in self._differences
        )
        return AuditReport(
            registry=own.registry,
            address=own.address,
            broker=own.broker,
            line=own.line.name,
            target=own.target.name if own.target else "",
            is_under_way=own.is_under_way,
            strategy=own.strategy.value if own.strategy else "",
            counts=AuditCounts(
                namespaces=self._namespaces,
                topics=self._topics,
                versions=self._versions,
                changed=changed,
            ),
            findings=findings,
            differences=tuple(self._differences),
            steps=tuple(self._steps(findings)),
            limits=tuple(self._limits),
        )

    def _steps(self, findings: Sequence[Finding]) -> Iterator[str]:
        own = self._settings
        if own.target:
            yield from upgrade_steps(own.line, own.target, self._deadlines, findings)

    def _causes(self, namespace_audit: NamespaceAudit, state: TopicState) -> Iterator[Cause]:
        topic = self._audited(namespace_audit, state)
        if topic is None:
            return
        namespace_audit.add(topic)
        self._versions += len(topic.history.entries)
        yield from self._upgrade(topic)
        if self._settings.strategy:
            yield from lockout_causes(topic, self._settings.strategy)
            yield from refusal_causes(topic, self._settings.strategy)
        else:
            namespace_audit.add_strategies(topic)
        yield from health_causes(topic)

    def _audited(self, namespace_audit: NamespaceAudit, state: TopicState) -> AuditedTopic | None:
        if not state.history.entries:
            namespace_audit.add_bare(state.topic.local_name)
            return None
        try:
            history = stored_history(state.history)
        except PayloadError as error:
            self.skip(f"{state.topic}: the registry contains a schema that cannot be read: {error}")
            return None
        own = self._settings
        policies = connection_policies(
            state.topic, state.policies, namespace_audit.state.policies, own.broker
        )
        return AuditedTopic(name=state.topic, history=history, policies=policies, line=own.line)

    def _upgrade(self, topic: AuditedTopic) -> Iterator[Cause]:
        target = self._settings.target
        if target is None or target.rules == topic.line.rules:
            return
        if items := differences(topic, target):
            # Most topics lose the same for the same reasons: those are kept once.
            items = self._known.setdefault(items, items)
            self._differences.append(TopicDifferences(topic=topic.name, differences=items))
            deadline = upgrade_deadline(topic, target, self._settings.others, items)
            self._deadlines[str(topic.name)] = deadline
            yield from upgrade_causes(topic, target, deadline, items)
