"""Policies of one subject by hand."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

from gitops.broker.connection import connection_policies
from gitops.broker.lines.table import line_of
from gitops.changes.known_names import similar_topic
from gitops.model.errors import NotThereError, OutsideError, UsageError
from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    Policies,
    PolicyChange,
    PolicyValue,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
    TopicPolicies,
    camel_case,
    effective_strategy,
    snake_case,
)
from gitops.model.state import Scope, TopicState
from gitops.planning.lockout_findings import policy_lockout_findings
from gitops.planning.lockouts import TopicChange, topic_lockouts
from gitops.ports import Registry
from gitops.repository.suggestions import did_you_mean_or_list


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedPolicies:
    """What is set on the subject itself, and the strategy that holds for it."""

    own: Policies
    effective: SchemaCompatibilityStrategy


def parse_subject(text: str) -> NamespaceName | TopicName:
    """`tenant/namespace`, or a topic; raises InvalidNameError."""
    rest = text.partition("://")[2] or text
    return TopicName.parse(text) if rest.count("/") > 1 else NamespaceName.parse(text)


def observe_policies(
    registry: Registry, subject: NamespaceName | TopicName, *, existing: bool = False
) -> ObservedPolicies:
    """Read the policies.

    Raises NotThereError where there is no such namespace, and with `existing` no such topic.
    """
    topic = subject if isinstance(subject, TopicName) else None
    namespace = subject.namespace if isinstance(subject, TopicName) else subject
    topics = frozenset({topic}) if topic else frozenset[TopicName]()
    state = registry.observe(Scope(namespaces=frozenset({namespace}), topics=topics))
    result = state.namespaces[namespace]
    if not result.exists:
        raise NotThereError(f"there is no namespace '{namespace}'", where=registry.address)
    if topic and existing:
        _require_topic(registry, state.topics[topic])
    of_topic = state.topics[topic].policies if topic else TopicPolicies()
    return ObservedPolicies(
        own=of_topic if topic else result.policies,
        effective=effective_strategy(of_topic, result.policies, registry.broker),
    )


def _require_topic(registry: Registry, state: TopicState) -> None:
    """Raise NotThereError for a topic that has no schema and is in no list.

    One that only has a schema is there as well: the strategy holds for it.
    """
    topic = state.topic
    with suppress(OutsideError):  # who may not list topics is told what else is known
        if not state.history.entries and topic not in registry.list_topics(topic.namespace):
            raise NotThereError(
                f"there is no topic '{topic}'",
                where=registry.address,
                hint=similar_topic(registry, topic) or "is the name right?",
            )


def parse_assignments(before: Policies, assignments: Sequence[str]) -> tuple[PolicyChange, ...]:
    """`KEY=VALUE`s as changes of `before`; raises UsageError."""
    return tuple(_assignment(before, text) for text in assignments)


def find_policy_lockouts(
    registry: Registry, subject: NamespaceName | TopicName, changes: Sequence[PolicyChange]
) -> tuple[Finding, ...]:
    """The clients that the changes lock out of the topics that the registry can list."""
    namespace = subject.namespace if isinstance(subject, TopicName) else subject
    listed = (subject,) if isinstance(subject, TopicName) else registry.list_topics(namespace)
    state = registry.observe(Scope(namespaces=frozenset({namespace}), topics=frozenset(listed)))
    values: dict[str, Any] = {snake_case(change.key): change.after for change in changes}
    above = state.namespaces[namespace].policies
    lockouts = []
    for topic, topic_state in sorted(state.topics.items()):
        new_own, new_above = topic_state.policies, above
        if isinstance(subject, TopicName):
            new_own = replace(topic_state.policies, **values)
        else:
            new_above = replace(above, **values)
        change = TopicChange(
            topic=topic,
            history=topic_state.history,
            before=connection_policies(topic, topic_state.policies, above, registry.broker),
            after=connection_policies(topic, new_own, new_above, registry.broker),
            line=line_of(registry.broker),
            is_new=not topic_state.exists and topic.domain == "persistent",
        )
        lockouts.append(topic_lockouts(change))
    return policy_lockout_findings(namespace, lockouts)


def _assignment(before: Policies, text: str) -> PolicyChange:
    key, equals, value = text.partition("=")
    known = [camel_case(field.name) for field in fields(before)]
    if not equals:
        raise UsageError(f"'{text}' assigns nothing", hint="write KEY=VALUE")
    if key not in known:
        raise UsageError(f"there is no policy '{key}'", hint=did_you_mean_or_list(key, known))
    return PolicyChange(key=key, before=getattr(before, snake_case(key)), after=_value(key, value))


def _value(key: str, text: str) -> PolicyValue:
    if not text:
        return None
    if key == "schemaCompatibilityStrategy":
        return _member(SchemaCompatibilityStrategy, text)
    if key == "schemaAutoUpdateCompatibilityStrategy":
        return _member(SchemaAutoUpdateCompatibilityStrategy, text)
    if text not in ("true", "false"):
        raise UsageError(f"{key} is true or false, not '{text}'")
    return text == "true"


def _member(
    kind: type[SchemaCompatibilityStrategy | SchemaAutoUpdateCompatibilityStrategy],
    text: str,
) -> PolicyValue:
    try:
        return kind(text)
    except ValueError:
        known = [member.value for member in kind]
        hint = did_you_mean_or_list(text, known)
        raise UsageError(f"'{text}' is not a strategy", hint=hint) from None
