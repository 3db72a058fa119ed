"""The Registry of kind `pulsar`."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final, final

import urllib3

from gitops.model.config import TlsAuthentication
from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName
from gitops.ports import no_progress
from gitops.registry.pulsar import wire
from gitops.registry.pulsar.address import parse_address
from gitops.registry.pulsar.credentials import open_credentials
from gitops.registry.pulsar.deadlines import Deadlines
from gitops.registry.pulsar.failures import refusal
from gitops.registry.pulsar.http_client import HttpClient
from gitops.registry.pulsar.names import namespace_path, schema_path
from gitops.registry.pulsar.observing import observe
from gitops.registry.pulsar.parallel import map_in_threads
from gitops.registry.pulsar.policies import policy_request
from gitops.registry.pulsar.reading import Reading
from gitops.registry.pulsar.secrets import expand_variable
from gitops.registry.pulsar.settings import PulsarConfig
from gitops.registry.pulsar.tls import broker_context
from gitops.registry.pulsar.transport import READ_RETRY, Transport

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gitops.model.names import TopicName
    from gitops.model.policy import BrokerDefaults, PolicyChange
    from gitops.model.schema import SchemaInfo
    from gitops.model.state import RegistryState, Scope
    from gitops.ports import Progress, Registry
    from gitops.registry.pulsar.credentials import Credentials
    from gitops.registry.pulsar.failures import Answer

_DONE: Final = frozenset({HTTPStatus.OK, HTTPStatus.NO_CONTENT})
_TENANT_PERMISSION: Final = "the role of an administrator of the tenant"
_PRODUCE_PERMISSION: Final = "the permission to produce on the topic"


def open_registry(name: str, config: PulsarConfig, root: Path) -> Registry:
    """The registry that `gitops.yaml` describes.

    Reads secrets and certificates now and connects later. Raises UsageError where the
    configuration cannot be used.
    """
    return PulsarRegistry(name, config, open_transport(name, config, root))


def open_transport(  # noqa: PLR0913 - the last three only where gitops.yaml is not the source
    name: str,
    config: PulsarConfig,
    root: Path,
    retry: urllib3.Retry = READ_RETRY,
    *,
    where: str = "",
    credentials: Credentials | None = None,
) -> Transport:
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
    return Transport(
        address=address,
        credentials=credentials or open_credentials(config, root, where),
        client=HttpClient(
            context=broker_context(config, root, where),
            connect=config.connect_timeout,
            read=config.read_timeout,
            connections=config.concurrency,
        ),
        deadlines=Deadlines(request=config.request_timeout, run=config.run_timeout),
        retry=retry,
    )


def _where(name: str) -> str:
    return f"gitops.yaml, registry '{name}'"


@final
class PulsarRegistry:
    """A cluster, seen through one of its admin endpoints."""

    def __init__(self, name: str, config: PulsarConfig, transport: Transport) -> None:
        self._name = name
        self._config = config
        self._transport = transport
        self._reading = Reading(transport)

    def __repr__(self) -> str:
        return f"PulsarRegistry({self._name!r}, {self.address!r})"

    @property
    def name(self) -> str:
        """The name that `gitops.yaml` gives it."""
        return self._name

    @property
    def address(self) -> str:
        """The URL of the admin endpoint."""
        return str(self._transport.address)

    @property
    def defaults(self) -> BrokerDefaults:
        """What `gitops.yaml` says about broker.conf; the admin endpoint does not tell it."""
        return self._config.broker_defaults

    def list_namespaces(self) -> tuple[NamespaceName, ...]:
        """All namespaces of all tenants, sorted; needs a superuser role."""
        found = map_in_threads(
            self._reading.namespaces,
            sorted(self._reading.tenants()),
            threads=self._config.concurrency,
            on_progress=lambda _done: None,
        )
        return tuple(sorted({name for names in found for name in names}))

    def list_topics(self, namespace: NamespaceName) -> tuple[TopicName, ...]:
        """The topics that exist, sorted; not those that only have a schema (Pulsar 4.0.7)."""
        return tuple(sorted(self._reading.topics(namespace)))

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        """Read all versions and policies in `scope`, several at a time."""
        return observe(self._reading, self._config, scope, progress)

    def create_namespace(self, namespace: NamespaceName) -> None:
        """Create a namespace with the cluster's default policies; its tenant must exist."""
        answer = self._transport.send("PUT", f"namespaces/{namespace_path(namespace)}", b"{}")
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
            answer = self._transport.send(request.method, request.path, request.body)
            missing = is_topic and answer.status == HTTPStatus.NOT_FOUND
            hint = f"create it first: pulsar-admin topics create {subject}" if missing else ""
            self._expect(answer, permission=_TENANT_PERMISSION, hint=hint)

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        """Post a schema; answers its version, a known one if the broker finds it equal."""
        path = f"{schema_path(topic)}/schema"
        answer = self._transport.send("POST", path, wire.write_schema(info))
        self._expect(answer, permission=_PRODUCE_PERMISSION)
        return wire.read_posted_version(answer)

    def delete_schema(self, topic: TopicName, *, force: bool = False) -> int:
        """Append a tombstone, or forget all versions."""
        path = f"{schema_path(topic)}/schema{'?force=true' if force else ''}"
        answer = self._transport.send("DELETE", path)
        self._expect(answer, permission=_TENANT_PERMISSION)
        return wire.read_deleted_version(answer)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _expect(self, answer: Answer, *, permission: str, hint: str = "") -> None:
        """Raises RegistryRefusedError or OutsideError unless the answer is a success."""
        if answer.status not in _DONE:
            message = self._transport.redact(answer.message)
            raise refusal(answer, message, permission=permission, hint=hint)
