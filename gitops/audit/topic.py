"""A topic as an audit looks at it, and its past under any strategy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from gitops.audit.cause import AUTO_UPDATE, LEGACY_JSON, STRATEGY
from gitops.broker.connection import ConnectionPolicies
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import with_legacy_json
from gitops.broker.registration import check
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.avro.errors import AvroParseError
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
    """The versions that a strategy would have refused, had it been in force from the first on.

    A check that fails on a version that is no valid schema is no refusal by the strategy.
    """
    found = []
    entries = topic.history.entries
    for count in range(1, len(entries)):
        version, schema = entries[count]
        before = replace(topic.history, entries=entries[:count])
        outcome = check(before, schema, strategy, topic.line)
        if outcome.end is End.INCOMPATIBLE:
            found.append((version, outcome))
    return tuple(found)


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
    one = outcome.incompatibilities[0]
    return f"at '{one.path}': {one.message}" if one.path else one.message


def versions_text(versions: tuple[int, ...]) -> str:
    """`v3`, `v0, v2`; of many the first and the last."""
    named = [f"v{version}" for version in versions]
    if len(named) <= _NAMED:
        return ", ".join(named)
    return f"{', '.join(named[: _NAMED - 1])}, … {named[-1]} ({len(named)} versions)"
