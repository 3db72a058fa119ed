"""Names of topics, settings, and what a client closes."""

from __future__ import annotations

import asyncio

import pytest

from gitops.messaging.client import MessagingClient, full_name
from gitops.messaging.settings import ProducerSettings
from gitops.model.errors import InvalidNameError, UsageError
from tests.support.fake_pulsar import Kind, fake_broker


@pytest.mark.parametrize(
    ("given", "full"),
    [
        ("orders", "persistent://public/default/orders"),
        ("a/b/c", "persistent://a/b/c"),
        ("a/b/c-partition-3", "persistent://a/b/c-partition-3"),
        ("non-persistent://a/b/c", "non-persistent://a/b/c"),
    ],
)
def test_full_names(given: str, full: str) -> None:
    assert full_name(given) == full


def test_what_is_no_topic() -> None:
    with pytest.raises(InvalidNameError):
        full_name("a/b")


def test_settings_that_allow_nothing() -> None:
    with pytest.raises(UsageError, match="batch_messages is 0"):
        ProducerSettings(batch_messages=0)


def test_a_client_closes_its_producers() -> None:
    async def main() -> None:
        async with fake_broker() as broker:
            async with MessagingClient(broker.url) as client:
                for topic in ("a", "b"):
                    producer = await client.producer(topic)
                    await producer.new_message().value(b"x").send()
            assert broker.count(Kind.CLOSE_PRODUCER) == 2
            assert broker.count(Kind.CONNECT) == 1

    asyncio.run(main())
