"""Cut connections and a broker that restarts: with deduplication nothing is lost or twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from gitops.messaging.client import MessagingClient
from gitops.messaging.connection_settings import ConnectionSettings, Deadlines
from gitops.messaging.settings import ProducerSettings
from gitops.model.names import NamespaceName
from tests.support.admin_rest import admin_request
from tests.support.cutting_proxy import CuttingProxy, cutting_proxy
from tests.support.message_schemas import avro
from tests.support.pulsar_broker import (
    BrokerSettings,
    BrokerUnavailableError,
    RunningBroker,
    pulsar_broker,
)
from tests.support.topic_reader import read_topic

pytestmark = pytest.mark.broker

SEEDS: Final = range(int(os.environ.get("MESSAGE_FAULT_SEEDS", "3")))
"""How many seeded runs: MESSAGE_FAULT_SEEDS=50 before a release."""
MESSAGES: Final = 400
SCHEMAS: Final = (avro(), avro("note"), avro("note", "more"))


@pytest.mark.parametrize("seed", SEEDS)
def test_cut_connections_lose_and_duplicate_nothing(
    seed: int, pulsar: RunningBroker, pulsar_namespace: NamespaceName
) -> None:
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    deduplicate(pulsar, pulsar_namespace)
    random_one = random.Random(seed)  # noqa: S311 - no secret

    def budget() -> int | None:
        return random_one.choice((700, 1500, 3000, 6000)) + random_one.randrange(400)

    async def main() -> int:
        async with cutting_proxy(pulsar.service_url, budget) as proxy:
            await send_numbers(proxy, f"{pulsar_namespace}/cut", seed)
            return proxy.cuts

    assert asyncio.run(main()) > 0
    assert numbers_of(pulsar.service_url, f"{pulsar_namespace}/cut") == list(range(MESSAGES))


def test_a_restart_of_the_broker_loses_and_duplicates_nothing(tmp_path: Path) -> None:
    namespace = NamespaceName("public", f"r{uuid.uuid4().hex[:8]}")
    topic = f"{namespace}/restart"
    settings = BrokerSettings(data=tmp_path)

    async def main() -> None:
        with ExitStack() as running:
            broker = running.enter_context(pulsar_broker(settings))
            admin_request("PUT", f"{broker.admin_url}/admin/v2/namespaces/{namespace}", {})
            deduplicate(broker, namespace)
            async with cutting_proxy(broker.service_url, lambda: None) as proxy:
                half = asyncio.Event()
                sending = asyncio.create_task(send_numbers(proxy, topic, 0, half=half))
                await half.wait()
                await asyncio.to_thread(running.close)
                again = pulsar_broker(settings)
                broker = await asyncio.to_thread(running.enter_context, again)
                proxy.upstream = broker.service_url
                await sending
            assert await asyncio.to_thread(numbers_of, broker.service_url, topic) == list(
                range(MESSAGES)
            )

    try:
        asyncio.run(main())
    except BrokerUnavailableError as reason:
        pytest.skip(str(reason))


def deduplicate(broker: RunningBroker, namespace: NamespaceName) -> None:
    url = f"{broker.admin_url}/admin/v2/namespaces/{namespace}/deduplication"
    admin_request("POST", url, json.loads("true"))


async def send_numbers(
    proxy: CuttingProxy, topic: str, seed: int, *, half: asyncio.Event | None = None
) -> None:
    """Send 0, 1, … with schemas that alternate at random, whatever happens to connections.

    `half` is set once half of them are handed over.
    """
    random_one = random.Random(seed)  # noqa: S311 - no secret
    deadlines = Deadlines(request=60, connect=5)
    settings = ProducerSettings(
        name="numbers", multi_schema="auto", send_seconds=500, batch_messages=20
    )
    async with MessagingClient(proxy.url, ConnectionSettings(deadlines=deadlines)) as client:
        producer = await client.producer(topic, SCHEMAS[0], settings)
        receipts = []
        for number in range(MESSAGES):
            message = producer.new_message(random_one.choice(SCHEMAS)).value({"id": str(number)})
            receipts.append(await message.enqueue())
            if random_one.random() < 0.2:
                await asyncio.sleep(0)
            if half is not None and number == MESSAGES // 2:
                half.set()
        await asyncio.gather(*receipts)
        proxy.budget = lambda: None


def numbers_of(service_url: str, topic: str) -> list[int]:
    """The ids in the Avro records of a topic."""
    found = [message.data for message in read_topic(service_url, topic)]
    return [int(data[1 : 1 + data[0] // 2]) for data in found]
