"""`snapshots/<registry>/clients.json`: who was connected to the topics of a registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from pydantic import ValidationError

from gitops.model.clients import (
    ObservedClients,
    ObservedProducer,
    ObservedSubscription,
    ObservedTopic,
)
from gitops.model.errors import UnreadableFileError, UsageError
from gitops.model.names import TopicName
from gitops.ports import ClientSource, FileTree, Registry
from gitops.repository.documents.base import API_VERSION
from gitops.repository.documents.snapshots import ClientsSnapshot, TopicClientsSnapshot
from gitops.repository.snapshots import CLIENTS_FILE, SNAPSHOTS, folder_of, is_clients_path
from gitops.repository.tracked_files import TrackedFiles

_NOT_READ: Final = "its statistics could not be read"


def clients_path(registry: str) -> str:
    """Where the clients of a registry's topics are recorded."""
    return f"{folder_of(registry)}/{CLIENTS_FILE}"


def load_observed_clients(sources: TrackedFiles) -> dict[str, ObservedClients]:
    """What snapshots recorded, by registry; broken files are reported elsewhere."""
    grouped = {}
    for path in sources.paths:
        if is_clients_path(path):
            with suppress(UnreadableFileError, ValidationError):
                registry = path.removeprefix(SNAPSHOTS).split("/")[0]
                grouped[registry] = _parse(path, sources.peek(path))
    return grouped


def _parse(path: str, data: bytes) -> ObservedClients:
    document = ClientsSnapshot.model_validate_json(data)
    return ObservedClients(
        topics={TopicName.parse(topic.topic): _observed_topic(topic) for topic in document.topics},
        unread={TopicName.parse(topic): _NOT_READ for topic in document.unread},
        file=path,
    )


def _observed_topic(topic: TopicClientsSnapshot) -> ObservedTopic:
    return ObservedTopic(
        producers=tuple(
            ObservedProducer(name=producer.name, client=producer.client)
            for producer in topic.producers
        ),
        subscriptions=tuple(
            ObservedSubscription(
                name=subscription.name,
                type=subscription.type,
                is_durable=subscription.durable,
                clients=subscription.clients,
                backlog=subscription.backlog_at_least,
            )
            for subscription in topic.subscriptions
        ),
        left_out=topic.left_out,
        messages={count.version: count.messages for count in topic.captured},
    )


def render_observed_clients(observed: ObservedClients) -> bytes:
    """The content of the file: topics that somebody uses, or of which messages were captured."""
    document = {
        "apiVersion": API_VERSION,
        "kind": "ClientsSnapshot",
        "topics": [
            _topic_document(topic, clients)
            for topic, clients in sorted(observed.topics.items())
            if clients.is_used or clients.messages
        ],
        **({"unread": sorted(map(str, observed.unread))} if observed.unread else {}),
    }
    # ASCII only, as the other files of a snapshot.
    return f"{json.dumps(document, indent=2)}\n".encode()


def _topic_document(topic: TopicName, clients: ObservedTopic) -> dict[str, object]:
    subscriptions = [
        dict(_subscription_items(subscription)) for subscription in sorted(clients.subscriptions)
    ]
    captured = [
        {"version": version, "messages": count}
        for version, count in sorted(clients.messages.items())
    ]
    return {
        "topic": str(topic),
        "producers": [
            {
                key: text
                for key, text in (("name", producer.name), ("client", producer.client))
                if text
            }
            for producer in sorted(clients.producers)
        ],
        "subscriptions": subscriptions,
        **({"leftOut": clients.left_out} if clients.left_out else {}),
        **({"captured": captured} if captured else {}),
    }


def _subscription_items(subscription: ObservedSubscription) -> Iterator[tuple[str, object]]:
    yield "name", subscription.name
    if subscription.type:
        yield "type", subscription.type
    if not subscription.is_durable:
        yield "durable", False
    yield "clients", sorted(subscription.clients)
    if subscription.backlog:
        yield "backlogAtLeast", subscription.backlog


def require_clients(registry: Registry) -> ClientSource:
    """The registry as one whose topics have clients; raises UsageError for another one."""
    if not isinstance(registry, ClientSource):
        raise UsageError(
            f"registry '{registry.name}' has no clients to observe",
            hint="--clients is for a cluster; --registry names one",
        )
    return registry


def unread_notes(observed: ObservedClients) -> Iterator[str]:
    """That the clients of some topics are not known, with the first reason."""
    if observed.unread:
        topic, reason = min(observed.unread.items())
        number = len(observed.unread) - 1
        others = f" and {number} more topic{'' if number == 1 else 's'}" if number else ""
        yield f"the clients of {topic}{others} are not known: {reason}"


def unread_limits(observed: ObservedClients) -> Iterator[str]:
    """The same as whole sentences, for a report that goes on without these clients."""
    return (f"{note[0].upper()}{note[1:]}." for note in unread_notes(observed))


def recorded_clients_file(tree: FileTree, registry: str) -> tuple[str, ...]:
    """The path of the file where there is one."""
    path = clients_path(registry)
    return (path,) if path in tree.paths() else ()
