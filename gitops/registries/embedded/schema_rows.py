"""Schema histories as rows: reading the live versions, appending, forgetting."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.names import TenantName, TopicName
from gitops.model.policy import NamespacePolicies, TopicPolicies
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaType
from gitops.model.state import (
    NamespaceState,
    RegistryState,
    Scope,
    TenantState,
    TopicPartitions,
    TopicState,
)
from gitops.registries.embedded import namespace_rows
from gitops.schemas.payload import PayloadError, to_info, to_stored_type

HistoryKey = tuple[str, str, str]
"""Tenant, namespace, local name: the domain is no part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVersion:
    """A live entry; `timestamp` in ms since 1970."""

    version: int
    schema: StoredSchema
    timestamp: int


@dataclass(slots=True, kw_only=True)
class StoredTopic:
    """The entries after the last tombstone, oldest first, and the next entry's number.

    `deleted_types` are those of the versions before it.
    """

    live: list[StoredVersion] = field(default_factory=list)
    next_version: int = 0
    deleted_types: set[SchemaType] = field(default_factory=set)

    @property
    def history(self) -> StoredHistory:
        """What a decision needs of it."""
        entries = tuple((entry.version, entry.schema) for entry in self.live)
        return StoredHistory(
            entries=entries,
            next_version=self.next_version,
            deleted_types=frozenset(self.deleted_types),
        )


def key_of(topic: TopicName) -> HistoryKey:
    """The name under which a topic's history is kept."""
    return (topic.namespace.tenant, topic.namespace.local_name, topic.local_name)


def read_topics(
    connection: sqlite3.Connection, keys: Iterable[HistoryKey]
) -> dict[HistoryKey, StoredTopic]:
    """The histories of those names, in one query; one without entries is there, and empty.

    Raises sqlite3.DatabaseError for a row that this module did not write.
    """
    grouped = {key: StoredTopic() for key in keys}
    rows = connection.execute(
        """SELECT entries.tenant, entries.namespace, topic, version,
                  type, data, properties, timestamp, deleted
           FROM (SELECT value FROM json_each(?)) AS asked CROSS JOIN entries
           ON entries.tenant = json_extract(asked.value, '$[0]')
              AND entries.namespace = json_extract(asked.value, '$[1]')
              AND entries.topic = json_extract(asked.value, '$[2]')
           ORDER BY entries.tenant, entries.namespace, topic, version""",
        (json.dumps(list(grouped)),),
    )
    for tenant, namespace, topic, *row in rows:
        _add(grouped[tenant, namespace, topic], tuple(row))
    return grouped


def _add(topic: StoredTopic, row: tuple[int, str, bytes, str, int, int]) -> None:
    """Take one more row into the history; a tombstone ends what was live."""
    version, type_, data, properties, timestamp, deleted = row
    try:
        topic.next_version = version + 1
        schema = StoredSchema(
            type=SchemaType(type_), data=bytes(data), properties=_texts(properties)
        )
        stored = StoredVersion(version=version, schema=schema, timestamp=int(timestamp))
    except (TypeError, ValueError, RecursionError) as cause:
        raise sqlite3.DatabaseError(f"a row of 'entries' is not valid: {cause}") from cause
    if deleted:
        topic.deleted_types |= {item.schema.type for item in topic.live}
        topic.live.clear()
    else:
        topic.live.append(stored)


def _texts(properties: str) -> dict[str, str]:
    """The properties of a row; raises ValueError, RecursionError."""
    value = json.loads(properties)
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ValueError("properties are an object of texts")
    return value


def read_topic(connection: sqlite3.Connection, key: HistoryKey) -> StoredTopic:
    """One history; empty where there is none. Raises as `read_topics`."""
    return read_topics(connection, [key])[key]


def all_versions(connection: sqlite3.Connection, key: HistoryKey) -> tuple[int, ...]:
    """The numbers of all entries, tombstones included, in order."""
    rows = connection.execute(
        "SELECT version FROM entries WHERE (tenant, namespace, topic) = (?, ?, ?) ORDER BY version",
        key,
    )
    return tuple(version for (version,) in rows)


def append(
    connection: sqlite3.Connection,
    key: HistoryKey,
    version: int,
    schema: StoredSchema,
    timestamp: int,
) -> None:
    """Store a version."""
    kept = to_stored_type(schema)
    properties = json.dumps(dict(schema.properties), ensure_ascii=False)
    row = (*key, version, kept.type.value, kept.data, properties, timestamp, 0)
    connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def append_tombstone(
    connection: sqlite3.Connection, key: HistoryKey, version: int, timestamp: int
) -> None:
    """End the live history; the tombstone takes a number, on an empty topic too."""
    row = (*key, version, SchemaType.NONE.value, b"", "{}", timestamp, 1)
    connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def forget(connection: sqlite3.Connection, key: HistoryKey) -> None:
    """Remove everything: the next version is 0 again."""
    connection.execute("DELETE FROM entries WHERE (tenant, namespace, topic) = (?, ?, ?)", key)


