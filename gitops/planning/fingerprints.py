"""Fingerprints of what a registry has, by subject; whether a schema is one that it has."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any, TypeVar

from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Action, CreateNamespace, DeleteSchema, RegisterSchema, SetPolicy
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
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.payload import PayloadError, shown_schema
from gitops.schemas.types import TYPES

# Fingerprints of what a registry holds, by subject, and of what it will hold.

Subject = NamespaceState | TopicState
_P = TypeVar("_P", NamespacePolicies, TopicPolicies)


def state_fingerprints(state: RegistryState) -> dict[str, str]:
    """Subject → fingerprint, for everything in `state`."""
    namespaces = {
        subject_name(name): subject_fingerprint(ns) for name, ns in state.namespaces.items()
    }
    topics = {
        subject_name(name): subject_fingerprint(topic) for name, topic in state.topics.items()
    }
    return dict(sorted((namespaces | topics).items()))


def subject_name(name: NamespaceName | TopicName) -> str:
    """What a plan calls a subject: `namespace shop/orders`, `topic shop/orders/order-created`."""
    return f"{'namespace' if isinstance(name, NamespaceName) else 'topic'} {name}"


def subject_fingerprint(subject: Subject) -> str:
    """64 hex digits over what counts of a subject; when a version was stored does not."""
    match subject:
        case NamespaceState():
            content: object = ["namespace", subject.exists, _policies(subject.policies)]
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
        case CreateNamespace(), NamespaceState():
            return replace(subject, exists=True)
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


def is_same(one: SchemaInfo, other: SchemaInfo) -> bool:
    """Whether the registry takes both for one version, however odd they are.

    By the broker's equality where it has one; definitions that it cannot parse are the same only
    if they are the same text.
    """
    try:
        left, right = shown_schema(one), shown_schema(other)
    except PayloadError:
        return one.type is other.type and one.schema == other.schema
    if left.type is right.type and left.data == right.data:
        return True
    try:
        return TYPES.are_equal(left, right)
    except AvroParseError:
        return False


def equal_version(history: SchemaHistory, info: SchemaInfo) -> int | None:
    """The oldest live version that is the same schema, None if there is none."""
    return next((e.version for e in history.entries if is_same(e.info, info)), None)
