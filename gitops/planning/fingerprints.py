"""Fingerprints of what a registry has, by subject; whether a schema is one that it has."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any, Final, TypeVar

from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    DeleteSchema,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.policy import (
    NamespacePolicies,
    Policies,
    PolicyChange,
    PolicyValue,
    TopicPolicies,
    is_unset,
    managed_items,
    snake_case,
    value_text,
)
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo
from gitops.model.state import (
    NamespaceState,
    RegistryState,
    TenantState,
    TopicPartitions,
    TopicState,
)
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.payload import PayloadError, shown_schema
from gitops.schemas.types import TYPES

# Fingerprints of what a registry holds, by subject, and of what it will hold.

Subject = TenantState | NamespaceState | TopicPartitions | TopicState
_P = TypeVar("_P", NamespacePolicies, TopicPolicies)


def state_fingerprints(state: RegistryState) -> dict[str, str]:
    """Subject → fingerprint, for everything in `state`."""
    subjects: list[Subject] = [
        *state.tenants.values(),
        *state.namespaces.values(),
        *state.partitions.values(),
        *state.topics.values(),
    ]
    return dict(sorted((state_name(subject), subject_fingerprint(subject)) for subject in subjects))


def state_name(subject: Subject) -> str:
    """What a plan calls a subject: `namespace shop/orders`, `topic shop/orders/order-created`.

    Whether a topic exists is a subject of its own, `partitions shop/orders/order-created`: it is
    read of those topics only that the files create.
    """
    match subject:
        case TenantState():
            return subject_name(subject.tenant)
        case NamespaceState():
            return subject_name(subject.namespace)
        case TopicPartitions():
            return f"{PARTITIONS} {subject.topic}"
        case TopicState():
            return subject_name(subject.topic)


PARTITIONS: Final = "partitions"


def subject_name(name: TenantName | NamespaceName | TopicName) -> str:
    """What a plan calls whom an action is about."""
    match name:
        case TenantName():
            return f"tenant {name}"
        case NamespaceName():
            return f"namespace {name}"
        case TopicName():
            return f"topic {name}"


def state_before(state: RegistryState, action: Action) -> Subject:
    """The part of a registry that an action changes."""
    match action:
        case CreateTenant():
            return state.tenants[action.tenant]
        case CreateNamespace():
            return state.namespaces[action.namespace]
        case CreateTopic():
            return state.partitions[action.topic]
        case SetPolicy():
            return state.subject(action.subject)
        case RegisterSchema() | DeleteSchema():
            return state.topics[action.topic]


def subject_fingerprint(subject: Subject) -> str:
    """64 hex digits over what counts of a subject; when a version was stored does not.

    Of a tenant, and of a topic's partitions, it is that they exist: they are never changed.
    """
    match subject:
        case TenantState():
            content: object = ["tenant", subject.exists]
        case TopicPartitions():
            content = [PARTITIONS, subject.exists]
        case NamespaceState():
            content = ["namespace", subject.exists, _policies(subject.policies)]
        case TopicState():
            content = ["topic", history_fingerprint(subject.history), _policies(subject.policies)]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprints_after(subject: Subject, action: Action) -> Subject:
    """The subject once `action` is carried out.

    What is left of a topic whose schema is deleted does not count: a tombstone, nothing at all
    where somebody deletes the topic too, or policies that nobody needs any more.
    """
    match action, subject:
        case CreateTenant(), TenantState():
            return replace(subject, exists=True)
        case CreateNamespace(), NamespaceState():
            return replace(subject, exists=True)
        case CreateTopic(), TopicPartitions():
            return replace(subject, exists=True, count=action.partitions)
        case SetPolicy(), NamespaceState():
            return replace(subject, policies=_with(subject.policies, action.change))
        case SetPolicy(), TopicState():
            return replace(subject, policies=_with(subject.policies, action.change))
        case RegisterSchema(), TopicState():
            return replace(subject, history=_registered(subject.history, action))
        case DeleteSchema(), TopicState():
            return TopicState(topic=subject.topic)
        case _:
            raise TypeError(f"{action} is not about {subject}")


def _with(policies: _P, change: PolicyChange) -> _P:
    key: dict[str, Any] = {snake_case(change.key): change.after}
    return replace(policies, **key)


def _registered(history: SchemaHistory, action: RegisterSchema) -> SchemaHistory:
    entry = SchemaEntry(version=action.version, info=action.info)
    return SchemaHistory(entries=(*history.entries, entry), next_version=action.version + 1)


def history_fingerprint(history: SchemaHistory) -> object:
    """What counts of a history, as JSON: each version's number and content, and the next number."""
    entries = [[entry.version, *schema_fingerprint(entry.info)] for entry in history.entries]
    return [entries, history.next_version]


def schema_fingerprint(info: SchemaInfo) -> list[object]:
    """What counts of a schema, as JSON: type, content and properties.

    As they are kept, so that a schema is the same before and after a post.
    """
    try:
        kept = shown_schema(info)
    except PayloadError:
        return [info.type.value, info.schema, dict(info.properties)]
    content = hashlib.sha256(kept.data).hexdigest()
    return [kept.type.value, content, dict(info.properties)]


def _policies(policies: Policies) -> object:
    items = managed_items(policies)
    return [[key, value_text(value)] for key, value in items if not _is_from_the_start(key, value)]


def _is_from_the_start(key: str, value: PolicyValue) -> bool:
    """Whether a new namespace of a Pulsar 4.0.7 broker says so by itself."""
    return is_unset(key, value) or (key == "isAllowAutoUpdateSchema" and value is True)


# Whether a desired schema is one that a registry holds.


def is_same(schema: SchemaInfo, other_schema: SchemaInfo) -> bool:
    """Whether the registry takes both for one version, however odd they are.

    By the broker's equality where it has one; definitions that it cannot parse are the same only
    if they are the same text.
    """
    try:
        left, right = shown_schema(schema), shown_schema(other_schema)
    except PayloadError:
        return schema.type is other_schema.type and schema.schema == other_schema.schema
    if left.type is right.type and left.data == right.data:
        return True
    try:
        return TYPES.are_equal(left, right)
    except AvroParseError:
        return False


def equal_version(history: SchemaHistory, info: SchemaInfo) -> int | None:
    """The oldest live version that is the same schema, None if there is none."""
    return next((e.version for e in history.entries if is_same(e.info, info)), None)