def topics_with_schema(
    connection: sqlite3.Connection, tenant: str, namespace: str
) -> tuple[str, ...]:
    """Local names with a live schema: those whose newest entry is no tombstone."""
    rows = connection.execute(
        """SELECT topic FROM (
               SELECT topic, MAX(version), deleted FROM entries
               WHERE (tenant, namespace) = (?, ?) GROUP BY topic
           ) WHERE NOT deleted ORDER BY topic""",
        (tenant, namespace),
    )
    return tuple(topic for (topic,) in rows)


# Rows as the states that everybody shares.


def absent_state(scope: Scope) -> RegistryState:
    """What an absent file holds of `scope`."""
    return RegistryState(
        namespaces={
            namespace: NamespaceState(namespace=namespace, exists=False)
            for namespace in scope.namespaces
        },
        topics={topic: TopicState(topic=topic) for topic in scope.topics},
    )


def read_state(connection: sqlite3.Connection, scope: Scope) -> RegistryState:
    """What the file holds of `scope`."""
    policies = namespace_rows.namespace_policies(connection, scope.namespaces)
    stored = read_topics(connection, {key_of(topic) for topic in scope.topics})
    created = namespace_rows.created_topics(connection, scope.topics)
    namespaces = {
        namespace: NamespaceState(
            namespace=namespace,
            policies=policies.get(namespace, NamespacePolicies()),
            exists=namespace in policies,
        )
        for namespace in sorted(scope.namespaces)
    }
    topics = {
        topic: TopicState(
            topic=topic,
            history=history(stored[key_of(topic)]),
            policies=created[topic].policies if topic in created else TopicPolicies(),
        )
        for topic in sorted(scope.topics)
    }
    return RegistryState(namespaces=namespaces, topics=topics)


def history(stored: StoredTopic) -> SchemaHistory:
    """Stored entries as admin REST shows them; raises sqlite3.DatabaseError for a broken one."""
    try:
        live = tuple(
            SchemaEntry(
                version=entry.version, info=to_info(entry.schema), timestamp=entry.timestamp
            )
            for entry in stored.live
        )
    except PayloadError as cause:
        raise sqlite3.DatabaseError(f"a stored schema is not valid: {cause}") from cause
    return SchemaHistory(entries=live, next_version=stored.next_version)


# Which tenants and topics there are.


def with_existence(
    state: RegistryState, connection: sqlite3.Connection | None, scope: Scope, *, strictly: bool
) -> RegistryState:
    """`state` with the tenants and topics whose existence was asked for.

    `strictly`: namespaces and topics show, too, what has to be created before them. `connection` is
    None for a file that is not there.
    """
    created = _created(connection, {*scope.partitions, *(state.topics if strictly else ())})
    registry_state = replace(
        state,
        tenants={
            name: _tenant(connection, name, strictly=strictly) for name in sorted(scope.tenants)
        },
        partitions={
            topic: TopicPartitions(topic=topic, count=created.get(topic), exists=topic in created)
            for topic in sorted(scope.partitions)
        },
    )
    return _strict(registry_state, connection, created) if strictly else registry_state


def _strict(
    state: RegistryState, connection: sqlite3.Connection | None, created: dict[TopicName, int]
) -> RegistryState:
    def namespace(item: NamespaceState) -> NamespaceState:
        tenant = TenantName(item.namespace.tenant)
        return replace(item, tenant_exists=_tenant(connection, tenant, strictly=True).exists)

    def topic(item: TopicState) -> TopicState:
        return replace(item, exists=item.topic in created)

    return replace(
        state,
        namespaces={name: namespace(item) for name, item in state.namespaces.items()},
        topics={name: topic(item) for name, item in state.topics.items()},
    )


def _tenant(
    connection: sqlite3.Connection | None, name: TenantName, *, strictly: bool
) -> TenantState:
    """Its clusters and roles count only where it stands for a cluster."""
    info = namespace_rows.tenant(connection, str(name)) if connection else None
    if info is None:
        return TenantState(tenant=name, exists=False)
    if not strictly:
        return TenantState(tenant=name)
    return TenantState(
        tenant=name,
        allowed_clusters=frozenset(info.allowed_clusters),
        admin_roles=frozenset(info.admin_roles),
    )


def _created(
    connection: sqlite3.Connection | None, topics: Iterable[TopicName]
) -> dict[TopicName, int]:
    """The number of partitions of those topics that were created."""
    grouped = namespace_rows.created_topics(connection, topics) if connection else {}
    return {topic: created_topic.partitions for topic, created_topic in grouped.items()}
