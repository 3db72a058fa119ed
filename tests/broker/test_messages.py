"""The producer of several schemas on real brokers: refusals, partitions, lines, deduplication."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any, Final

import pytest

from gitops.messaging.client import AUTO_PRODUCE, MessagingClient
from gitops.messaging.connection_settings import ConnectionSettings
from gitops.messaging.errors import BrokerRefusedError, InvalidValueError
from gitops.messaging.producer import Producer
from gitops.messaging.routing import java_string_hash
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.values.schema import ValueSchema
from gitops.messaging.values.table import value_schema
from gitops.model.names import NamespaceName
from gitops.model.schema import SchemaInfo, SchemaType
from tests.support.admin_rest import admin_request
from tests.support.message_schemas import avro
from tests.support.pulsar_broker import (
    BrokerSettings,
    BrokerUnavailableError,
    RunningBroker,
    pulsar_broker,
)
from tests.support.topic_reader import read_topic

pytestmark = pytest.mark.broker

FIRST, SECOND, THIRD = avro(), avro("note"), avro("note", "more")
REFUSED: Final = value_schema(SchemaInfo(type=SchemaType.INT32))
AUTO: Final = ProducerSettings(multi_schema="auto")


@pytest.fixture
def topic(pulsar: RunningBroker, pulsar_namespace: NamespaceName) -> str:
    """A topic that nobody else uses."""
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    return f"persistent://{pulsar_namespace}/t-{uuid.uuid4().hex[:8]}"


async def enqueue(producer: Producer, schemas: list[ValueSchema]) -> list[Any]:
    """Send one message with each schema, whose value is its number; answers how they ended."""
    receipts = []
    for number, schema in enumerate(schemas):
        value = number if schema is REFUSED else {"id": str(number)}
        receipts.append(await producer.new_message(schema).value(value).enqueue())
    return await asyncio.gather(*receipts, return_exceptions=True)


def versions_and_ids(service_url: str, topic: str) -> list[tuple[int, str]]:
    found = read_topic(service_url, topic)
    return [(each.version, each.data[1 : 1 + each.data[0] // 2].decode()) for each in found]


def test_a_refused_schema_fails_alone_with_the_brokers_reason(
    pulsar: RunningBroker, topic: str
) -> None:
    async def main() -> list[Any]:
        async with MessagingClient(pulsar.service_url) as client:
            producer = await client.producer(topic, FIRST, AUTO)
            return await enqueue(producer, [FIRST, REFUSED, SECOND, REFUSED, FIRST])

    found = asyncio.run(main())
    refusals = [each for each in found if isinstance(each, BrokerRefusedError)]
    assert [each.error for each in refusals] == ["IncompatibleSchema"] * 2
    assert "new schema type INT32" in refusals[0].message
    assert versions_and_ids(pulsar.service_url, topic) == [(0, "0"), (1, "2"), (0, "4")]


def test_the_way_of_old_brokers_gives_the_same_versions(pulsar: RunningBroker, topic: str) -> None:
    async def main() -> list[Any]:
        settings = ConnectionSettings(protocol_version=14)
        async with MessagingClient(pulsar.service_url, settings) as client:
            producer = await client.producer(topic, FIRST, AUTO)
            return await enqueue(producer, [FIRST, SECOND, REFUSED, FIRST, SECOND])

    found = asyncio.run(main())
    assert isinstance(found[2], BrokerRefusedError)
    assert found[2].error == "IncompatibleSchema"
    assert versions_and_ids(pulsar.service_url, topic) == [
        (0, "0"), (1, "1"), (0, "3"), (1, "4")
    ]  # fmt: skip


def test_keys_are_where_java_puts_them(pulsar: RunningBroker, topic: str) -> None:
    count = 3
    path = topic.replace("persistent://", "persistent/")
    admin_request("PUT", f"{pulsar.admin_url}/admin/v2/{path}/partitions", count)

    async def main() -> None:
        async with MessagingClient(pulsar.service_url) as client:
            producer = await client.producer(topic, FIRST, AUTO)
            for number in range(30):
                message = producer.new_message([FIRST, SECOND][number % 2])
                await message.value({"id": "a"}).key(f"é{number}").enqueue()

    asyncio.run(main())
    for partition in range(count):
        keys = [one.key for one in read_topic(pulsar.service_url, f"{topic}-partition-{partition}")]
        wanted = [f"é{n}" for n in range(30) if java_string_hash(f"é{n}") % count == partition]
        assert keys == wanted


def test_auto_produce_takes_the_topics_own_schema(pulsar: RunningBroker, topic: str) -> None:
    async def main() -> None:
        async with MessagingClient(pulsar.service_url) as client:
            await enqueue(await client.producer(topic, FIRST, AUTO), [FIRST, SECOND])
            producer = await client.producer(topic, AUTO_PRODUCE)
            await producer.new_message().value(SECOND.encode({"id": "2"})).send()
            with pytest.raises(InvalidValueError, match="AVRO"):
                await producer.new_message().value(b"\xff").send()

    asyncio.run(main())
    assert versions_and_ids(pulsar.service_url, topic)[-1] == (1, "2")


def test_a_named_producer_goes_on_and_repeats_nothing(
    pulsar: RunningBroker, topic: str, pulsar_namespace: NamespaceName
) -> None:
    url = f"{pulsar.admin_url}/admin/v2/namespaces/{pulsar_namespace}/deduplication"
    admin_request("POST", url, json.loads("true"))
    settings = ProducerSettings(name="mine", multi_schema="auto")

    async def send(numbers: range) -> tuple[int, list[int]]:
        async with MessagingClient(pulsar.service_url) as client:
            producer = await client.producer(topic, FIRST, settings)
            last, receipts = producer.last_sequence_id, []
            for number in numbers:
                message = producer.new_message([FIRST, SECOND][number % 2])
                message.value({"id": str(number)}).sequence_id(number)
                receipts.append(await message.enqueue())
            return last, [receipt.ledger_id for receipt in await asyncio.gather(*receipts)]

    assert asyncio.run(send(range(5)))[0] == -1
    last, ledgers = asyncio.run(send(range(3, 8)))
    assert last == 4
    assert ledgers[:2] == [-1, -1]
    assert -1 not in ledgers[2:]
    found = versions_and_ids(pulsar.service_url, topic)
    assert found == [(number % 2, str(number)) for number in range(8)]


def test_a_name_that_is_taken_is_refused(pulsar: RunningBroker, topic: str) -> None:
    async def main() -> None:
        async with MessagingClient(pulsar.service_url) as client:
            await client.producer(topic, FIRST, ProducerSettings(name="mine"))
            with pytest.raises(BrokerRefusedError, match="ProducerBusy"):
                await client.producer(topic, FIRST, ProducerSettings(name="mine"))

    asyncio.run(main())


def test_enforced_validation_refuses_messages_without_a_schema(
    pulsar: RunningBroker, topic: str, pulsar_namespace: NamespaceName
) -> None:
    url = f"{pulsar.admin_url}/admin/v2/namespaces/{pulsar_namespace}/schemaValidationEnforced"
    admin_request("POST", url, json.loads("true"))
    no_schema = value_schema(SchemaInfo(type=SchemaType.BYTES))

    async def main() -> None:
        async with MessagingClient(pulsar.service_url) as client:
            producer = await client.producer(topic, FIRST, AUTO)
            with pytest.raises(BrokerRefusedError, match="IncompatibleSchema"):
                await producer.new_message(no_schema).value(b"a").send()
            await producer.new_message().value({"id": "0"}).send()

    asyncio.run(main())
    assert versions_and_ids(pulsar.service_url, topic) == [(0, "0")]


@pytest.mark.parametrize("release", ["3.0.7", "4.2.4", "5.0.1"])
def test_brokers_of_other_lines(release: str) -> None:
    topic = "persistent://public/default/lines"
    wanted = [FIRST, SECOND, THIRD] * 4

    async def main(service_url: str) -> list[Any]:
        settings = ProducerSettings(multi_schema="enabled", compression="ZSTD")
        async with MessagingClient(service_url) as client:
            return await enqueue(await client.producer(topic, FIRST, settings), wanted)

    try:
        with pulsar_broker(BrokerSettings(release=release)) as running:
            asyncio.run(main(running.service_url))
            found = versions_and_ids(running.service_url, topic)
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker {release}: {reason}")
    assert found == [(number % 3, str(number)) for number in range(len(wanted))]
