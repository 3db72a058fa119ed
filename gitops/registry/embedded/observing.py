"""Rows as the states that everybody shares."""

from __future__ import annotations

import sqlite3

from gitops.compatibility.payload import PayloadError, to_info
from gitops.model.policy import NamespacePolicies, TopicPolicies
from gitops.model.schema import SchemaEntry, SchemaHistory
from gitops.model.state import NamespaceState, RegistryState, Scope, TopicState
from gitops.registry.embedded import entries, places
from gitops.registry.embedded.entries import StoredTopic, key_of


def nothing(scope: Scope) -> RegistryState:
    """What an absent file holds of `scope`."""
    return RegistryState(
        namespaces={
            each: NamespaceState(namespace=each, exists=False) for each in scope.namespaces
        },
        topics={each: TopicState(topic=each) for each in scope.topics},
    )


def observed(connection: sqlite3.Connection, scope: Scope) -> RegistryState:
    """What the file holds of `scope`."""
    policies = places.namespace_policies(connection, scope.namespaces)
    stored = entries.read_topics(connection, {key_of(each) for each in scope.topics})
    created = places.created_topics(connection, scope.topics)
    namespaces = {
        each: NamespaceState(
            namespace=each,
            policies=policies.get(each, NamespacePolicies()),
            exists=each in policies,
        )
        for each in sorted(scope.namespaces)
    }
    topics = {
        each: TopicState(
            topic=each,
            history=history(stored[key_of(each)]),
            policies=created[each].policies if each in created else TopicPolicies(),
        )
        for each in sorted(scope.topics)
    }
    return RegistryState(namespaces=namespaces, topics=topics)


def history(stored: StoredTopic) -> SchemaHistory:
    """Stored entries as admin REST shows them; raises sqlite3.DatabaseError for a broken one."""
    try:
        live = tuple(
            SchemaEntry(version=each.version, info=to_info(each.schema), timestamp=each.timestamp)
            for each in stored.live
        )
    except PayloadError as cause:
        raise sqlite3.DatabaseError(f"a stored schema makes no sense: {cause}") from cause
    return SchemaHistory(entries=live, next_version=stored.next_version)
