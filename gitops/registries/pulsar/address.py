"""The address of an admin REST endpoint, its paths, and which of its names are people's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, quote

from gitops.model.errors import InvalidNameError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.repository.suggestions import admin_url_hint, split_url

if TYPE_CHECKING:
    from collections.abc import Iterable

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port: what a connection is made to."""

    scheme: str
    host: str
    port: int

    @property
    def is_secure(self) -> bool:
        """Whether the connection is TLS."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """The host as it is written in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminAddress:
    """An origin and the path under which `/admin/v2` stands there (mostly empty)."""

    origin: Origin
    path: str = ""

    def __str__(self) -> str:
        return f"{self.origin}{self.path}"


def parse_address(text: str, where: str) -> AdminAddress:
    """Read the URL of an admin endpoint.

    Raises UsageError for anything but a plain http(s) URL. The text is not repeated in it as a
    whole: it may hold a password.
    """
    split = split_url(text)
    origin = None if split is None else origin_of(split)
    if split is None or origin is None:
        raise UsageError(
            "the registry's url is not an http or https URL",
            where=where,
            hint=admin_url_hint(text),
        )
    if split.username or split.password or split.query or split.fragment:
        raise UsageError(
            "the registry's url contains more than scheme, host, port and path",
            where=where,
            hint="credentials belong under `authentication`, from ${ENV_VAR} or a file",
        )
    return AdminAddress(origin=origin, path=split.path.rstrip("/").removesuffix("/admin/v2"))


def broker_origin(name: str, like: Origin) -> Origin | None:
    """Where a broker's web service is, by its name `host:port`; with the scheme of `like`."""
    split = split_url(f"{like.scheme}://{name}")
    return None if split is None or split.path or split.username else origin_of(split)


def origin_of(split: SplitResult) -> Origin | None:
    """Where a URL leads, None where it is not an http(s) URL with a host."""
    try:
        port = split.port
    except ValueError:
        return None
    if split.scheme not in _PORTS or not split.hostname:
        return None
    return Origin(split.scheme, split.hostname, port or _PORTS[split.scheme])


# Names in paths, and which of the names that a cluster lists are people's own.


# Pulsar 4.0.7: NamespaceService's patterns of the namespaces in which brokers watch themselves.
_HEARTBEAT: Final = re.compile(r"pulsar/[^:/]+:\d+|(pulsar|sla-monitor)/[^/]+/[^:]+:\d+")
_SYSTEM_NAMESPACE: Final = "pulsar/system"
# Pulsar 4.0.7: SystemTopicNames. Lists leave them out by default, those of older brokers do not.
_SYSTEM_TOPIC: Final = re.compile(
    r"__change_events|__transaction_.*|.*__transaction_pending_ack|transaction_coordinator_assign"
)


@lru_cache(maxsize=1024)
def namespace_path(namespace: NamespaceName) -> str:
    """`tenant/namespace`, each percent-encoded."""
    return f"{quote(namespace.tenant, safe='')}/{quote(namespace.local_name, safe='')}"


def topic_path(topic: TopicName) -> str:
    """`tenant/namespace/topic`, each percent-encoded."""
    return f"{namespace_path(topic.namespace)}/{quote(topic.local_name, safe='')}"


def schema_path(topic: TopicName) -> str:
    """`schemas/tenant/namespace/topic`, the topic percent-encoded twice.

    Pulsar 4.0.7 decodes the topic's name of these paths twice, and of no others: encoded once,
    `a+b` would be read as the topic `a b`, and `100%` answered with an error.
    """
    name = quote(quote(topic.local_name, safe=""), safe="")
    return f"schemas/{namespace_path(topic.namespace)}/{name}"


def user_namespaces(listed: Iterable[str]) -> list[NamespaceName]:
    """The namespaces that people made.

    Without Pulsar's own, and without those of Pulsar 1 (`tenant/cluster/namespace`), which
    `tenant/namespace` cannot name.
    """
    return [
        NamespaceName.parse(name)
        for name in listed
        if name != _SYSTEM_NAMESPACE and not _HEARTBEAT.fullmatch(name) and name.count("/") == 1
    ]


def user_topics(listed: Iterable[str]) -> set[TopicName]:
    """The topics that people made, partitions folded into their topic."""
    topics = map(_topic, listed)
    return {
        topic
        for topic in topics
        if topic is not None and not _SYSTEM_TOPIC.fullmatch(topic.local_name)
    }


def _topic(name: str) -> TopicName | None:
    """The topic of that name, None where it is one that no repository can name."""
    try:
        return TopicName.parse(name)
    except InvalidNameError:
        return None
