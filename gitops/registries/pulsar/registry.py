"""The Registry of kind `pulsar`, and which request sets which policy."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import Enum
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, final

import urllib3

from gitops.model.clients import ShortLivedTopics
from gitops.model.config import TlsAuthentication
from gitops.model.errors import OutsideError, RegistryRefusedError, UnknownOutcomeError, UsageError
from gitops.model.names import NamespaceName
from gitops.model.policy import SchemaAutoUpdateCompatibilityStrategy, SchemaCompatibilityStrategy
from gitops.ports import UnreadableTopicsError, no_progress
from gitops.registries.pulsar import response_bodies
from gitops.registries.pulsar.address import namespace_path, parse_address, schema_path, topic_path
from gitops.registries.pulsar.admin_client import READ_RETRY, AdminClient
from gitops.registries.pulsar.broker_probes import ClusterBroker
from gitops.registries.pulsar.broker_settings import VERSION
from gitops.registries.pulsar.client_statistics import find_short_lived_topics, observe_clients
from gitops.registries.pulsar.connections import Deadlines
from gitops.registries.pulsar.creations import CreationClient
from gitops.registries.pulsar.credentials import open_credentials
from gitops.registries.pulsar.error_responses import refusal
from gitops.registries.pulsar.http_client import HttpClient
from gitops.registries.pulsar.observation import RegistryReader, observe
from gitops.registries.pulsar.secrets import expand_variable
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.registries.pulsar.threads import map_in_threads
from gitops.registries.pulsar.tls import broker_context

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from gitops.model.clients import ObservedClients
    from gitops.model.names import TopicName
    from gitops.model.policy import BrokerSettings, PolicyChange, PolicyValue
    from gitops.model.schema import SchemaInfo
    from gitops.model.state import RegistryState, Scope, TenantState
    from gitops.ports import Progress, Registry
    from gitops.registries.pulsar.credentials import Credentials
    from gitops.registries.pulsar.error_responses import Answer

# Which request sets which policy, and what removes it.


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRequest:
    """A request that sets or removes one policy."""

    method: str
    path: str
    body: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Route:
    """How a key is written; `removal` is method and body, None where it cannot be removed."""

    method: str
    type: type
    removal: tuple[str, bytes | None] | None


# Seen on Pulsar 4.0.7. A namespace's isAllowAutoUpdateSchema and a topic's
# schemaValidationEnforced have no request that removes them: a posted `null` is stored as false.
# A namespace's schemaValidationEnforced is a plain boolean, and false is the same as not set.
_NAMESPACE: Final = {
    "schemaCompatibilityStrategy": _Route(
        method="PUT", type=SchemaCompatibilityStrategy, removal=("PUT", b'"UNDEFINED"')
    ),
    "isAllowAutoUpdateSchema": _Route(method="POST", type=bool, removal=None),
    "schemaValidationEnforced": _Route(method="POST", type=bool, removal=("POST", b"false")),
    "schemaAutoUpdateCompatibilityStrategy": _Route(
        method="PUT", type=SchemaAutoUpdateCompatibilityStrategy, removal=("PUT", b"null")
    ),
}
_TOPIC: Final = {
    "schemaCompatibilityStrategy": _Route(
        method="PUT", type=SchemaCompatibilityStrategy, removal=("DELETE", None)
    ),
    "schemaValidationEnforced": _Route(method="POST", type=bool, removal=None),
}


def policy_request(subject: NamespaceName | TopicName, change: PolicyChange) -> PolicyRequest:
    """The request for one change.

    Raises UsageError for a key that the subject does not have, a value of another key's type (a
    topic's strategy of another type is stored as none without a word), and a removal that Pulsar
    has no request for.
    """
    if isinstance(subject, NamespaceName):
        routes, base = _NAMESPACE, f"namespaces/{namespace_path(subject)}"
    else:
        routes, base = _TOPIC, f"{subject.domain}/{topic_path(subject)}"
    route = routes.get(change.key)
    if route is None:
        raise UsageError(
            f"'{change.key}' is no schema policy of a "
            f"{'namespace' if routes is _NAMESPACE else 'topic'}",
            where=str(subject),
            hint=f"it is one of {', '.join(routes)}",
        )
    method, body = _content(route, change, subject)
    return PolicyRequest(method=method, path=f"{base}/{change.key}", body=body)


def _content(
    route: _Route, change: PolicyChange, subject: NamespaceName | TopicName
) -> tuple[str, bytes | None]:
    if change.after is None:
        if route.removal is None:
            raise UsageError(
                f"Pulsar cannot remove {change.key} once it is set",
                where=str(subject),
                hint="set it to true or false instead",
            )
        return route.removal
    if not isinstance(change.after, route.type):
        raise UsageError(f"{change.key} cannot be {_text(change.after)}", where=str(subject))
    return route.method, json.dumps(_text(change.after)).encode()


def _text(value: PolicyValue) -> object:
    return value.value if isinstance(value, Enum) else value


_DONE: Final = frozenset({HTTPStatus.OK, HTTPStatus.NO_CONTENT})
_TENANT_PERMISSION: Final = "the role of an administrator of the tenant"
_SUPERUSER_PERMISSION: Final = "a superuser role, as only these create tenants"
_PRODUCE_PERMISSION: Final = "the permission to produce on the topic"


def open_registry(name: str, config: PulsarConfig, root: Path) -> Registry:
    """The registry that `gitops.yaml` describes.

    Reads secrets and certificates now and connects later. Raises UsageError where the
    configuration cannot be used.
    """
    return PulsarRegistry(name, config, open_admin_client(name, config, root))


def open_admin_client(  # noqa: PLR0913 - the last three only where gitops.yaml is not the source
    name: str,
    config: PulsarConfig,
    root: Path,
    retry: urllib3.Retry = READ_RETRY,
    *,
    where: str = "",
    credentials: Credentials | None = None,
) -> AdminClient:
    """The connection to the cluster, with the secrets that the configuration names.

    `where` is what errors name in place of gitops.yaml; `credentials` are such as no configuration
    names.
    """
    where = where or _where(name)
    address = parse_address(expand_variable(config.url, where), where)
    if isinstance(config.authentication, TlsAuthentication) and not address.origin.is_secure:
        raise UsageError(
            "a client certificate needs an https url",
            where=where,
            hint="give the web service URL of the TLS port",
        )
    return AdminClient(
        address=address,
        credentials=credentials or open_credentials(config, root, where),
        client=HttpClient(
            context=broker_context(config, root, where),
            connect=config.connect_timeout,
            read=config.read_timeout,
        ),
        deadlines=Deadlines(request=config.request_timeout, run=config.run_timeout),
        retry=retry,
    )


def _written_version(read: Callable[[Answer], int], answer: Answer) -> int:
    """The version in the answer to a write; raises UnknownOutcomeError where there is none.

    A proxy may have answered in the cluster's place, or cut what it answered.
    """
    try:
        return read(answer)
    except OutsideError as error:
        raise UnknownOutcomeError(error.what, where=error.where) from error


def _where(name: str) -> str:
    return f"gitops.yaml, registry '{name}'"


@final
class PulsarRegistry:
    """A cluster, seen through one of its admin endpoints."""

    def __init__(self, name: str, config: PulsarConfig, admin_client: AdminClient) -> None:
        self._name = name
        self._config = self.config = config
        self._admin_client = self.admin_client = admin_client
        self._reading = RegistryReader(admin_client)
        self._creations = CreationClient(admin_client, config.concurrency)
        self._broker = ClusterBroker(admin_client, config)

    def __repr__(self) -> str:
        return f"PulsarRegistry({self._name!r}, {self.address!r})"

    @property
    def name(self) -> str:
        """The name that `gitops.yaml` gives it."""
        return self._name

    @property
    def address(self) -> str:
        """The URL of the admin endpoint."""
        return str(self._admin_client.address)

    @property
    def concurrency(self) -> int:
        """How many requests it is sent at once, as `gitops.yaml` says."""
        return self._config.concurrency

    @property
    def broker(self) -> BrokerSettings:
        """What the cluster tells of its brokers, else `gitops.yaml`; asked for when needed.

        Namespaces that were observed are asked for what the configuration did not tell.
        """
        return self._broker.settings

    def list_namespaces(self) -> tuple[NamespaceName, ...]:
        """All namespaces of all tenants, sorted; needs a superuser role."""
        namespaces = map_in_threads(
            self._reading.namespaces,
            sorted(self._reading.tenants()),
            threads=self._config.concurrency,
            on_progress=lambda _done: None,
        )
        return tuple(sorted({name for names in namespaces for name in names}))

    def list_topics(self, namespace: NamespaceName) -> tuple[TopicName, ...]:
        """The topics that exist, sorted; not those that only have a schema (Pulsar 4.0.7)."""
        threads = self._config.concurrency
        return tuple(sorted(self._reading.topics(namespace, threads=threads)))

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        """Read all versions and policies in `scope`, several at a time."""
        if not scope.namespaces and not scope.topics:
            self._admin_client.get(VERSION)  # or a cluster that is gone would look like a clean one
        tenants, partitions = self._creations.tenants(scope), self._creations.partitions(scope)
        try:
            state = observe(self._reading, self._config, scope, progress, self._broker)
        except UnreadableTopicsError as error:
            error.state = replace(error.state, tenants=tenants, partitions=partitions)
            raise
        return replace(state, tenants=tenants, partitions=partitions)

    def observe_clients(
        self, topics: Collection[TopicName], progress: Progress = no_progress
    ) -> ObservedClients:
        """Who is connected to these topics, from their statistics."""
        return observe_clients(
            self._admin_client,
            topics,
            progress,
            threads=self._config.concurrency,
            deletes_inactive_topics=self.broker.deletes_inactive_topics is not False,
        )

    def find_short_lived_topics(self, topics: Collection[TopicName]) -> ShortLivedTopics:
        """The topics that brokers may delete; none where they delete no inactive topics."""
        if self.broker.deletes_inactive_topics is False:
            return ShortLivedTopics()
        namespaces = {topic.namespace for topic in topics}
        try:
            existing = {topic for name in namespaces for topic in self.list_topics(name)}
        except RegistryRefusedError as error:
            return ShortLivedTopics(unread=dict.fromkeys(topics, error.what))
        return find_short_lived_topics(
            self._admin_client, existing.intersection(topics), threads=self._config.concurrency
        )

    def create_tenant(self, tenant: TenantState) -> None:
        """Create a tenant; the clusters that it may use must exist."""
        self._expect(self._creations.create_tenant(tenant), permission=_SUPERUSER_PERMISSION)

    def create_topic(self, topic: TopicName, partitions: int) -> None:
        """Create a topic; its namespace must exist."""
        self._expect(self._creations.create_topic(topic, partitions), permission=_TENANT_PERMISSION)

    def create_namespace(self, namespace: NamespaceName) -> None:
        """Create a namespace with the cluster's default policies; its tenant must exist."""
        answer = self._admin_client.send("PUT", f"namespaces/{namespace_path(namespace)}", b"{}")
        hint = ""
        if answer.status == HTTPStatus.NOT_FOUND:
            hint = f"create the tenant first: pulsar-admin tenants create {namespace.tenant}"
        self._expect(answer, permission=_TENANT_PERMISSION, hint=hint)

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        """Set one key after the other; nothing is sent if one of them cannot be."""
        requests = [policy_request(subject, change) for change in changes]
        is_topic = not isinstance(subject, NamespaceName)
        for request in requests:
            answer = self._admin_client.send(request.method, request.path, request.body)
            missing = is_topic and answer.status == HTTPStatus.NOT_FOUND
            hint = f"create it first: pulsar-admin topics create {subject}" if missing else ""
            self._expect(answer, permission=_TENANT_PERMISSION, hint=hint)

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        """Post a schema; answers its version, a known one if the broker finds it equal."""
        path = f"{schema_path(topic)}/schema"
        answer = self._admin_client.send("POST", path, response_bodies.write_schema(info))
        self._expect(answer, permission=_PRODUCE_PERMISSION)
        return _written_version(response_bodies.read_posted_version, answer)

    def delete_schema(self, topic: TopicName, *, force: bool = False) -> int:
        """Append a tombstone, or forget all versions."""
        path = f"{schema_path(topic)}/schema{'?force=true' if force else ''}"
        answer = self._admin_client.send("DELETE", path)
        self._expect(answer, permission=_TENANT_PERMISSION)
        return _written_version(response_bodies.read_deleted_version, answer)

    def close(self) -> None:
        """Close the connections."""
        self._admin_client.close()

    def _expect(self, answer: Answer, *, permission: str, hint: str = "") -> None:
        """Raises RegistryRefusedError or OutsideError unless the answer is a success."""
        if answer.status not in _DONE:
            message = self._admin_client.redact(answer.message)
            raise refusal(answer, message, permission=permission, hint=hint)
