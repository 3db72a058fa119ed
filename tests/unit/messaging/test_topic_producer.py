"""Reconnections, errors of the broker and receipts, against a broker in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gitops.messaging.batches import MessageId
from gitops.messaging.errors import BrokerRefusedError, ClosedProducerError, SendExpiredError
from gitops.messaging.producer import Producer
from gitops.messaging.wire import pulsar_api_pb2 as api
from tests.support.fake_pulsar import (
    FakeBroker,
    FakeConnection,
    Frame,
    Kind,
    fake_broker,
    nothing,
    opened_producer,
    receipt,
    refused,
    run_with_broker,
)
from tests.support.message_schemas import avro

TOPIC = "persistent://public/default/orders"
FIRST, SECOND = avro(), avro("note")


def sent_ids(broker: FakeBroker) -> list[int]:
    return [command.sequence_id for command in broker.sent(Kind.SEND)]


async def enqueue(producer: Producer, *texts: str) -> list[asyncio.Future[Any]]:
    return [await producer.new_message().value({"id": text}).enqueue() for text in texts]


def failing(error: str) -> Callable[[FakeBroker, FakeConnection, Frame], list[api.BaseCommand]]:
    """Refuses the first SEND so, and answers later ones as a broker does."""

    def answer(broker: FakeBroker, _: FakeConnection, frame: Frame) -> list[api.BaseCommand]:
        del broker.replies[Kind.SEND]
        content = api.CommandSendError(
            producer_id=frame.content.producer_id,
            sequence_id=frame.content.sequence_id,
            error=error,
            message="because",
        )
        return [api.BaseCommand(type="SEND_ERROR", send_error=content)]

    return answer


@pytest.mark.slow
def test_what_is_not_acknowledged_is_sent_again_in_order_and_unchanged() -> None:
    async def test(broker: FakeBroker) -> None:
        third = asyncio.Event()

        def hold(_b: FakeBroker, _c: FakeConnection, _f: Frame) -> list[api.BaseCommand]:
            if broker.count(Kind.SEND) == 3:
                third.set()
            return []

        broker.replies[Kind.SEND] = hold
        async with opened_producer(broker, batching=False, name="mine") as producer:
            receipts = await enqueue(producer, "0", "1", "2")
            await third.wait()
            del broker.replies[Kind.SEND]
            broker.cut()
            await asyncio.gather(*receipts)
        frames = [frame for frame in broker.frames if frame.command.type == Kind.SEND]
        assert frames[:3] == frames[3:]
        first, second = broker.sent(Kind.PRODUCER)
        assert (first.producer_name, second.producer_name) == ("mine", "mine")
        assert first.producer_id == second.producer_id
        assert (first.epoch, second.epoch) == (0, 1)

    run_with_broker(test)


@pytest.mark.slow
def test_a_name_that_the_broker_made_is_kept() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker, batching=False) as producer:
            await asyncio.gather(*await enqueue(producer, "0"))
            broker.cut()
            await asyncio.gather(*await enqueue(producer, "1"))
        first, second = broker.sent(Kind.PRODUCER)
        assert (first.producer_name, second.producer_name) == ("", "fake-0-0")
        assert not second.user_provided_producer_name
        assert sent_ids(broker) == [0, 1]

    run_with_broker(test)


@pytest.mark.slow
def test_a_schema_request_that_is_cut_is_made_again() -> None:
    def cut(broker: FakeBroker, connection: FakeConnection, _: Frame) -> list[api.BaseCommand]:
        del broker.replies[Kind.GET_OR_CREATE_SCHEMA]
        connection.cut()
        return []

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.GET_OR_CREATE_SCHEMA] = cut
        async with opened_producer(broker, multi_schema="auto") as producer:
            await producer.new_message(SECOND).value({"id": "a"}).send()
        (frame,) = broker.stored[TOPIC]
        assert frame.metadata is not None
        assert frame.metadata.schema_version[-1] == 1

    run_with_broker(test)


@pytest.mark.slow
def test_a_connection_that_is_cut_while_the_producer_opens_makes_one_producer() -> None:
    def cut(broker: FakeBroker, connection: FakeConnection, _: Frame) -> list[api.BaseCommand]:
        if broker.count(Kind.PRODUCER) == 3:
            del broker.replies[Kind.PRODUCER]
        connection.cut()
        return []

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.PRODUCER] = cut
        async with opened_producer(broker, batching=False) as producer:
            await asyncio.gather(*await enqueue(producer, "0", "1"))
        assert [command.epoch for command in broker.sent(Kind.PRODUCER)] == [0, 0, 0, 0]
        assert sent_ids(broker) == [0, 1]

    run_with_broker(test)


@pytest.mark.slow
def test_a_busy_broker_is_asked_again() -> None:
    def busy(broker: FakeBroker, _: FakeConnection, frame: Frame) -> list[api.BaseCommand]:
        del broker.replies[frame.command.type]
        return [refused(frame, "TooManyRequests")]

    async def test(broker: FakeBroker) -> None:
        for kind in (Kind.PRODUCER, Kind.GET_OR_CREATE_SCHEMA, Kind.PARTITIONED_METADATA):
            broker.replies[kind] = busy
        async with opened_producer(broker, multi_schema="auto") as producer:
            await producer.new_message(SECOND).value({"id": "a"}).send()
        assert broker.count(Kind.PRODUCER) == 2

    run_with_broker(test)


def test_a_broker_that_closes_the_producer_says_who_has_the_topic() -> None:
    async def test(broker: FakeBroker) -> None:
        async with fake_broker() as other, opened_producer(broker, batching=False) as producer:
            await asyncio.gather(*await enqueue(producer, "0"))
            (command,) = broker.sent(Kind.PRODUCER)
            close = api.CommandCloseProducer(
                producer_id=command.producer_id, request_id=9, assignedBrokerServiceUrl=other.url
            )
            broker.connections[0].send(api.BaseCommand(type="CLOSE_PRODUCER", close_producer=close))
            while not other.count(Kind.PRODUCER):  # noqa: ASYNC110 - the other server's own event
                await asyncio.sleep(0.001)
            await asyncio.gather(*await enqueue(producer, "1"))
            assert sent_ids(other) == [1]
            assert broker.count(Kind.LOOKUP) == 1
            producer.partitions[0].on_failure(ClosedProducerError("the test is over"))

    run_with_broker(test)


def test_an_error_that_concerns_one_message_fails_it_alone() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = failing("NotAllowedError")
        async with opened_producer(broker, batching=False) as producer:
            receipts = await enqueue(producer, "0", "1")
            first, second = await asyncio.gather(*receipts, return_exceptions=True)
        assert isinstance(first, BrokerRefusedError)
        assert first.error == "NotAllowedError"
        assert isinstance(second, MessageId)
        assert second.entry_id == 0

    run_with_broker(test)


@pytest.mark.slow
@pytest.mark.parametrize("error", ["PersistenceError", "ChecksumError"])
def test_an_error_of_the_store_is_tried_again(error: str) -> None:
    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = failing(error)
        async with opened_producer(broker, batching=False) as producer:
            await asyncio.gather(*await enqueue(producer, "0"))
        assert sent_ids(broker) == [0, 0]
        assert broker.count(Kind.PRODUCER) == 2

    run_with_broker(test)


def test_a_terminated_topic_fails_all_now_and_later() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = failing("TopicTerminatedError")
        async with opened_producer(broker, batching=False) as producer:
            for _ in range(2):
                (found,) = await asyncio.gather(
                    *await enqueue(producer, "0"), return_exceptions=True
                )
                assert isinstance(found, BrokerRefusedError)
                assert "terminated" in found.hint

    run_with_broker(test)


@pytest.mark.slow
def test_a_producer_that_is_refused_when_it_reconnects_fails_all() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker, batching=False) as producer:
            await asyncio.gather(*await enqueue(producer, "0"))
            broker.replies[Kind.PRODUCER] = lambda _b, _c, frame: [
                refused(frame, "AuthorizationError")
            ]
            broker.cut()
            (found,) = await asyncio.gather(*await enqueue(producer, "1"), return_exceptions=True)
            assert isinstance(found, BrokerRefusedError)

    run_with_broker(test)


@pytest.mark.slow
def test_a_receipt_that_is_skipped_has_all_sent_again() -> None:
    def skip(broker: FakeBroker, _: FakeConnection, frame: Frame) -> list[api.BaseCommand]:
        if broker.count(Kind.SEND) == 1:
            return []
        del broker.replies[Kind.SEND]
        return [receipt(frame, 1)]

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = skip
        async with opened_producer(broker, batching=False) as producer:
            await asyncio.gather(*await enqueue(producer, "0", "1"))
        assert sent_ids(broker) == [0, 1, 0, 1]

    run_with_broker(test)


def test_late_receipts_are_ignored() -> None:
    def twice(_b: FakeBroker, _c: FakeConnection, frame: Frame) -> list[api.BaseCommand]:
        found = receipt(frame, frame.content.sequence_id)
        return [found, found]

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = twice
        async with opened_producer(broker, batching=False) as producer:
            found = await asyncio.gather(*await enqueue(producer, "0", "1", "2"))
        assert [each.entry_id for each in found] == [0, 1, 2]

    run_with_broker(test)


def test_a_duplicate_that_the_broker_left_out_has_no_place() -> None:
    def duplicate(_b: FakeBroker, _c: FakeConnection, frame: Frame) -> list[api.BaseCommand]:
        found = receipt(frame, 2**64 - 1)
        found.send_receipt.message_id.ledgerId = 2**64 - 1
        return [found]

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = duplicate
        async with opened_producer(broker) as producer:
            (found,) = await asyncio.gather(*await enqueue(producer, "0"))
        assert (found.ledger_id, found.entry_id) == (-1, -1)

    run_with_broker(test)


def test_a_batch_has_the_ids_of_its_first_and_last_message() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker, batch_delay=30) as producer:
            receipts = await enqueue(producer, "0", "1", "2")
            await producer.flush()
            found = [receipt.result() for receipt in receipts]
        assert [each.batch_index for each in found] == [0, 1, 2]
        (command,) = broker.sent(Kind.SEND)
        assert (command.sequence_id, command.highest_sequence_id) == (0, 2)
        assert command.num_messages == 3

    run_with_broker(test)


def test_ids_that_may_be_repeated_are_not_batched_with_new_ones() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker, batch_delay=30) as producer:
            for number in (5, 6):
                await producer.new_message().value({"id": "a"}).sequence_id(number).enqueue()
            await producer.flush()
            for number in (5, 6, 7):
                await producer.new_message().value({"id": "a"}).sequence_id(number).enqueue()
            await producer.flush()
        ids = [(one.sequence_id, one.num_messages) for one in broker.sent(Kind.SEND)]
        assert ids == [(5, 2), (5, 2), (7, 1)]

    run_with_broker(test)


def test_ids_that_the_broker_has_are_not_batched_with_new_ones() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.last_sequence_id = 6
        async with opened_producer(broker, batch_delay=30) as producer:
            for number in (5, 6, 7, 8):
                await producer.new_message().value({"id": "a"}).sequence_id(number).enqueue()
            await producer.flush()
        ids = [(one.sequence_id, one.num_messages) for one in broker.sent(Kind.SEND)]
        assert ids == [(5, 2), (7, 2)]

    run_with_broker(test)


@pytest.mark.slow
def test_messages_expire_wherever_they_wait() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = broker.replies[Kind.GET_OR_CREATE_SCHEMA] = nothing
        settings = {"send_seconds": 0.05, "batch_delay": 30, "multi_schema": "auto"}
        async with opened_producer(broker, **settings) as producer:
            receipts = await enqueue(producer, "0")
            with pytest.raises(SendExpiredError):
                await producer.flush()
            receipts += await enqueue(producer, "1")
            receipts.append(await producer.new_message(SECOND).value({"id": "2"}).enqueue())
            found = await asyncio.gather(*receipts, return_exceptions=True)
            assert [type(each) for each in found] == [SendExpiredError] * 3
            del broker.replies[Kind.SEND]

    run_with_broker(test)


def test_what_is_pending_when_it_is_closed_at_once_fails() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = nothing
        async with opened_producer(broker, send_seconds=20) as producer:
            (receipt,) = await enqueue(producer, "0")
            await producer.partitions[0].close()
            with pytest.raises(ClosedProducerError):
                await receipt

    run_with_broker(test)


def test_a_flush_does_not_raise_what_send_has_raised() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker) as producer:
            broker.replies[Kind.SEND] = failing("NotAllowedError")
            with pytest.raises(BrokerRefusedError):
                await producer.new_message().value({"id": "0"}).send()
            await producer.flush()

            broker.replies[Kind.SEND] = failing("NotAllowedError")
            (receipt,) = await enqueue(producer, "1")
            with pytest.raises(BrokerRefusedError):
                await producer.flush()
            assert receipt.exception() is not None
            await producer.flush()

    run_with_broker(test)


@pytest.mark.slow
def test_a_flush_raises_what_a_send_failed_with_after_its_caller_gave_up() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = nothing
        async with opened_producer(broker, send_seconds=0.1) as producer:
            sending = asyncio.create_task(producer.new_message().value({"id": "0"}).send())
            (receipt,) = await enqueue(producer, "1")
            sending.cancel()
            with pytest.raises(SendExpiredError):
                await producer.flush()
            assert receipt.exception() is not None
            del broker.replies[Kind.SEND]

    run_with_broker(test)
