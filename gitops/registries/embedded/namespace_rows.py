"""Tenants, namespaces, created topics and their policies as rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Final, TypeVar

from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    NamespacePolicies,
    Policies,
    PolicyChange,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
    TopicPolicies,
    camel_case,
    managed_items,
)

# Policies as the JSON text that a row keeps: Pulsar's camelCase keys, only those that are set.

P = TypeVar("P", NamespacePolicies, TopicPolicies)

_ENUMS: Final[dict[str, type[Enum]]] = {
    "schemaCompatibilityStrategy": SchemaCompatibilityStrategy,
    "schemaAutoUpdateCompatibilityStrategy": SchemaAutoUpdateCompatibilityStrategy,
}


def to_json(policies: Policies) -> str:
    """The text of a row."""
    values = {
        key: value.value if isinstance(value, Enum) else value
        for key, value in managed_items(policies)
    }
    return json.dumps(values, sort_keys=True)


def from_json(kind: type[P], text: str) -> P:
    """The policies of a row; raises sqlite3.DatabaseError for what `to_json` did not write."""
    try:
        stored = dict(json.loads(text))
        values: dict[str, Any] = {}
        for field in fields(kind):
            key = camel_case(field.name)
            if key in stored:
                value = stored[key]
                values[field.name] = _ENUMS[key](value) if key in _ENUMS else bool(value)
    except (TypeError, ValueError, RecursionError) as cause:
        raise sqlite3.DatabaseError(f"stored policies are not valid: {cause}") from cause
    return kind(**values)


def apply_changes(policies: P, changes: Iterable[PolicyChange]) -> P:
    """`policies` with each key set to its `after`; raises UsageError for a key that it lacks."""
    names = {camel_case(field.name): field.name for field in fields(policies)}
    values: dict[str, Any] = {name: getattr(policies, name) for name in names.values()}
    for change in changes:
        if change.key not in names:
            raise UsageError(
                f"'{change.key}' is not a policy here", hint=f"known: {', '.join(sorted(names))}"
            )
        values[names[change.key]] = change.after
    return type(policies)(**values)


CLUSTER: Final = "standalone"
"""The one cluster that an embedded registry is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantInfo:
    """What Pulsar keeps of a tenant."""

    admin_roles: tuple[str, ...] = ()
    allowed_clusters: tuple[str, ...] = (CLUSTER,)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedTopic:
    """A topic that exists by itself; `partitions` is 0 for one that is not partitioned."""

    partitions: int = 0
    policies: TopicPolicies


def tenants(connection: sqlite3.Connection) -> tuple[str, ...]:
    """All tenants, sorted."""
    return tuple(name for (name,) in connection.execute("SELECT name FROM tenants ORDER BY name"))


def tenant(connection: sqlite3.Connection, name: str) -> TenantInfo | None:
    """One tenant, None if there is none of that name."""
    row = connection.execute(
        "SELECT admin_roles, allowed_clusters FROM tenants WHERE name = ?", (name,)
    ).fetchone()
    if row is None:
        return None
    roles, clusters = map(_names, row)
    return TenantInfo(admin_roles=roles, allowed_clusters=clusters)


def _names(text: str) -> tuple[str, ...]:
    """A list in a row; raises sqlite3.DatabaseError for what `put_tenant` did not write."""
    try:
        value = json.loads(text)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
    except (TypeError, ValueError, RecursionError) as cause:
        raise sqlite3.DatabaseError(f"a row of 'tenants' is not valid: {cause}") from cause
    raise sqlite3.DatabaseError("a row of 'tenants' has something other than names")


def put_tenant(connection: sqlite3.Connection, name: str, info: TenantInfo) -> None:
    """Create a tenant, or replace what is known of it."""
    row = (name, json.dumps(info.admin_roles), json.dumps(info.allowed_clusters))
    connection.execute("INSERT OR REPLACE INTO tenants VALUES (?, ?, ?)", row)


def remove_tenant(connection: sqlite3.Connection, name: str) -> None:
    """Remove a tenant that has no namespaces."""
    connection.execute("DELETE FROM tenants WHERE name = ?", (name,))


