"""Who is connected to topics of a cluster, from the statistics of its brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gitops.model.clients import (
    ObservedClients,
    ObservedProducer,
    ObservedSubscription,
    ShortLivedTopics,
)
from gitops.model.names import TopicName
from gitops.ports import ClientSource
from tests.support.answering_cluster import Cluster
from tests.support.pulsar_client import open_test_registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_httpserver import HTTPServer

pytestmark = pytest.mark.slow

_TOPIC = TopicName.parse("shop/orders/a b")
_PATH = "persistent/shop/orders/a%20b"
_KEEPS = {"brokers/configuration/runtime": {"brokerDeleteInactiveTopicsEnabled": "false"}}
_LIST = "persistent/shop/orders"
_LISTED = {
    _LIST: [f"persistent://{_TOPIC}"],
    f"{_LIST}/partitioned": [],
    "non-persistent/shop/orders": [],
    "non-persistent/shop/orders/partitioned": [],
}
_STATS = f"{_PATH}/stats"
_PARTITIONED = f"{_PATH}/partitioned-stats?perPartition=true"


def _observe(server: HTTPServer, answers: Mapping[str, object]) -> ObservedClients:
    registry = open_test_registry(Cluster(server, answers).url)
    assert isinstance(registry, ClientSource)
    return registry.observe_clients([_TOPIC])


def _subscription(*clients: str, **more: object) -> dict[str, object]:
    return {"type": "Shared", "consumers": [{"clientVersion": name} for name in clients], **more}


def test_names_that_nobody_chose_are_left_out(httpserver: HTTPServer) -> None:
    stats = {
        "msgRateIn": 17.3,
        "publishers": [
            {"producerName": "writer", "clientVersion": "Pulsar-Java-v4.0.7", "address": "/10.1"},
            {"producerName": "standalone-0-12", "clientVersion": "Pulsar-CPP-v3.7.2"},
            {"producerName": "standalone-0-13", "clientVersion": "Pulsar-CPP-v3.7.2"},
        ],
        "subscriptions": {
            "billing": _subscription("b", "a", "b", msgBacklog=1234),
            "reader-0123456789": _subscription("c", isDurable=False, durable=False),
            "reader-9876543210": _subscription("d", isDurable=False, durable=False),
            "gone": {"type": None, "consumers": [], "msgBacklog": 3},
            "__compaction": {"consumers": []},
        },
    }

    found = _observe(httpserver, {**_KEEPS, _STATS: stats}).topics[_TOPIC]

    assert found.producers == (
        ObservedProducer(name="", client="Pulsar-CPP-v3.7.2"),
        ObservedProducer(name="writer", client="Pulsar-Java-v4.0.7"),
    )
    assert found.subscriptions == (
        ObservedSubscription(name="billing", type="Shared", clients=("a", "b"), backlog=1000),
        ObservedSubscription(name="gone", backlog=1),
        ObservedSubscription(name="reader-*", type="Shared", is_durable=False, clients=("c", "d")),
    )


def test_partitions_are_read_one_by_one(httpserver: HTTPServer) -> None:
    """The sum of all partitions has no clientVersion."""
    part = {
        "publishers": [{"producerName": "writer", "clientVersion": "v"}],
        "subscriptions": {"billing": _subscription("a", msgBacklog=600)},
    }
    stats = {
        "publishers": [{"producerId": 0}],
        "subscriptions": {"billing": _subscription()},
        "partitions": {"p-0": part, "p-1": part},
    }

    found = _observe(httpserver, {**_KEEPS, _PARTITIONED: stats}).topics[_TOPIC]

    assert found.producers == (ObservedProducer(name="writer", client="v"),)
    (subscription,) = found.subscriptions
    assert (subscription.clients, subscription.backlog) == (("a",), 1000)


def test_a_topic_that_nobody_made_has_no_clients(httpserver: HTTPServer) -> None:
    found = _observe(httpserver, _KEEPS)

    assert not found.unread
    assert not found.topics[_TOPIC].is_used


@pytest.mark.parametrize("answer", [401, 403, 500, [], {"publishers": 3}])
def test_what_cannot_be_read_is_unread(httpserver: HTTPServer, answer: object) -> None:
    found = _observe(httpserver, {**_KEEPS, _STATS: answer})

    assert not found.topics
    assert found.unread.keys() == {_TOPIC}
    assert ("may not do this" in found.unread[_TOPIC]) is (answer == 403)


@pytest.mark.parametrize(
    ("info", "is_read"),
    [
        ({"cursors": {}}, False),
        ({"cursors": {"__compaction": {}}}, False),
        ({"cursors": {"billing": {}}}, True),
        ({"partitions": {"p-0": {"cursors": {"a": {}}}, "p-1": {"cursors": {}}}}, False),
        ({"partitions": {"p-0": {"cursors": {"a": {}}}, "p-1": {"cursors": {"a": {}}}}}, True),
        (500, False),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"brokerDeleteInactiveTopicsEnabled": "true"}])
def test_no_topic_is_loaded_that_a_broker_may_delete(
    httpserver: HTTPServer, settings: dict[str, str], info: object, *, is_read: bool
) -> None:
    """Reading statistics loads a topic, and a broker deletes one that nobody uses."""
    answers = {
        "brokers/configuration/runtime": settings or 403,
        f"{_PATH}/internal-info": info,
        _STATS: {"publishers": [], "subscriptions": {"billing": _subscription("a")}},
    }

    found = _observe(httpserver, answers)

    assert (_TOPIC in found.topics, _TOPIC in found.unread) == (is_read, not is_read)


@pytest.mark.parametrize(
    ("topic", "unread"),
    [("persistent://shop/orders/gone", 0), ("non-persistent://shop/orders/gone", 1)],
)
def test_a_topic_without_ledgers_is_no_topic_unless_it_never_has_any(
    httpserver: HTTPServer, topic: str, unread: int
) -> None:
    """A broker has no ledgers of a topic that is not persistent, which may have clients."""
    registry = open_test_registry(Cluster(httpserver, {}).url)
    assert isinstance(registry, ClientSource)

    found = registry.observe_clients([TopicName.parse(topic)])

    assert (len(found.topics), len(found.unread)) == (1 - unread, unread)
    assert not any(seen.is_used for seen in found.topics.values())


@pytest.mark.parametrize(
    ("info", "topics", "unread"),
    [
        ({"cursors": {}}, (_TOPIC,), ()),
        ({"cursors": {"__compaction": {}}}, (_TOPIC,), ()),
        ({"cursors": {"billing": {}}}, (), ()),
        ({"partitions": {"p-0": {"cursors": {}}}}, (), ()),
        (404, (), ()),
        (403, (), (_TOPIC,)),
        ([], (), (_TOPIC,)),
    ],
)
def test_a_topic_without_partitions_and_subscriptions_may_be_deleted(
    httpserver: HTTPServer, info: object, topics: object, unread: tuple[TopicName, ...]
) -> None:
    answers = {"brokers/configuration/runtime": 403, f"{_PATH}/internal-info": info, **_LISTED}
    registry = open_test_registry(Cluster(httpserver, answers).url)
    assert isinstance(registry, ClientSource)

    found = registry.find_short_lived_topics([_TOPIC])

    assert (found.topics, (*found.unread,)) == (topics, unread)


def test_no_topic_is_short_lived_where_brokers_keep_inactive_ones(httpserver: HTTPServer) -> None:
    answers = {**_KEEPS, f"{_PATH}/internal-info": {"cursors": {}}, **_LISTED}
    registry = open_test_registry(Cluster(httpserver, answers).url)
    assert isinstance(registry, ClientSource)

    assert registry.find_short_lived_topics([_TOPIC]) == ShortLivedTopics()


@pytest.mark.parametrize(("status", "is_known"), [(200, True), (403, False)])
def test_a_topic_that_nobody_created_is_not_deleted(
    httpserver: HTTPServer, status: int, *, is_known: bool
) -> None:
    """A broker answers 500 to a request for its ledgers (Pulsar 4.0.7)."""
    listed = {**_LISTED, _LIST: [] if is_known else status}
    registry = open_test_registry(Cluster(httpserver, listed).url)
    assert isinstance(registry, ClientSource)

    found = registry.find_short_lived_topics([_TOPIC])

    assert (found.topics, not found.unread) == ((), is_known)


def test_hostile_statistics_are_bounded(httpserver: HTTPServer) -> None:
    stats = {
        "publishers": [{"producerName": "n" * 300, "clientVersion": "c"}],
        "subscriptions": {f"s{number}": _subscription("v" * 9000) for number in range(1500)},
    }

    found = _observe(httpserver, {**_KEEPS, _STATS: stats}).topics[_TOPIC]

    assert (len(found.subscriptions), found.left_out) == (1000, 501)
    assert not found.producers
    assert {len(client) for each in found.subscriptions for client in each.clients} == {200}
