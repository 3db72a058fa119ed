"""A reader has each message once, whatever happens to connections."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from random import Random

import pytest

from gitops.messaging import reader_session
from gitops.messaging.capture_client import Position
from gitops.messaging.cluster import Cluster
from gitops.messaging.connection_settings import ConnectionSettings, Deadlines
from gitops.messaging.entries import Entry, EntryReader
from gitops.messaging.errors import BrokerRefusedError, ConnectionFailedError, MessagingError
from gitops.messaging.reader_session import ReaderSession
from tests.support.fake_pulsar import (
    FakeBroker,
    FakeConnection,
    Frame,
    Kind,
    Reply,
    fake_broker,
    look_up,
    nothing,
    refused,
    run_with_broker,
)
from tests.support.fake_topic import FakeTopic, batch_content, close_reader, message_frame


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_session, "delays", lambda: iter([0.001] * 1000))
    monkeypatch.setattr(reader_session, "_WAIT", 0.1)


@asynccontextmanager
async def opened(broker: FakeBroker, start: Position | None = None) -> AsyncIterator[ReaderSession]:
    deadlines = Deadlines(connect=20, request=20)
    cluster = Cluster(broker.url, ConnectionSettings(deadlines=deadlines))
    session = ReaderSession(cluster, "persistent://a/b/c", start, EntryReader(start))
    try:
        await session.open()
        yield session
    finally:
        await session.close()
        await cluster.close()


def payloads(entry: Entry) -> list[bytes]:
    places = zip(entry.middles, entry.ends, strict=True)
    return [entry.body[start:end] for start, end in places][entry.first :]


async def read_all(session: ReaderSession, most: int = 500) -> list[bytes]:
    found: list[bytes] = []
    while True:
        entries = await session.read(most)
        found += [payload for entry in entries for payload in payloads(entry)]
        if not entries and not await session.has_more():
            return found


def _cut(_broker: FakeBroker, connection: FakeConnection, _frame: Frame) -> list[bytes]:
    connection.cut()
    return []


def cuts_at(*entries: int) -> Callable[[int], Callable[[FakeConnection], None] | None]:
    """The connection is cut once in place of each of these entries."""
    left = set(entries)

    def happens(entry: int) -> Callable[[FakeConnection], None] | None:
        if entry not in left:
            return None
        left.remove(entry)
        return FakeConnection.cut

    return happens


def numbers(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


@pytest.mark.slow
def test_more_messages_than_the_permits_come_in_order() -> None:
    async def test(broker: FakeBroker) -> None:
        topic = FakeTopic(count=300, size=100)
        topic.serve(broker)
        async with opened(broker) as session:
            assert await read_all(session) == numbers(30_000)
        assert broker.count(Kind.FLOW) > 3
        assert broker.count(Kind.CLOSE_CONSUMER) == 1
        (command,) = broker.sent(Kind.SUBSCRIBE)
        assert not command.durable
        assert topic.started == [Position(1, -1, -1)]

    run_with_broker(test)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_cut_connections_lose_and_repeat_nothing(seed: int) -> None:
    one = Random(seed)  # noqa: S311 - the same each time
    cuts = one.sample(range(400), 5)

    async def test(broker: FakeBroker) -> None:
        topic = FakeTopic(count=400, size=25, happens=cuts_at(*cuts))
        topic.serve(broker)
        async with opened(broker) as session:
            assert await read_all(session, one.randrange(1, 900)) == numbers(10_000)
        assert len(topic.started) == 6

    run_with_broker(test)


@pytest.mark.slow
def test_a_reader_that_the_broker_closes_is_opened_where_the_topic_is_now() -> None:
    closed = [3]

    async def test(broker: FakeBroker) -> None:
        def happens(entry: int) -> Callable[[FakeConnection], None] | None:
            if entry not in closed:
                return None
            closed.remove(entry)
            return close_reader(0, broker.url)

        topic = FakeTopic(count=10, happens=happens)
        topic.serve(broker)
        async with opened(broker) as session:
            assert await read_all(session) == numbers(10)
        assert topic.started == [Position(1, -1, -1), Position(1, 2, -1)]
        assert broker.count(Kind.LOOKUP) == 1

    run_with_broker(test)


@pytest.mark.slow
def test_redirects_lead_to_the_broker_of_the_topic_each_time() -> None:
    """The first broker knows of another one, which says who has the topic."""

    async def test(broker: FakeBroker) -> None:
        async with fake_broker() as second, fake_broker() as owner:
            look_up(broker, "Redirect", second.url)
            look_up(second, "Redirect", owner.url, authoritative=True)
            FakeTopic(count=10, happens=cuts_at(4)).serve(owner)
            async with opened(broker) as session:
                assert await read_all(session) == numbers(10)
            for each, authoritative in ((broker, False), (second, False), (owner, True)):
                sent = [command.authoritative for command in each.sent(Kind.LOOKUP)]
                assert sent == [authoritative, authoritative]
            assert owner.count(Kind.SUBSCRIBE) == 2
            assert broker.count(Kind.SUBSCRIBE) == second.count(Kind.SUBSCRIBE) == 0

    run_with_broker(test)


def test_a_reader_of_brokers_that_redirect_in_a_ring_ends() -> None:
    async def test(broker: FakeBroker) -> None:
        async with fake_broker() as other:
            look_up(broker, "Redirect", other.url)
            look_up(other, "Redirect", broker.url)
            with pytest.raises(MessagingError, match="redirected the lookup more than 20 times"):
                async with opened(broker):
                    pass
            assert broker.count(Kind.LOOKUP) + other.count(Kind.LOOKUP) == 21

    run_with_broker(test)


@pytest.mark.slow
def test_a_reader_behind_a_proxy_never_connects_to_the_broker_itself() -> None:
    """Nor after a cut, nor when it is redirected: the proxy gets the address of each broker."""

    async def test(proxy: FakeBroker) -> None:
        def answer(broker: FakeBroker, one: FakeConnection, frame: Frame) -> Iterable[Reply]:
            redirect = not frame.content.authoritative
            kind, name = ("Redirect", "first") if redirect else ("Connect", "owner")
            look_up(broker, kind, f"pulsar://{name}:6650", authoritative=True, proxied=True)
            found = broker.replies[Kind.LOOKUP](broker, one, frame)
            broker.replies[Kind.LOOKUP] = answer
            return found

        proxy.replies[Kind.LOOKUP] = answer
        FakeTopic(count=10, happens=cuts_at(4)).serve(proxy)
        async with opened(proxy) as session:
            assert await read_all(session) == numbers(10)
        asked = [command.proxy_to_broker_url for command in proxy.sent(Kind.CONNECT)]
        assert asked == ["", "first:6650", "owner:6650", "owner:6650"]

    run_with_broker(test)


@pytest.mark.slow
def test_it_begins_in_the_middle_of_a_batch() -> None:
    async def test(broker: FakeBroker) -> None:
        FakeTopic(count=4, size=10).serve(broker)
        async with opened(broker, Position(1, 2, 6)) as session:
            assert await read_all(session) == numbers(40)[27:]

    run_with_broker(test)


def test_an_empty_topic_has_no_more() -> None:
    async def test(broker: FakeBroker) -> None:
        FakeTopic(count=0).serve(broker)
        async with opened(broker) as session:
            assert not await session.has_more()

    run_with_broker(test)


@pytest.mark.slow
def test_a_cut_while_the_end_is_asked_for_is_no_end() -> None:
    async def test(broker: FakeBroker) -> None:
        FakeTopic(count=10).serve(broker)
        answer = broker.replies[Kind.GET_LAST_MESSAGE_ID]
        replies = [_cut, _cut]

        def cut_twice(
            broker: FakeBroker, connection: FakeConnection, frame: Frame
        ) -> Iterable[Reply]:
            reply = replies.pop() if replies else answer
            return reply(broker, connection, frame)

        broker.replies[Kind.GET_LAST_MESSAGE_ID] = cut_twice
        async with opened(broker) as session:
            assert await read_all(session) == numbers(10)
        assert not replies

    run_with_broker(test)


@pytest.mark.slow
def test_a_broker_that_always_cuts_there_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_session, "_PATIENCE", 0.2)

    async def test(broker: FakeBroker) -> None:
        FakeTopic(count=0).serve(broker)
        broker.replies[Kind.GET_LAST_MESSAGE_ID] = _cut
        async with opened(broker) as session:
            with pytest.raises(ConnectionFailedError):
                await read_all(session)

    run_with_broker(test)


def test_a_reader_that_is_refused_is_not_tried_again() -> None:
    async def test(broker: FakeBroker) -> None:
        FakeTopic(count=1).serve(broker)
        broker.replies[Kind.SUBSCRIBE] = lambda _, __, frame: [refused(frame, "AuthorizationError")]
        with pytest.raises(BrokerRefusedError, match="AuthorizationError"):
            async with opened(broker):
                pass
        assert broker.count(Kind.SUBSCRIBE) == 1

    run_with_broker(test)


def test_a_refusal_in_the_middle_ends_the_reading() -> None:
    async def test(broker: FakeBroker) -> None:
        FakeTopic(count=10, happens=lambda entry: FakeConnection.cut if entry == 5 else None).serve(
            broker
        )
        async with opened(broker) as session:
            while not await session.read(1):
                pass
            broker.replies[Kind.SUBSCRIBE] = lambda _, __, frame: [refused(frame, "TopicNotFound")]
            with pytest.raises(BrokerRefusedError, match="TopicNotFound"):
                await read_all(session)

    run_with_broker(test)


def test_a_broker_that_stays_away_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_session, "_PATIENCE", 0.0)

    async def test(broker: FakeBroker) -> None:
        FakeTopic(count=2).serve(broker)
        async with opened(broker) as session:
            assert await session.read(2)
            broker.replies[Kind.CONNECT] = _cut
            broker.cut()
            with pytest.raises(ConnectionFailedError):
                await read_all(session)

    run_with_broker(test)


def test_a_broken_entry_is_named() -> None:
    async def test(broker: FakeBroker) -> None:
        FakeTopic(count=1).serve(broker)
        content = batch_content([b"x"])[:-1] + b"y"
        broker.replies[Kind.FLOW] = lambda _, __, frame: [
            message_frame(frame.content.consumer_id, 4, content)
        ]
        async with opened(broker) as session:
            with pytest.raises(MessagingError, match="checksum") as caught:
                await read_all(session)
        assert caught.value.where == "persistent://a/b/c, message 1:4"

    run_with_broker(test)


def test_a_server_that_sends_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_session, "_MOST_WAITING", 10_000)

    async def test(broker: FakeBroker) -> None:
        FakeTopic(count=1).serve(broker)
        content = batch_content([bytes(1000)])
        broker.replies[Kind.FLOW] = nothing
        broker.replies[Kind.GET_LAST_MESSAGE_ID] = lambda _, __, ___: [
            message_frame(0, entry, content) for entry in range(100)
        ]
        async with opened(broker) as session:
            with pytest.raises(MessagingError, match="more than it was asked for"):
                await session.has_more()

    run_with_broker(test)