def namespaces(connection: sqlite3.Connection) -> tuple[NamespaceName, ...]:
    """All namespaces, sorted."""
    rows = connection.execute("SELECT tenant, name FROM namespaces ORDER BY tenant, name")
    return tuple(NamespaceName(*row) for row in rows)


def namespace_policies(
    connection: sqlite3.Connection, asked: Iterable[NamespaceName]
) -> dict[NamespaceName, NamespacePolicies]:
    """The policies of those namespaces that exist, in one query."""
    names = [(namespace.tenant, namespace.local_name) for namespace in asked]
    rows = connection.execute(
        """SELECT tenant, name, policies
           FROM (SELECT value FROM json_each(?)) AS asked CROSS JOIN namespaces
           ON tenant = json_extract(asked.value, '$[0]')
              AND name = json_extract(asked.value, '$[1]')""",
        (json.dumps(names),),
    )
    return {NamespaceName(t, n): from_json(NamespacePolicies, text) for t, n, text in rows}


def put_namespace(
    connection: sqlite3.Connection, namespace: NamespaceName, policies: NamespacePolicies
) -> None:
    """Create a namespace, or replace its policies."""
    row = (namespace.tenant, namespace.local_name, to_json(policies))
    connection.execute("INSERT OR REPLACE INTO namespaces VALUES (?, ?, ?)", row)


def remove_namespace(connection: sqlite3.Connection, namespace: NamespaceName) -> None:
    """Remove a namespace; schemas that were posted in it stay, as on a broker."""
    connection.execute(
        "DELETE FROM namespaces WHERE (tenant, name) = (?, ?)",
        (namespace.tenant, namespace.local_name),
    )


def topics(
    connection: sqlite3.Connection, namespace: NamespaceName
) -> dict[TopicName, CreatedTopic]:
    """The created topics of a namespace, by name."""
    rows = connection.execute(
        """SELECT name, domain, partitions, policies FROM topics
           WHERE (tenant, namespace) = (?, ?) ORDER BY name, domain""",
        (namespace.tenant, namespace.local_name),
    )
    return {
        TopicName(namespace, name, domain): _created(partitions, text)
        for name, domain, partitions, text in rows
    }


def created_topics(
    connection: sqlite3.Connection, asked: Iterable[TopicName]
) -> dict[TopicName, CreatedTopic]:
    """Those of the asked topics that were created, in one query."""
    by_row = {_row(topic): topic for topic in asked}
    rows = connection.execute(
        """SELECT tenant, namespace, name, domain, partitions, policies
           FROM (SELECT value FROM json_each(?)) AS asked CROSS JOIN topics
           ON tenant = json_extract(asked.value, '$[0]')
              AND namespace = json_extract(asked.value, '$[1]')
              AND name = json_extract(asked.value, '$[2]')
              AND domain = json_extract(asked.value, '$[3]')""",
        (json.dumps(list(by_row)),),
    )
    return {by_row[tuple(row)]: _created(count, text) for *row, count, text in rows}


def put_topic(connection: sqlite3.Connection, topic: TopicName, created: CreatedTopic) -> None:
    """Create a topic, or replace what is known of it."""
    row = (*_row(topic), created.partitions, to_json(created.policies))
    connection.execute("INSERT OR REPLACE INTO topics VALUES (?, ?, ?, ?, ?, ?)", row)


def remove_topic(connection: sqlite3.Connection, topic: TopicName) -> None:
    """Remove a created topic; not its schemas."""
    connection.execute(
        "DELETE FROM topics WHERE (tenant, namespace, name, domain) = (?, ?, ?, ?)", _row(topic)
    )


def _row(topic: TopicName) -> tuple[str, str, str, str]:
    """The primary key of a topic's row."""
    return (topic.namespace.tenant, topic.namespace.local_name, topic.local_name, topic.domain)


def _created(partitions: int, policies: str) -> CreatedTopic:
    """A row as a value."""
    return CreatedTopic(partitions=partitions, policies=from_json(TopicPolicies, policies))
