"""Whether a registry holds what an action wrote, by what it answers after the write."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from gitops.model.names import NamespaceName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    DeleteSchema,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.policy import is_same_value, snake_case, value_text
from gitops.model.state import RegistryState, Scope, TopicPartitions
from gitops.planning.fingerprints import is_same


def subject_scope(action: Action) -> Scope:
    """What the action changes alone."""
    match action:
        case CreateTenant():
            return Scope(tenants=frozenset({action.tenant}))
        case CreateNamespace():
            return Scope(namespaces=frozenset({action.namespace}))
        case CreateTopic():
            return Scope(partitions=frozenset({action.topic}))
        case SetPolicy():
            return _policy_scope(action)
        case RegisterSchema() | DeleteSchema():
            return Scope(topics=frozenset({action.topic}))
        case _:
            assert_never(action)


def written_scope(action: Action) -> Scope:
    """What the action writes: of a schema its topic without the policies, which cost two reads."""
    scope = subject_scope(action)
    of_schema = isinstance(action, RegisterSchema | DeleteSchema)
    return replace(scope, topic_policies=False) if of_schema else scope


def _policy_scope(action: SetPolicy) -> Scope:
    if isinstance(action.subject, NamespaceName):
        return Scope(namespaces=frozenset({action.subject}))
    return Scope(topics=frozenset({action.subject}))


def difference(action: Action, version: int | None, state: RegistryState) -> str:
    """What the registry has instead of what the action wrote; empty where it has that.

    `version` is what the registry answered to a schema, `state` holds the action's subject.
    """
    match action:
        case CreateTenant():
            there = state.tenants[action.tenant].exists
            return "" if there else f"there is no tenant {action.tenant}"
        case CreateTopic():
            return _partition_difference(action, state.partitions[action.topic])
        case CreateNamespace():
            there = state.namespaces[action.namespace].exists
            return "" if there else f"there is no namespace {action.namespace}"
        case SetPolicy():
            return _policy_difference(action, state)
        case RegisterSchema():
            return _schema_difference(action, version, state)
        case DeleteSchema():
            entries = state.topics[action.topic].history.entries
            return f"{action.topic} has v{entries[-1].version}" if entries else ""
        case _:
            assert_never(action)


def _partition_difference(action: CreateTopic, partitions: TopicPartitions) -> str:
    if not partitions.exists:
        return f"there is no topic {action.topic}"
    if partitions.count in (None, action.partitions):
        return ""
    return f"{action.topic} has {partitions.count} partitions"


def _policy_difference(action: SetPolicy, state: RegistryState) -> str:
    key, wanted = action.change.key, action.change.after
    value = getattr(state.subject(action.subject).policies, snake_case(key))
    if is_same_value(key, value, wanted):
        return ""
    return f"{key} of {action.subject} is {value_text(value) or 'not set'}"


def _schema_difference(action: RegisterSchema, version: int | None, state: RegistryState) -> str:
    entries = state.topics[action.topic].history.entries
    if not entries:
        return f"{action.topic} has no schema"
    latest = entries[-1]
    if latest.version != version:
        return f"the latest version of {action.topic} is v{latest.version}"
    return "" if is_same(latest.info, action.info) else f"v{version} of {action.topic} is another"
