"""The embedded registry as the Registry port; what a broker does besides is in administration."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from gitops.broker import registration
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import line_of
from gitops.model.decision import Decision
from gitops.model.errors import RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    PolicyChange,
    SchemaCompatibilityStrategy,
    TopicPolicies,
    effective_strategy,
)
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState, Scope, TenantState
from gitops.ports import Progress, Registry, no_progress
from gitops.registries.embedded import namespace_rows, schema_rows
from gitops.registries.embedded.administration import Administration
from gitops.registries.embedded.database import BUSY_SECONDS, Database
from gitops.registries.embedded.namespace_rows import (
    CLUSTER,
    CreatedTopic,
    TenantInfo,
    apply_changes,
)
from gitops.registries.embedded.schema_rows import StoredTopic, absent_state, key_of, read_state
from gitops.registries.embedded.settings import EmbeddedConfig
from gitops.repository.folder import require_inside
from gitops.schemas.payload import to_stored

Clock = Callable[[], int]
"""The time in ms since 1970."""

_PULSARS_OWN_TENANT: Final = "pulsar"


def open_registry(name: str, config: EmbeddedConfig, root: Path) -> Registry:
    """The registry that `gitops.yaml` describes; its path is relative to `root`.

    Nothing is opened or created yet. Raises UsageError where a symbolic link in the repository
    leads elsewhere.
    """
    path = root / config.path
    require_inside(root, path)
    return EmbeddedRegistry(
        name, path, config.broker, address=config.path, as_cluster=config.as_cluster
    )


def now() -> int:
    """The time in ms since 1970."""
    return time.time_ns() // 1_000_000


class EmbeddedRegistry:
    """Schemas and policies in one SQLite file, decided as a broker of its line decides.

    Safe for several threads and processes at once: a registration reads the history, decides and
    writes in one transaction. A file that is not there is an empty registry until the first write.
    Every method may raise OutsideError for the file, and those that write RegistryRefusedError
    with the status that admin REST gives. Tenants and topics come with what needs them, unless it
    is `as_cluster`: there they have to be created first.
    """

    def __init__(  # noqa: PLR0913 - all but two are for tests, by name
        self,
        name: str,
        path: Path,
        broker: BrokerSettings | None = None,
        *,
        address: str | None = None,
        as_cluster: bool = False,
        clock: Clock = now,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self._name = name
        self._address = str(path) if address is None else address
        self._broker = broker or BrokerSettings()
        self.line: Final[BrokerLine] = line_of(self._broker)
        self._as_cluster = as_cluster
        self._clock = clock
        self.database: Final = Database(path, busy_seconds=busy_seconds)

    @property
    def name(self) -> str:
        """The name that `gitops.yaml` gives it."""
        return self._name

    @property
    def address(self) -> str:
        """The file's path as `gitops.yaml` has it, the same on every machine."""
        return self._address

    @property
    def broker(self) -> BrokerSettings:
        """Its release, and what holds where neither topic nor namespace says anything."""
        return self._broker

    def list_namespaces(self) -> tuple[NamespaceName, ...]:
        """All namespaces, sorted; without Pulsar's own."""
        with self.database.reading() as connection:
            known = namespace_rows.namespaces(connection) if connection else ()
        return tuple(namespace for namespace in known if namespace.tenant != _PULSARS_OWN_TENANT)

    def list_topics(self, namespace: NamespaceName) -> tuple[TopicName, ...]:
        """The topics that were created or have a live schema, sorted; without system topics.

        Unlike a broker it also knows the topics that only have a schema: they are persistent ones
        here unless the topic was created as a non-persistent one. Refused (404) where there is no
        such namespace.
        """
        with self.database.reading() as connection:
            self._namespace(connection, namespace)
            created = namespace_rows.topics(connection, namespace) if connection else {}
            named = {topic.local_name for topic in created}
            schemas = _topics_with_schema(connection, namespace)
        only_schema = [TopicName(namespace, name) for name in schemas if name not in named]
        known = sorted([*created, *only_schema])
        return tuple(topic for topic in known if not topic.is_system)

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        """Read all versions and policies in `scope`, at one moment, in three queries."""
        total = len(scope.topics)
        progress("read schemas", 0, total)
        with self.database.reading() as connection:
            state = read_state(connection, scope) if connection else absent_state(scope)
            state = schema_rows.with_existence(state, connection, scope, strictly=self._as_cluster)
        progress("read schemas", total, total)
        return state

    def create_tenant(self, tenant: TenantState) -> None:
        """Create a tenant; refused (409) if it exists."""
        info = TenantInfo(
            admin_roles=tuple(sorted(tenant.admin_roles or ())),
            allowed_clusters=tuple(sorted(tenant.allowed_clusters or (CLUSTER,))),
        )
        Administration(self.database).create_tenant(str(tenant.tenant), info)

    def create_topic(self, topic: TopicName, partitions: int) -> None:
        """Create a topic; refused if it exists (409), or its namespace does not (404)."""
        Administration(self.database).create_topic(topic, partitions)

    def create_namespace(self, namespace: NamespaceName) -> None:
        """Create a namespace, and its tenant where there is none; refused (409) if it exists."""
        with self.database.writing() as connection:
            if namespace_rows.namespace_policies(connection, [namespace]):
                raise self._refusal_error("Namespace already exists", 409, namespace)
            if namespace_rows.tenant(connection, namespace.tenant) is None:
                if self._as_cluster:
                    raise self._refusal_error("Tenant does not exist", 404, namespace)
                namespace_rows.put_tenant(connection, namespace.tenant, TenantInfo())
            namespace_rows.put_namespace(connection, namespace, NamespacePolicies())

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        """Set each key to its `after`; None removes the setting. A topic is created by it."""
        with self.database.writing() as connection:
            if isinstance(subject, NamespaceName):
                policies = self._namespace(connection, subject)
                namespace_rows.put_namespace(connection, subject, apply_changes(policies, changes))
                return
            self._namespace(connection, subject.namespace)
            known = namespace_rows.created_topics(connection, [subject]).get(subject)
            if known is None and self._as_cluster:
                raise self._refusal_error("Topic not found", 404, subject)
            before = known or CreatedTopic(policies=TopicPolicies())
            after = CreatedTopic(
                partitions=before.partitions, policies=apply_changes(before.policies, changes)
            )
            namespace_rows.put_topic(connection, subject, after)

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        """Decide and store in one transaction; answers the version, a known one if equal.

        A refused decision raises RegistryRefusedError with its status, 404 stands for a namespace
        that does not exist.
        """
        with self.database.writing() as connection:
            strategy = self._strategy(connection, topic)
            stored = schema_rows.read_topic(connection, key_of(topic))
            decision = registration.register(stored.history, info, strategy, self.line)
            if not decision.accepted or decision.version is None:
                raise self._refusal_error(decision.reason, decision.status, topic)
            if not decision.known:
                self._store(connection, topic, decision.version, info)
            return decision.version

    def _store(
        self, connection: sqlite3.Connection, topic: TopicName, version: int, info: SchemaInfo
    ) -> None:
        """Append the version, and remember that the topic is not persistent if so."""
        schema_rows.append(connection, key_of(topic), version, to_stored(info), self._clock())
        unknown = not namespace_rows.created_topics(connection, [topic])
        if topic.domain == "non-persistent" and unknown:
            namespace_rows.put_topic(connection, topic, CreatedTopic(policies=TopicPolicies()))

    def delete_schema(self, topic: TopicName, *, force: bool = False) -> int:
        """Append a tombstone (answers its version); with `force` forget all versions (-1).

        As on a broker the tenant must exist, and neither the namespace nor a schema need to.
        """
        key = key_of(topic)
        with self.database.writing() as connection:
            if namespace_rows.tenant(connection, topic.namespace.tenant) is None:
                raise self._refusal_error("Tenant does not exist", 404, topic)
            if force:
                schema_rows.forget(connection, key)
                return -1
            version = schema_rows.read_topic(connection, key).next_version
            schema_rows.append_tombstone(connection, key, version, self._clock())
            return version

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def would_register(self, topic: TopicName, info: SchemaInfo) -> Decision:
        """What `register_schema` would decide now; 404 as there."""
        with self.database.reading() as connection:
            strategy = self._strategy(connection, topic)
            stored = _read(connection, topic)
        return registration.register(stored.history, info, strategy, self.line)

    def check_compatibility(
        self, topic: TopicName, info: SchemaInfo
    ) -> tuple[Decision, SchemaCompatibilityStrategy]:
        """What POST …/compatibility finds, and under which strategy; 404 as for a registration."""
        with self.database.reading() as connection:
            strategy = self._strategy(connection, topic)
            stored = _read(connection, topic)
        return registration.compatible(stored.history, info, strategy, self.line), strategy

    def find_version(self, topic: TopicName, info: SchemaInfo) -> int | None:
        """What POST …/version finds: a live version with the same bytes.

        Raises PayloadError for a text that cannot be turned into what would be stored.
        """
        with self.database.reading() as connection:
            stored = _read(connection, topic)
        return registration.find_version(stored.history, info, self.line)

    def _namespace(
        self, connection: sqlite3.Connection | None, namespace: NamespaceName
    ) -> NamespacePolicies:
        """The namespace's policies; refused (404) where there is no such namespace."""
        grouped = namespace_rows.namespace_policies(connection, [namespace]) if connection else {}
        if namespace not in grouped:
            raise self._refusal_error("Namespace does not exist", 404, namespace)
        return grouped[namespace]

    def _strategy(
        self, connection: sqlite3.Connection | None, topic: TopicName
    ) -> SchemaCompatibilityStrategy:
        """The strategy that holds for a registration by REST.

        Its path names no domain, and the policies read are those of the persistent topic: those
        of a non-persistent one never count (Pulsar 4.0.7).
        """
        namespace = self._namespace(connection, topic.namespace)
        persistent = TopicName(topic.namespace, topic.local_name)
        created = namespace_rows.created_topics(connection, [persistent]) if connection else {}
        own = created[persistent].policies if created else TopicPolicies()
        return effective_strategy(own, namespace, self._broker)

    def _refusal_error(
        self, what: str, status: int, subject: NamespaceName | TopicName
    ) -> RegistryRefusedError:
        """A refusal, saying where."""
        return RegistryRefusedError(what, status=status, where=f"{subject} in {self.address}")


def _read(connection: sqlite3.Connection | None, topic: TopicName) -> StoredTopic:
    """The stored entries of a topic."""
    return schema_rows.read_topic(connection, key_of(topic)) if connection else StoredTopic()


def _topics_with_schema(
    connection: sqlite3.Connection | None, namespace: NamespaceName
) -> tuple[str, ...]:
    """The local names that have a live schema."""
    if connection is None:
        return ()
    return schema_rows.topics_with_schema(connection, namespace.tenant, namespace.local_name)
