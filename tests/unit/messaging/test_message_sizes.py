"""How large a message may be, with its metadata: the broker cuts the connection of a larger one."""

from __future__ import annotations

import asyncio

import pytest

from gitops.messaging.errors import InvalidValueError
from tests.support.fake_pulsar import FakeBroker, Kind, opened_producer, run_with_broker


def test_a_message_above_the_brokers_bound_fails_alone() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.max_message_size = 1000
        async with opened_producer(broker) as producer:
            with pytest.raises(InvalidValueError, match="the broker accepts 1000"):
                await producer.new_message().value({"id": "a" * 2000}).send()
            await producer.new_message().value({"id": "a"}).send()

    run_with_broker(test)


def test_the_metadata_of_a_message_count() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.max_message_size = 1000
        async with opened_producer(broker) as producer:
            large = producer.new_message().value({"id": "a"}).property("p", "y" * 990)
            with pytest.raises(InvalidValueError, match=r"has 1\d\d\d bytes with its metadata"):
                await large.send()
            await producer.new_message().value({"id": "a"}).send()
        assert broker.count(Kind.SEND) == 1

    run_with_broker(test)


def test_messages_that_fit_one_by_one_go_in_several_batches() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.max_message_size = 1000
        async with opened_producer(broker) as producer:
            messages = [producer.new_message().value({"id": "a"}) for _ in range(20)]
            receipts = [await one.property("p", "y" * 100).enqueue() for one in messages]
            await asyncio.gather(*receipts)
        assert 3 <= broker.count(Kind.SEND) <= 5

    run_with_broker(test)
