"""Whatever a server sends: a clear error within the deadlines, and no memory that grows."""

from __future__ import annotations

import asyncio
import logging
import os
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import pytest

from gitops.messaging import reader_session
from gitops.messaging.capture_columns import to_block
from gitops.messaging.client import MessagingClient
from gitops.messaging.cluster import Cluster
from gitops.messaging.connection_settings import ConnectionSettings, Deadlines
from gitops.messaging.entries import EntryReader
from gitops.messaging.reader_session import ReaderSession
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.wire.frames import LARGEST_FRAME, FrameBuffer
from gitops.model.errors import GitopsError
from tests.support.fake_pulsar import Kind, fake_broker, nothing
from tests.support.fake_topic import FakeTopic
from tests.support.hostile_pulsar import (
    KINDS,
    hostile_answer,
    hostile_entries,
    hostile_lookups,
    hostile_server,
)
from tests.support.message_schemas import avro

SEEDS: Final = int(os.environ.get("HOSTILE_SERVERS", "600"))
"""HOSTILE_SERVERS=20000 before a release."""
PARTS: Final = 4
TOPIC: Final = "persistent://a/b/c"
AT_ONCE: Final = 40
DEADLINES: Final = Deadlines(connect=0.3, request=0.3)
MOST_BYTES: Final = 32 * 1024 * 1024
LONGEST: Final = 60
"""Seconds within which each must have ended, on a machine that is busy: the deadlines are 0.3 s."""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_hostile_server_makes_a_clear_error(
    part: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        turns = asyncio.Semaphore(AT_ONCE)
        seeds = range(part, SEEDS, PARTS)
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


async def look_up(cluster: Cluster) -> None:
    await cluster.connect(TOPIC)


async def read_to_the_end(cluster: Cluster) -> None:
    """As a capture reads, with its columns."""
    session = ReaderSession(cluster, TOPIC, None, EntryReader(None))
    try:
        await session.open()
        while await session.has_more():
            if entries := await session.read(1):
                to_block(entries, TOPIC, -1)
    finally:
        await session.close()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("use", [look_up, read_to_the_end])
def test_a_hostile_broker_makes_a_clear_error(
    use: Callable[[Cluster], Awaitable[None]],
    part: int,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A third is hostile from the first byte on, the others in the answer that counts."""
    for name, seconds in {"_WAIT": 0.1, "_MOMENT": 0.005, "_PATIENCE": 0.3}.items():
        monkeypatch.setattr(reader_session, name, seconds)

    async def main() -> Counter[bool]:
        turns = asyncio.Semaphore(AT_ONCE)
        return Counter(await asyncio.gather(*(attempt_to(use, s, turns) for s in seeds)))

    seeds = range(part, SEEDS, PARTS)
    with caplog.at_level(logging.WARNING, logger="asyncio"):
        ended = asyncio.run(main())
    assert {record.getMessage() for record in caplog.records} == set()
    assert ended[True] > 0.9 * len(seeds)  # some lookups lead to a broker after all


async def attempt_to(
    use: Callable[[Cluster], Awaitable[None]], seed: int, turns: asyncio.Semaphore
) -> bool:
    """Whether it ended with one of our errors; any other one is raised."""
    async with turns, hostile_broker(use is look_up, seed) as url, asyncio.timeout(LONGEST):
        cluster = Cluster(url, ConnectionSettings(deadlines=DEADLINES))
        try:
            await use(cluster)
        except GitopsError as error:
            return bool(error.what)
        finally:
            await cluster.close()
        return False


@asynccontextmanager
async def hostile_broker(is_lookup: bool, seed: int) -> AsyncIterator[str]:  # noqa: FBT001 - a test's
    """The service URL of one that is hostile at once, in any bytes, or in well-formed ones."""
    if seed % 3 == 0:
        async with hostile_server(seed) as url:
            yield url
        return
    kind = Kind.LOOKUP if is_lookup else Kind.FLOW
    well_formed = hostile_lookups if is_lookup else hostile_entries
    async with fake_broker() as broker:
        FakeTopic(count=9).serve(broker)
        broker.replies[Kind.GET_LAST_MESSAGE_ID] = nothing
        broker.replies[kind] = well_formed(seed) if seed % 3 == 1 else await hostile_answer(seed)
        yield broker.url


@pytest.mark.slow
@pytest.mark.parametrize("use", [look_up, read_to_the_end])
def test_memory_is_bounded_whatever_a_server_sends(
    use: Callable[[Cluster], Awaitable[None]],
) -> None:
    """One after another, some of each kind; what the server itself holds counts, too."""
    tracemalloc.start()
    try:
        for seed in range(4 * len(KINDS)):
            asyncio.run(attempt_to(use, seed, asyncio.Semaphore()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES


def test_a_buffer_holds_no_more_than_a_frame() -> None:
    buffer = FrameBuffer()
    head = LARGEST_FRAME.to_bytes(4, "big")
    for _ in range(LARGEST_FRAME // 65536):
        assert list(buffer.feed(head + bytes(65532) if not buffer.size else bytes(65536))) == []
    assert buffer.size <= LARGEST_FRAME
