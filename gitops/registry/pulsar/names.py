"""Names in paths, and which of the names that a cluster lists are people's own."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from gitops.model.errors import InvalidNameError
from gitops.model.names import NamespaceName, TopicName

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def own_namespaces(listed: Iterable[str]) -> list[NamespaceName]:
    """The namespaces that people made.

    Without Pulsar's own, and without those of Pulsar 1 (`tenant/cluster/namespace`), which
    `tenant/namespace` cannot name.
    """
    return [
        NamespaceName.parse(name)
        for name in listed
        if name != _SYSTEM_NAMESPACE and not _HEARTBEAT.fullmatch(name) and name.count("/") == 1
    ]


def own_topics(listed: Iterable[str]) -> set[TopicName]:
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
