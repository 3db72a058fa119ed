"""What reports say of topics that brokers may delete with their schemas."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from gitops.changes.short_lived_topics import short_lived_limits, short_lived_topics
from gitops.model.clients import ObservedClients, ShortLivedTopics
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings
from gitops.ports import Progress, no_progress
from tests.support.fake_registry import FakeRegistry

_TOPICS = tuple(TopicName.parse(f"shop/orders/t{number}") for number in range(7))


class _Cluster(FakeRegistry):
    """A registry with clients, of which some topics may be deleted."""

    short_lived = ShortLivedTopics()

    def observe_clients(
        self, topics: Collection[TopicName], progress: Progress = no_progress
    ) -> ObservedClients:
        raise NotImplementedError

    def find_short_lived_topics(self, topics: Collection[TopicName]) -> ShortLivedTopics:
        assert [*topics] == [*_TOPICS]
        return self.short_lived


@pytest.mark.parametrize(("deletes", "verb"), [(True, "delete"), (None, "may delete")])
def test_topics_are_named_with_what_keeps_them(deletes: bool | None, verb: str) -> None:  # noqa: FBT001
    cluster = _Cluster(broker=BrokerSettings(deletes_inactive_topics=deletes))
    cluster.short_lived = ShortLivedTopics(topics=_TOPICS)

    (limit,) = short_lived_limits(cluster, _TOPICS)

    assert limit.startswith(f"Brokers {verb} 7 topics with the schemas once nobody is connected")
    assert "shop/orders/t5 and shop/orders/t6. To keep them, create the subscriptions" in limit
    assert short_lived_topics(cluster, _TOPICS) == _TOPICS


def test_what_is_not_known_is_reported() -> None:
    cluster = _Cluster()
    cluster.short_lived = ShortLivedTopics(unread={_TOPICS[0]: "the role may not do this"})

    assert short_lived_limits(cluster, _TOPICS) == (
        "Whether brokers may delete 1 topic with the schemas is unknown: the role may not do this.",
    )


def test_a_registry_without_clients_deletes_no_topic() -> None:
    assert short_lived_limits(FakeRegistry(), _TOPICS) == ()
    assert short_lived_topics(FakeRegistry(), _TOPICS) == ()
