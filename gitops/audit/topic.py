"""A topic as an audit looks at it, and its past under any strategy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from gitops.audit.cause import AUTO_UPDATE, LEGACY_JSON, STRATEGY
from gitops.broker.connection import ConnectionPolicies
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import with_legacy_json
from gitops.broker.registration import check, find_registered, register_sent
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.payload import to_sent_type
from gitops.schemas.strategies import End, Outcome

_NAMED: Final = 4
"""So many versions are named one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedTopic:
    """A topic with at least one live version, and what holds for it on the present line."""

    name: TopicName
    history: StoredHistory
    policies: ConnectionPolicies
    line: BrokerLine

    @property
    def latest(self) -> StoredSchema:
        """The newest live version."""
        return self.history.entries[-1][1]

    @property
    def latest_version(self) -> int:
        """Its number."""
        return self.history.entries[-1][0]

    def history_before(self, version: int) -> StoredHistory:
        """The live versions that a version was registered after."""
        earlier = tuple(entry for entry in self.history.entries if entry[0] < version)
        return replace(self.history, entries=earlier)

    def rests_on(self, *settings: str) -> tuple[str, ...]:
        """Of these settings of the broker those that decide about this topic."""
        by = {STRATEGY: self.policies.strategy_by, AUTO_UPDATE: self.policies.auto_update_by}
        return tuple(
            name
            for name in settings
            if by.get(name, "broker") == "broker"
            and (name != LEGACY_JSON or self._has_other_answers(with_legacy_json(self.line)))
        )

    def _has_other_answers(self, line: BrokerLine) -> bool:
        """Whether a line may read one of its versions otherwise."""
        return line is not self.line and not all(
            self.line.types.reads_alike(line.types, schema) for _, schema in self.history.entries
        )


def refused_versions(topic: AuditedTopic, strategy: Strategy) -> tuple[tuple[int, Outcome], ...]:
    """The versions that break a strategy, each compared with those before it as they are.

    A checker that broker.conf leaves out keeps no version from breaking what is promised.
    A check that fails on a version that is no valid schema is no refusal by the strategy.
    """
    return tuple(
        exception
        for exception in _exceptions(topic, strategy, _with_all_checkers(topic.line))
        if exception[1].end is End.INCOMPATIBLE
    )


def unregistered_versions(
    topic: AuditedTopic, strategy: Strategy
) -> tuple[tuple[int, Outcome], ...]:
    """The versions that a broker would not have registered under a strategy, and else would have.

    Those that break it, and those on which its check fails: that is 500 instead of 409, and the
    schema is not stored either (Pulsar 4.0.7).
    """
    return tuple(
        (version, outcome)
        for version, outcome in _exceptions(topic, strategy, topic.line)
        if outcome.end is End.INCOMPATIBLE or _is_registered_unchecked(topic, version)
    )


@cache
def _with_all_checkers(line: BrokerLine) -> BrokerLine:
    """The line of a broker whose broker.conf leaves no checker out: without one nothing differs."""
    if not line.rules.unchecked:
        return line
    return replace(line, rules=replace(line.rules, unchecked=frozenset()))


def _exceptions(
    topic: AuditedTopic, strategy: Strategy, line: BrokerLine
) -> Iterator[tuple[int, Outcome]]:
    """The versions whose check does not end well."""
    for version, _ in topic.history.entries[1:]:
        outcome = check(topic.history_before(version), _sent(topic, version), strategy, line)
        if outcome.end is not End.COMPATIBLE:
            yield version, outcome


def _is_registered_unchecked(topic: AuditedTopic, version: int) -> bool:
    """Whether nothing but the strategy keeps a broker from registering a version."""
    unchecked, before = Strategy.ALWAYS_COMPATIBLE, topic.history_before(version)
    return register_sent(before, _sent(topic, version), unchecked, topic.line).accepted


def _sent(topic: AuditedTopic, version: int) -> StoredSchema:
    """What was registered as this version: BYTES are stored as NONE (Pulsar 4.0.7).

    A NONE that was there already would have made no version.
    """
    schema = dict(topic.history.entries)[version]
    if (sent := to_sent_type(schema)) is schema:
        return schema
    before = topic.history_before(version)
    return sent if find_registered(before, schema, topic.line).accepted else schema


def unreadable_reason(schema: StoredSchema, line: BrokerLine) -> str:
    """Why the registry's equality fails on a version, before anything new is compared; or empty."""
    try:
        line.types.read_definition(schema)
    except AvroParseError as error:
        return str(error)
    except RecursionError:  # Java's stack ends as well, on lines without Jackson's limits
        return "nested too deep to be read"
    return ""


def mismatch_text(outcome: Outcome) -> str:
    """The first reason, with its place."""
    if not outcome.incompatibilities:
        return outcome.reason
    incompatibility = outcome.incompatibilities[0]
    return (
        f"at '{incompatibility.path}': {incompatibility.message}"
        if incompatibility.path
        else incompatibility.message
    )


def versions_text(versions: tuple[int, ...]) -> str:
    """`v3`, `v0, v2`; of many the first and the last."""
    named = [f"v{version}" for version in versions]
    if len(named) <= _NAMED:
        return ", ".join(named)
    return f"{', '.join(named[: _NAMED - 1])}, … {named[-1]} ({len(named)} versions)"
