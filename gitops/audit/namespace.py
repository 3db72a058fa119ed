"""What an audit keeps of a namespace while its topics pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gitops.audit.cause import AUTO_UPDATE, STRATEGY, VALIDATION, Cause, assumed_values
from gitops.audit.health import (
    COMPACTED,
    NO_SCHEMA,
    OPEN_PRODUCERS,
    POLICY_PAIR,
    REPLICATED,
    RETAINED,
)
from gitops.audit.strategies import ALL_STRICT, stricter_cause, stricter_strategies
from gitops.audit.topic import AuditedTopic
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName
from gitops.model.policy import BrokerSettings, Retention, TopicPolicies, strategy_in_force
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.model.state import NamespaceState
from gitops.schemas.types import DEFINED_TYPES

_KEEPS_READABLE: Final = frozenset(
    {Strategy.BACKWARD_TRANSITIVE, Strategy.FULL_TRANSITIVE, Strategy.ALWAYS_INCOMPATIBLE}
)
"""Strategies under which a new version can read the messages of all others."""

_NAMED: Final = 3
"""So many topics without a schema are named."""

_HINT_RETENTION: Final = (
    "set a strategy such as BACKWARD_TRANSITIVE; a changed definition that cannot read what is "
    "retained needs a new topic"
)
_ASK_RETENTION: Final = (
    "the namespace shows none, and the defaults of broker.conf (defaultRetentionTimeInMinutes, "
    "defaultRetentionSizeInMB) could not be read: audit the cluster with a role that may read its "
    "configuration"
)

_Fitting = tuple[str, Strategy, str, frozenset[Strategy]]
"""A topic, its strategy, who sets it, and the stricter ones that fit."""


class NamespaceAudit:
    """Counts of one namespace, and the strategies that fit all its topics so far."""

    def __init__(self, state: NamespaceState, broker: BrokerSettings) -> None:
        self.state = state
        self.assumed = assumed_values(broker)
        self._strategy, self._by = strategy_in_force(TopicPolicies(), state.policies, broker)
        self._fitting: frozenset[Strategy] | None = None
        self._ruled_out: frozenset[Strategy] = frozenset()
        self._own: list[_Fitting] = []
        self._inherited: list[_Fitting] = []
        self._with_schema = 0
        self._bare: list[str] = []
        self._open = self._unchecked = self._loose = False
        self._forgetting: dict[str, tuple[Strategy, str]] = {}
        self._default_retention = broker.default_retention

    @property
    def name(self) -> NamespaceName:
        """Its name."""
        return self.state.namespace

    def add_bare(self, topic: str) -> None:
        """A topic without a schema."""
        self._bare.append(topic)

    def add(self, topic: AuditedTopic) -> None:
        """A topic with a schema; what it is registered with counts from its second version on."""
        self._with_schema += 1
        policies = topic.policies
        self._open |= policies.allows_auto_update and not policies.enforces_validation
        is_loose = policies.strategy is Strategy.ALWAYS_COMPATIBLE
        self._unchecked |= policies.allows_auto_update and is_loose
        is_persistent = topic.name.domain == "persistent"
        self._loose |= is_loose and is_persistent
        can_change = topic.latest.type in DEFINED_TYPES and is_persistent
        if can_change and policies.strategy not in _KEEPS_READABLE:
            subject = topic.name if policies.strategy_by == "topic" else self.name
            self._forgetting[str(subject)] = policies.strategy, policies.strategy_by

    def add_strategies(self, topic: AuditedTopic) -> None:
        """Which strategies a topic's history satisfies, if it has two versions to tell.

        With one version it only rules out what refuses a consumer with that version, as transitive
        strategies do where it is JSON in Jackson's form (Pulsar 4.0.7).
        """
        now, by = topic.policies.strategy, topic.policies.strategy_by
        fitting = stricter_strategies(topic, now)
        is_alone = len(topic.history.entries) == 1
        if by == "topic":
            self._own += [] if is_alone else [(str(topic.name), now, by, fitting)]
            return
        if is_alone:
            self._ruled_out |= ALL_STRICT - fitting
            return
        self._fitting = fitting if self._fitting is None else self._fitting & fitting
        if fitting:
            self._inherited += [(str(topic.name), now, by, fitting)]

    def causes(self) -> Iterator[Cause]:
        """What is said of the namespace as a whole, once all topics are there."""
        yield from self._stricter_causes()
        if self._open:
            yield self._open_cause()
        if self._bare and self._with_schema:
            yield self._bare_cause()
        for message, hint, rests_on in self._policy_pairs():
            finding = make_finding(POLICY_PAIR, message, subject=str(self.name), hint=hint)
            yield Cause(message=message, finding=finding, rests_on=rests_on)
        if self._loose:
            yield from self._retained_causes()
        if self.state.is_compacted:
            yield from self._compacted_causes()
        if self.state.is_replicated and self._with_schema:
            yield self._replicated_cause()

    def _stricter_causes(self) -> Iterator[Cause]:
        """The namespace, where all its topics fit; else each topic that fits alone."""
        all_fit = (self._fitting or frozenset()) - self._ruled_out
        whole = stricter_cause(str(self.name), self._strategy, self._by, all_fit, whole=True)
        if whole:
            yield whole
        for items in (*self._own, *([] if whole else self._inherited)):
            if cause := stricter_cause(*items, whole=False):
                yield cause

    def _open_cause(self) -> Cause:
        message = (
            "any producer may register a schema (isAllowAutoUpdateSchema), and one without a "
            "schema may write anything (schemaValidationEnforced is off)"
        )
        hint = "set schemaValidationEnforced: true where all producers have a schema"
        finding = make_finding(OPEN_PRODUCERS, message, subject=str(self.name), hint=hint)
        return Cause(message=message, finding=finding, rests_on=(VALIDATION, *self._auto_update))

    @property
    def _auto_update(self) -> tuple[str, ...]:
        """What the broker decides about registrations by clients, if it does."""
        return (AUTO_UPDATE,) if self.state.policies.is_allow_auto_update_schema is None else ()

    def _policy_pairs(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Policies that are harmless alone: what they do together, what to set, and by whom."""
        if self._unchecked:
            message = (
                "ALWAYS_COMPATIBLE is in force where any producer may register a schema "
                "(isAllowAutoUpdateSchema): nothing stops one that consumers cannot read"
            )
            yield (
                message,
                "set a strategy such as BACKWARD_TRANSITIVE, or isAllowAutoUpdateSchema: false",
                self._auto_update,
            )
        policies = self.state.policies
        legacy = policies.schema_auto_update_compatibility_strategy
        own = policies.schema_compatibility_strategy
        if legacy and own not in (None, Strategy.UNDEFINED, legacy.strategy):
            message = (
                "schemaAutoUpdateCompatibilityStrategy and schemaCompatibilityStrategy "
                "differ: Pulsar ignores the first"
            )
            yield message, "remove schemaAutoUpdateCompatibilityStrategy", ()

    def _retained_causes(self) -> Iterator[Cause]:
        """Messages that stay once they are read, where any schema may follow theirs."""
        own, subject = self.state.retention, str(self.name)
        retention = own or self._default_retention
        if retention is None:
            message = (
                "ALWAYS_COMPATIBLE is in force, and whether messages are retained is not known"
            )
            finding = make_finding(RETAINED, message, subject=subject, hint=_ASK_RETENTION)
            yield Cause(message=message, finding=replace(finding, severity=Severity.INFO))
        elif retention.keeps_messages:
            by = "namespace" if own else "broker"
            message = (
                "ALWAYS_COMPATIBLE is in force where messages are retained: nothing stops a schema "
                "that cannot read them"
            )
            label = f"{_retention_text(retention)} ({by})"
            finding = make_finding(
                RETAINED, f"{label}: {message}", subject=subject, hint=_HINT_RETENTION
            )
            yield Cause(message=message, finding=finding)

    def _compacted_causes(self) -> Iterator[Cause]:
        """The namespace, and topics that set the strategy themselves."""
        hint = "set a strategy such as BACKWARD_TRANSITIVE there"
        for subject, (strategy, by) in self._forgetting.items():
            message = (
                "topics are compacted, so messages of old versions stay until their keys are "
                f"written again, and {strategy.value} ({by}) lets a version in that cannot read "
                "them"
            )
            finding = make_finding(COMPACTED, message, subject=subject, hint=hint)
            rests_on = (STRATEGY,) if by == "broker" else ()
            yield Cause(message=message, finding=finding, rests_on=rests_on)

    def _replicated_cause(self) -> Cause:
        clusters = ", ".join(self.state.replication_clusters)
        message = (
            f"messages are replicated between {clusters}: the first one of a version registers it "
            "on the other side, under that cluster's strategy and numbers"
        )
        hint = "register each schema in all of these clusters before producers use it"
        finding = make_finding(REPLICATED, message, subject=str(self.name), hint=hint)
        return Cause(message=message, finding=finding)

    def _bare_cause(self) -> Cause:
        named = ", ".join(self._bare[:_NAMED])
        remainder = f" and {len(self._bare) - _NAMED:,} more" if len(self._bare) > _NAMED else ""
        verb = "has" if len(self._bare) == 1 else "have"
        all_topics = len(self._bare) + self._with_schema
        finding = make_finding(
            NO_SCHEMA,
            f"{len(self._bare):,} of {all_topics:,} topics {verb} no schema: {named}{remainder}",
            subject=str(self.name),
            hint="register a schema, or leave them as they are if bytes are intended",
        )
        return Cause(message="topics without a schema beside topics with one", finding=finding)


def _retention_text(retention: Retention) -> str:
    """`retention of 7 days or 512 MB`, whichever is reached first; `retention without limit`."""
    limits = []
    if retention.minutes > 0:
        limits.append(_time_text(retention.minutes))
    if retention.megabytes > 0:
        limits.append(f"{retention.megabytes:,} MB")
    return f"retention of {' or '.join(limits)}" if limits else "retention without limit"


def _time_text(minutes: int) -> str:
    """In the largest unit without a rest."""
    size, noun = next(unit for unit in _UNITS if minutes % unit[0] == 0)
    number = minutes // size
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_UNITS: Final = ((24 * 60, "day"), (60, "hour"), (1, "minute"))
"""Minutes, and what so many are called."""
