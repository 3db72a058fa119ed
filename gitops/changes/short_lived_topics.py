"""Topics that brokers may delete with their schemas, before a client has ever connected."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from gitops.model.names import TopicName
from gitops.model.rollout_reason import name_list
from gitops.ports import ClientSource, Registry

_LISTED: Final = 5
_HINT: Final = (
    "create the subscriptions of the clients that come later (pulsar-admin topics "
    "create-subscription), use partitioned topics, or keep inactive topics: pulsar-admin "
    "namespaces set-inactive-topic-policies"
)


def short_lived_topics(registry: Registry, topics: Collection[TopicName]) -> tuple[TopicName, ...]:
    """The topics that brokers may delete, as far as that is known."""
    if not isinstance(registry, ClientSource):
        return ()
    return registry.find_short_lived_topics(topics).topics


def short_lived_limits(registry: Registry, topics: Collection[TopicName]) -> tuple[str, ...]:
    """What a report says of topics that brokers may delete soon, and of those that it cannot know.

    Nothing for a registry without clients, or whose brokers delete no inactive topics. A broker
    deletes an inactive topic with its schemas a minute after it was loaded (Pulsar 4.0.7).
    """
    if not isinstance(registry, ClientSource):
        return ()
    short_lived = registry.find_short_lived_topics(topics)
    limits = []
    if short_lived.topics:
        names = name_list([*map(str, short_lived.topics)], _LISTED)
        verb = "delete" if registry.broker.deletes_inactive_topics else "may delete"
        limits.append(
            f"Brokers {verb} {_count(len(short_lived.topics))} with the schemas once nobody is "
            "connected (brokerDeleteInactiveTopicsEnabled), since there are no partitions and no "
            f"subscription: {names}. To keep them, {_HINT}."
        )
    if short_lived.unread:
        reason = next(iter(short_lived.unread.values()))
        limits.append(
            f"Whether brokers may delete {_count(len(short_lived.unread))} with the schemas is "
            f"unknown: {reason}."
        )
    return tuple(limits)


def _count(number: int) -> str:
    return f"{number:,} topic{'' if number == 1 else 's'}"
