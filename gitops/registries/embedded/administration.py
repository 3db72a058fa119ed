"""What a broker's admin REST does besides the Registry port: tenants, namespaces, created topics.

The refusals are those of Pulsar 4.0.7, with its words and its status.
"""

from __future__ import annotations

import sqlite3

from gitops.model.errors import RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import NamespacePolicies, TopicPolicies
from gitops.registries.embedded import namespace_rows, schema_rows
from gitops.registries.embedded.database import Database
from gitops.registries.embedded.namespace_rows import CreatedTopic, TenantInfo
from gitops.registries.embedded.schema_rows import StoredTopic, key_of


class Administration:
    """The rows of a registry file that only `serve` needs to see one by one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tenants(self) -> tuple[str, ...]:
        """All tenants, sorted."""
        with self._database.reading() as connection:
            return namespace_rows.tenants(connection) if connection else ()

    def tenant(self, name: str) -> TenantInfo | None:
        """One tenant, None if there is none of that name."""
        with self._database.reading() as connection:
            return namespace_rows.tenant(connection, name) if connection else None

    def create_tenant(self, name: str, info: TenantInfo) -> None:
        """Refused (409) if it exists."""
        with self._database.writing() as connection:
            if namespace_rows.tenant(connection, name) is not None:
                raise RegistryRefusedError("Tenant already exist", status=409)
            namespace_rows.put_tenant(connection, name, info)

    def update_tenant(self, name: str, info: TenantInfo) -> None:
        """Refused (404) if it does not exist."""
        with self._database.writing() as connection:
            if namespace_rows.tenant(connection, name) is None:
                raise RegistryRefusedError(f"Tenant {name} not found", status=404)
            namespace_rows.put_tenant(connection, name, info)

    def delete_tenant(self, name: str) -> None:
        """Refused if it does not exist (404) or has namespaces (409)."""
        with self._database.writing() as connection:
            if namespace_rows.tenant(connection, name) is None:
                raise RegistryRefusedError("Tenant doesn't exist", status=404)
            if any(namespace.tenant == name for namespace in namespace_rows.namespaces(connection)):
                raise RegistryRefusedError("The tenant still has active namespaces", status=409)
            namespace_rows.remove_tenant(connection, name)

    def namespaces(self, tenant: str) -> tuple[NamespaceName, ...]:
        """The namespaces of a tenant; refused (404) if there is no such tenant."""
        with self._database.reading() as connection:
            if connection is None or namespace_rows.tenant(connection, tenant) is None:
                raise RegistryRefusedError("Tenant not found", status=404)
            return tuple(
                namespace
                for namespace in namespace_rows.namespaces(connection)
                if namespace.tenant == tenant
            )

    def namespace(self, namespace: NamespaceName) -> NamespacePolicies | None:
        """The policies of a namespace, None if there is none of that name."""
        with self._database.reading() as connection:
            grouped = (
                namespace_rows.namespace_policies(connection, [namespace]) if connection else {}
            )
            return grouped.get(namespace)

    def create_namespace(self, namespace: NamespaceName, policies: NamespacePolicies) -> None:
        """Refused if the tenant does not exist (404), or the namespace does (409)."""
        with self._database.writing() as connection:
            if namespace_rows.tenant(connection, namespace.tenant) is None:
                raise RegistryRefusedError("Tenant does not exist", status=404)
            if namespace_rows.namespace_policies(connection, [namespace]):
                raise RegistryRefusedError("Namespace already exists", status=409)
            namespace_rows.put_namespace(connection, namespace, policies)

    def delete_namespace(self, namespace: NamespaceName) -> None:
        """Refused if it does not exist (404) or holds created topics (409).

        Schemas of topics that were never created stay behind (Pulsar 4.0.7).
        """
        with self._database.writing() as connection:
            if not namespace_rows.namespace_policies(connection, [namespace]):
                raise RegistryRefusedError(f"Namespace {namespace} does not exist.", status=404)
            if namespace_rows.topics(connection, namespace):
                raise RegistryRefusedError("Cannot delete non empty namespace", status=409)
            namespace_rows.remove_namespace(connection, namespace)

    def topics(self, namespace: NamespaceName) -> dict[TopicName, CreatedTopic]:
        """The created topics; refused (404) if there is no such namespace."""
        with self._database.reading() as connection:
            if connection is None or not namespace_rows.namespace_policies(connection, [namespace]):
                raise RegistryRefusedError("Namespace does not exist", status=404)
            return namespace_rows.topics(connection, namespace)

    def topic(self, topic: TopicName) -> CreatedTopic:
        """A created topic; refused (404) if namespace or topic do not exist."""
        with self._database.reading() as connection:
            if connection is None:
                raise RegistryRefusedError("Namespace not found", status=404)
            return _created(connection, topic)

    def create_topic(self, topic: TopicName, partitions: int) -> None:
        """Refused if the namespace does not exist (404), or the topic does (409)."""
        with self._database.writing() as connection:
            _require_namespace(connection, topic.namespace)
            if namespace_rows.created_topics(connection, [topic]):
                raise RegistryRefusedError("This topic already exists", status=409)
            created = CreatedTopic(partitions=partitions, policies=TopicPolicies())
            namespace_rows.put_topic(connection, topic, created)

    def delete_topic(self, topic: TopicName) -> None:
        """Remove a topic and its schema history; refused (404) if it does not exist."""
        with self._database.writing() as connection:
            _created(connection, topic)
            namespace_rows.remove_topic(connection, topic)
            schema_rows.forget(connection, key_of(topic))

    def stored(self, topic: TopicName) -> StoredTopic:
        """The live history of a topic, empty where there is none."""
        with self._database.reading() as connection:
            return (
                schema_rows.read_topic(connection, key_of(topic)) if connection else StoredTopic()
            )

    def all_versions(self, topic: TopicName) -> tuple[int, ...]:
        """The numbers of all entries, tombstones included."""
        with self._database.reading() as connection:
            return schema_rows.all_versions(connection, key_of(topic)) if connection else ()


def _require_namespace(connection: sqlite3.Connection, namespace: NamespaceName) -> None:
    """Refuse (404) where there is no such namespace."""
    if not namespace_rows.namespace_policies(connection, [namespace]):
        raise RegistryRefusedError("Namespace not found", status=404)


def _created(connection: sqlite3.Connection, topic: TopicName) -> CreatedTopic:
    """A created topic; refused (404) if namespace or topic do not exist."""
    _require_namespace(connection, topic.namespace)
    created_topic = namespace_rows.created_topics(connection, [topic]).get(topic)
    if created_topic is None:
        full_name = f"{topic.domain}://{topic.namespace}/{topic.local_name}"
        raise RegistryRefusedError(f"Topic {full_name} not found", status=404)
    return created_topic
