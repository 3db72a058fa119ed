"""The layout of the registry's file. What the rows mean to Pulsar is told in the modules above."""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x50534752
"""SQLite's application_id of a registry file (`PSGR`): tells it from any other database."""

FILE_VERSION: Final = 1
"""SQLite's user_version of a registry file; raised with every change of the layout."""

TABLES: Final = (
    """CREATE TABLE tenants (
        name TEXT PRIMARY KEY,
        admin_roles TEXT NOT NULL,
        allowed_clusters TEXT NOT NULL
    )""",
    """CREATE TABLE namespaces (
        tenant TEXT NOT NULL,
        name TEXT NOT NULL,
        policies TEXT NOT NULL,
        PRIMARY KEY (tenant, name)
    )""",
    # A row is a topic that was created (or given policies); a schema needs none.
    """CREATE TABLE topics (
        tenant TEXT NOT NULL,
        namespace TEXT NOT NULL,
        name TEXT NOT NULL,
        domain TEXT NOT NULL,
        partitions INTEGER NOT NULL,
        policies TEXT NOT NULL,
        PRIMARY KEY (tenant, namespace, name, domain)
    )""",
    # The domain is no part of a history's key (Pulsar 4.0.7).
    """CREATE TABLE entries (
        tenant TEXT NOT NULL,
        namespace TEXT NOT NULL,
        topic TEXT NOT NULL,
        version INTEGER NOT NULL,
        type TEXT NOT NULL,
        data BLOB NOT NULL,
        properties TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        deleted INTEGER NOT NULL,
        PRIMARY KEY (tenant, namespace, topic, version)
    )""",
)
