"""Which broker has a topic: redirects, proxies, several service addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gitops.messaging.cluster import Cluster
from gitops.messaging.connection_settings import ConnectionSettings, Deadlines
from gitops.messaging.errors import BrokerRefusedError, ConnectionFailedError, MessagingError
from gitops.model.errors import UsageError
from tests.support.fake_pulsar import (
    FakeBroker,
    Kind,
    fake_broker,
    look_up,
)

TOPIC = "persistent://public/default/t"


def run(test: Callable[[FakeBroker, Cluster], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(60), fake_broker() as broker:
            cluster = Cluster(broker.url, ConnectionSettings(deadlines=Deadlines(request=10)))
            try:
                await test(broker, cluster)
            finally:
                await cluster.close()

    asyncio.run(main())


def test_a_redirect_leads_to_another_broker() -> None:
    async def test(broker: FakeBroker, cluster: Cluster) -> None:
        async with fake_broker() as other:
            look_up(broker, "Redirect", other.url, authoritative=True)
            connection = await cluster.connect(TOPIC)
            assert connection.where == other.url
            (command,) = other.sent(Kind.LOOKUP)
            assert command.authoritative

    run(test)


def test_redirects_have_an_end() -> None:
    async def test(broker: FakeBroker, cluster: Cluster) -> None:
        look_up(broker, "Redirect")
        with pytest.raises(MessagingError, match="more than 20 times"):
            await cluster.connect(TOPIC)
        assert broker.count(Kind.LOOKUP) == 21

    run(test)


def test_a_proxy_leads_to_the_broker() -> None:
    async def test(broker: FakeBroker, cluster: Cluster) -> None:
        look_up(broker, "Connect", "pulsar://hidden:6650", proxied=True)
        connection = await cluster.connect(TOPIC)
        assert connection.where == broker.url
        first, second = broker.sent(Kind.CONNECT)
        assert (first.proxy_to_broker_url, second.proxy_to_broker_url) == ("", "hidden:6650")

    run(test)


def test_an_assigned_broker_is_connected_without_a_lookup() -> None:
    async def test(broker: FakeBroker, cluster: Cluster) -> None:
        async with fake_broker() as other:
            connection = await cluster.connect(TOPIC, other.url)
            assert connection.where == other.url
        assert broker.count(Kind.LOOKUP) == 0

    run(test)


def test_a_refused_lookup_is_the_brokers_reason() -> None:
    async def test(broker: FakeBroker, cluster: Cluster) -> None:
        look_up(broker, "Failed")
        with pytest.raises(BrokerRefusedError, match="ServiceNotReady: not yet") as caught:
            await cluster.connect(TOPIC)
        assert caught.value.is_retriable
        assert caught.value.where == TOPIC

    run(test)


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("http://a:1", "no address of a broker"),
        ("pulsar://", "no address of a broker"),
        ("pulsar+ssl://a:6651", "which is TLS"),
    ],
)
def test_an_impossible_address_is_an_error(url: str, what: str) -> None:
    async def test(broker: FakeBroker, cluster: Cluster) -> None:
        look_up(broker, "Connect", url)
        with pytest.raises(MessagingError, match=what):
            await cluster.connect(TOPIC)

    run(test)


def test_connections_are_shared_and_made_again_once_they_end() -> None:
    async def test(broker: FakeBroker, cluster: Cluster) -> None:
        found = await asyncio.gather(*(cluster.connect(TOPIC) for _ in range(5)))
        assert len(set(found)) == 1
        found[0].close()
        assert await cluster.connect(TOPIC) is not found[0]
        assert broker.count(Kind.CONNECT) == 2

    run(test)


def test_the_first_address_that_answers_serves() -> None:
    async def test(broker: FakeBroker, _cluster: Cluster) -> None:
        async with fake_broker() as gone:
            dead = gone.url.removeprefix("pulsar://")
        alive = broker.url.removeprefix("pulsar://")
        cluster = Cluster(f"pulsar://{dead},{alive}", ConnectionSettings())
        assert await cluster.partitions(TOPIC) == 0
        await cluster.close()
        nobody = Cluster(f"pulsar://{dead}", ConnectionSettings())
        with pytest.raises(ConnectionFailedError):
            await nobody.partitions(TOPIC)
        await nobody.close()

    run(test)


def test_too_many_partitions_are_refused() -> None:
    async def test(broker: FakeBroker, cluster: Cluster) -> None:
        broker.partitions = 10_001
        with pytest.raises(MessagingError, match="10001 partitions"):
            await cluster.partitions(TOPIC)

    run(test)


def test_a_closed_cluster_connects_no_more() -> None:
    async def test(_broker: FakeBroker, cluster: Cluster) -> None:
        await cluster.close()
        with pytest.raises(UsageError, match="the client is closed"):
            await cluster.connect(TOPIC)

    run(test)
