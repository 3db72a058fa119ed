"""Whatever a server sends: a clear error within the deadlines, and no memory that grows."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

import pytest

from gitops.messaging.client import MessagingClient
from gitops.messaging.cluster import Cluster
from gitops.messaging.connection_settings import ConnectionSettings, Deadlines
from gitops.messaging.entries import EntryReader
from gitops.messaging.reader_session import ReaderSession
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.wire.frames import LARGEST_FRAME, FrameBuffer
from gitops.model.errors import GitopsError
from tests.support.hostile_pulsar import hostile_server
from tests.support.message_schemas import avro

SEEDS: Final = 2000
AT_ONCE: Final = 40
DEADLINES: Final = Deadlines(connect=0.3, request=0.3)
LONGEST: Final = 60
"""Seconds within which each must have ended, on a machine that is busy: the deadlines are 0.3 s."""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_every_hostile_server_makes_a_clear_error(
    part: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        turns = asyncio.Semaphore(AT_ONCE)
        seeds = range(part, SEEDS, 4)
        await asyncio.gather(*(attempt(seed, turns) for seed in seeds))

    with caplog.at_level(logging.WARNING, logger="asyncio"):
        asyncio.run(main())
    assert {record.getMessage() for record in caplog.records} == set()


async def attempt(seed: int, turns: asyncio.Semaphore) -> None:
    """Open a producer and send: it must fail with one of our errors, and close."""
    async with turns, hostile_server(seed) as url, asyncio.timeout(LONGEST):
        client = MessagingClient(url, ConnectionSettings(deadlines=DEADLINES))
        settings = ProducerSettings(multi_schema="auto", send_seconds=0.3)
        async with client:
            with pytest.raises(GitopsError) as caught:
                await send_one(client, settings)
        assert caught.value.what, seed


async def send_one(client: MessagingClient, settings: ProducerSettings) -> None:
    producer = await client.producer("t", avro(), settings)
    await producer.new_message(avro("note")).value({"id": "a"}).send()


@pytest.mark.slow
def test_a_reader_of_a_hostile_server_ends_with_a_clear_error() -> None:
    async def main() -> None:
        turns = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(attempt_to_read(seed, turns) for seed in range(0, SEEDS, 4)))

    asyncio.run(main())


async def attempt_to_read(seed: int, turns: asyncio.Semaphore) -> None:
    async with turns, hostile_server(seed) as url, asyncio.timeout(LONGEST):
        cluster = Cluster(url, ConnectionSettings(deadlines=DEADLINES))
        session = ReaderSession(cluster, "persistent://a/b/c", None, EntryReader(None))
        try:
            with pytest.raises(GitopsError) as caught:
                await read_to_the_end(session)
        finally:
            await session.close()
            await cluster.close()
        assert caught.value.what, seed


async def read_to_the_end(session: ReaderSession) -> None:
    await session.open()
    while await session.has_more():
        await session.read(1)


def test_a_buffer_holds_no_more_than_a_frame() -> None:
    buffer = FrameBuffer()
    head = LARGEST_FRAME.to_bytes(4, "big")
    for _ in range(LARGEST_FRAME // 65536):
        assert list(buffer.feed(head + bytes(65532) if not buffer.size else bytes(65536))) == []
    assert buffer.size <= LARGEST_FRAME
