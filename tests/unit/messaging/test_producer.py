"""The producer of several schemas against a broker in this process."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from gitops.messaging.batches import MessageId
from gitops.messaging.client import AUTO_PRODUCE, MessagingClient
from gitops.messaging.errors import (
    BrokerRefusedError,
    ClosedProducerError,
    InvalidValueError,
    SendExpiredError,
)
from gitops.messaging.message import Message
from gitops.messaging.producer import Capacity, Producer
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.values.schema import BytesSchema
from gitops.messaging.values.table import AutoProduceSchema
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import UsageError
from tests.support.fake_pulsar import (
    FakeBroker,
    FakeConnection,
    Frame,
    Kind,
    nothing,
    opened_producer,
    receipt,
    refused,
    run_with_broker,
    split_batch,
)
from tests.support.message_schemas import MIXED, avro, value_for

TOPIC = "persistent://public/default/orders"
FIRST, SECOND, THIRD = avro(), avro("note"), avro("note", "more")


def stored_ids(broker: FakeBroker, topic: str = TOPIC) -> list[tuple[bytes, list[str]]]:
    """Of each frame that is stored, the schema version and the ids in its Avro records."""
    found = []
    for frame in broker.stored.get(topic, []):
        assert frame.metadata is not None
        is_batch = frame.metadata.num_messages_in_batch > 1
        payloads = [one for _, one in split_batch(frame)] if is_batch else [frame.payload]
        ids = [payload[1 : 1 + payload[0] // 2].decode() for payload in payloads]
        found.append((frame.metadata.schema_version[-1:], ids))
    return found


def test_a_message_has_the_version_of_its_own_schema() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker, multi_schema="auto") as producer:
            for schema in (FIRST, SECOND, FIRST, THIRD, SECOND):
                message = producer.new_message(schema).value({"id": "a"})
                assert isinstance(await message.send(), MessageId)
        versions = [version for version, _ in stored_ids(broker)]
        assert versions == [b"\0", b"\1", b"\0", b"\2", b"\1"]
        assert broker.count(Kind.GET_OR_CREATE_SCHEMA) == 2

    run_with_broker(test)


def test_a_batch_holds_messages_of_one_version_only() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker, multi_schema="auto", batch_delay=30) as producer:
            await send_all(producer, [(FIRST, "0"), (SECOND, "1")])
            wanted = [(FIRST, "2"), (FIRST, "3"), (SECOND, "4"), (SECOND, "5"), (FIRST, "6")]
            await send_all(producer, wanted)
        assert stored_ids(broker)[-3:] == [
            (b"\0", ["2", "3"]), (b"\1", ["4", "5"]), (b"\0", ["6"])
        ]  # fmt: skip

    run_with_broker(test)


def test_concurrent_misses_of_a_schema_share_one_request() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker, multi_schema="auto") as producer:
            messages = [producer.new_message(SECOND).value({"id": str(n)}) for n in range(50)]
            await asyncio.gather(*(message.send() for message in messages))
        assert broker.count(Kind.GET_OR_CREATE_SCHEMA) == 1

    run_with_broker(test)


def test_partitions_share_the_versions_and_keep_keys_apart() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.partitions = 3
        async with opened_producer(broker, multi_schema="auto") as producer:
            for number in range(9):
                message = producer.new_message(SECOND).value({"id": "x"}).key(str(number))
                found = await message.send()
                # Java's "0".hashCode() is 48
                assert found.partition == (48 + number) % 3
        assert broker.count(Kind.GET_OR_CREATE_SCHEMA) == 1
        assert broker.count(Kind.PRODUCER) == 3

    run_with_broker(test)


def test_without_keys_batches_go_round() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.partitions = 2
        async with opened_producer(broker, batch_delay=30, batch_messages=3) as producer:
            await send_all(producer, [(FIRST, str(n)) for n in range(12)])
        for number in range(2):
            frames = stored_ids(broker, f"{TOPIC}-partition-{number}")
            assert [len(ids) for _, ids in frames] == [3, 3]

    run_with_broker(test)


def test_disabled_refuses_a_second_schema_and_allows_its_own_again() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker) as producer:
            await producer.new_message(avro()).value({"id": "a"}).send()
            with pytest.raises(UsageError, match="only messages of its schema") as caught:
                producer.new_message(SECOND)
            assert 'multi_schema="auto"' in caught.value.hint

    run_with_broker(test)


def test_a_refused_schema_fails_its_messages_alone_and_keeps_the_order() -> None:
    def refuse(broker: FakeBroker, _: FakeConnection, frame: Frame) -> list[api.BaseCommand]:
        found = frame.content.schema
        if b"more" in found.schema_data:
            content = api.CommandGetOrCreateSchemaResponse(
                request_id=frame.content.request_id,
                error_code=api.IncompatibleSchema,
                error_message="no",
            )
        else:
            content = api.CommandGetOrCreateSchemaResponse(
                request_id=frame.content.request_id, schema_version=broker.version_of(found)
            )
        kind = "GET_OR_CREATE_SCHEMA_RESPONSE"
        return [api.BaseCommand(type=kind, getOrCreateSchemaResponse=content)]

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.GET_OR_CREATE_SCHEMA] = refuse
        async with opened_producer(broker, multi_schema="auto") as producer:
            wanted = [FIRST, THIRD, SECOND, FIRST, THIRD, SECOND]
            receipts = [
                await producer.new_message(schema).value({"id": str(number)}).enqueue()
                for number, schema in enumerate(wanted)
            ]
            found = await asyncio.gather(*receipts, return_exceptions=True)
        refusals = [each for each in found if isinstance(each, BrokerRefusedError)]
        assert [each.error for each in refusals] == ["IncompatibleSchema"] * 2
        assert [one for _, ids in stored_ids(broker) for one in ids] == ["0", "2", "3", "5"]
        assert refusals[0].message == "no"

    run_with_broker(test)


@pytest.mark.parametrize("mode", ["auto", "enabled"])
def test_a_broker_without_the_command(mode: str) -> None:
    async def test(broker: FakeBroker) -> None:
        broker.protocol_version = 14
        if mode == "enabled":
            with pytest.raises(UsageError, match="version 14"):
                async with opened_producer(broker, multi_schema="enabled"):
                    pass
            return
        async with opened_producer(broker, multi_schema="auto") as producer:
            await send_all(producer, [(FIRST, "0"), (SECOND, "1"), (SECOND, "2")])
        assert [version for version, _ in stored_ids(broker)] == [b"\0", b"\1"]
        assert broker.count(Kind.GET_OR_CREATE_SCHEMA) == 0
        assert broker.count(Kind.PRODUCER) == 2

    run_with_broker(test)


def test_all_that_a_message_carries() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker, batching=False) as producer:
            message = producer.new_message().value({"id": "a"}).key("k").ordering_key(b"o")
            message.property("a", "b").properties({"c": "d"}).event_time(5).sequence_id(9)
            await message.deliver_at(77).send()
            await producer.new_message().value(None).key_bytes(b"\xff").send()
        first, second = (frame.metadata for frame in broker.stored[TOPIC])
        assert first is not None
        assert second is not None
        assert (first.partition_key, first.ordering_key, first.event_time) == ("k", b"o", 5)
        assert (first.sequence_id, first.deliver_at_time) == (9, 77)
        assert {each.key: each.value for each in first.properties} == {"a": "b", "c": "d"}
        assert (second.partition_key, second.partition_key_b64_encoded) == ("/w==", True)
        assert second.null_value
        assert second.sequence_id == 10

    run_with_broker(test)


def test_the_key_of_a_separated_pair_is_the_key_of_the_message() -> None:
    async def test(broker: FakeBroker) -> None:
        schema = MIXED["separated"]
        async with opened_producer(broker, schema) as producer:
            await producer.new_message().value(value_for("separated", 3)).send()
            await producer.new_message().value((None, None)).send()
            with pytest.raises(UsageError, match="SEPARATED"):
                producer.new_message().key("k")
            raw = BytesSchema(schema.info)
            await producer.new_message(raw).key_bytes(b"k").value(b"{}").send()
        first, second, third = (frame.metadata for frame in broker.stored[TOPIC])
        assert first is not None
        assert second is not None
        assert third is not None
        assert (first.partition_key, first.partition_key_b64_encoded) == ("azM=", True)
        assert (second.null_partition_key, second.null_value) == (True, True)
        assert third.partition_key == "aw=="

    run_with_broker(test)


def test_auto_produce_validates_bytes_before_they_are_sent() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.schemas.append(FIRST.to_wire())
        async with opened_producer(broker, AUTO_PRODUCE, multi_schema="auto") as producer:
            await producer.new_message().value(b"\x02a").send()
            with pytest.raises(InvalidValueError, match="AVRO"):
                await producer.new_message().value(b"\xffnot avro").send()
            await producer.new_message(AutoProduceSchema(SECOND)).value(b"\x02b\x00").send()
            with pytest.raises(InvalidValueError, match="left over"):
                await producer.new_message().value(b"\x02b\x00").send()
        assert stored_ids(broker) == [(b"\0", ["a"]), (b"\1", ["b"])]

    run_with_broker(test)


def test_auto_produce_on_a_topic_without_a_schema_sends_any_bytes() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker, AUTO_PRODUCE) as producer:
            await producer.new_message().value(b"anything").send()
        (frame,) = broker.stored[TOPIC]
        assert frame.metadata is not None
        assert not frame.metadata.HasField("schema_version")

    run_with_broker(test)


@dataclass(slots=True)
class Recorder:
    """Interceptor of messages with one schema: adds a property, and keeps how they ended."""

    ends: list[tuple[str, int, str]] = field(default_factory=list)

    def eligible(self, message: Message) -> bool:
        return message.schema.digest == SECOND.digest

    def before_send(self, message: Message) -> Message:
        message.properties["seen"] = "yes"
        return message

    def on_send_acknowledgement(
        self, message: Message, message_id: MessageId | None, error: BaseException | None
    ) -> None:
        entry = -1 if message_id is None else message_id.entry_id
        self.ends.append((message.value["id"], entry, type(error).__name__))


def test_interceptors_see_the_messages_that_are_for_them() -> None:
    async def test(broker: FakeBroker) -> None:
        recorder = Recorder()
        async with MessagingClient(broker.url) as client:
            settings = ProducerSettings(multi_schema="auto", batching=False)
            producer = await client.producer("orders", FIRST, settings, [recorder])
            await send_all(producer, [(FIRST, "0"), (SECOND, "1")])
        assert recorder.ends == [("1", 1, "NoneType")]
        marks = [len(frame.metadata.properties) for frame in broker.stored[TOPIC] if frame.metadata]
        assert marks == [0, 1]

    run_with_broker(test)


@pytest.mark.slow
def test_too_much_that_is_pending_makes_senders_wait() -> None:
    async def test(broker: FakeBroker) -> None:
        held: asyncio.Queue[tuple[FakeConnection, Frame]] = asyncio.Queue()

        def hold(_: FakeBroker, connection: FakeConnection, frame: Frame) -> list[bytes]:
            held.put_nowait((connection, frame))
            return []

        broker.replies[Kind.SEND] = hold
        async with opened_producer(broker, batching=False, pending_messages=2) as producer:
            for number in range(2):
                await producer.new_message().value({"id": str(number)}).enqueue()
            third = asyncio.create_task(producer.new_message().value({"id": "2"}).enqueue())
            first, _ = await held.get(), await held.get()
            assert not third.done()
            first[0].send(receipt(first[1], 0))
            await third
            broker.replies.pop(Kind.SEND)
            broker.cut()

    run_with_broker(test)


def test_room_goes_to_those_who_waited_first() -> None:
    async def main() -> None:
        capacity = Capacity(10, 100)
        assert capacity.try_take(500)  # alone, however large
        large = asyncio.create_task(capacity.take(90, 10, ""))
        await asyncio.sleep(0)
        assert not capacity.try_take(1)
        with pytest.raises(SendExpiredError, match="nothing was acknowledged"):
            await capacity.take(1, 0.01, "t")
        capacity.give_back(500)
        await large
        assert capacity.try_take(10)
        assert not capacity.try_take(1)

    asyncio.run(main())


@pytest.mark.slow
def test_a_message_without_a_receipt_fails_within_its_deadline() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = nothing
        async with opened_producer(broker, send_seconds=0.05) as producer:
            first = await producer.new_message().value({"id": "0"}).enqueue()
            with pytest.raises(SendExpiredError, match=r"0\.05 s.*not known"):
                await first

    run_with_broker(test)


def test_a_closed_producer_accepts_nothing() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker) as producer:
            await producer.close()
            with pytest.raises(ClosedProducerError):
                await producer.new_message().value({"id": "a"}).send()
        assert broker.count(Kind.CLOSE_PRODUCER) == 1

    run_with_broker(test)


def test_a_value_that_does_not_fit_is_not_sent() -> None:
    async def test(broker: FakeBroker) -> None:
        async with opened_producer(broker) as producer:
            with pytest.raises(InvalidValueError, match="AVRO"):
                await producer.new_message().value({"no": "id"}).send()
            await producer.new_message().value({"id": "a"}).send()
        assert broker.count(Kind.SEND) == 1

    run_with_broker(test)


def test_a_producer_with_a_name_goes_on_behind_the_brokers_last_id() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.last_sequence_id = 41
        async with opened_producer(broker, name="mine") as producer:
            assert (producer.name, producer.last_sequence_id) == ("mine", 41)
            await producer.new_message().value({"id": "a"}).send()
        assert [command.sequence_id for command in broker.sent(Kind.SEND)] == [42]
        (command,) = broker.sent(Kind.PRODUCER)
        assert command.user_provided_producer_name

    run_with_broker(test)


def test_a_refused_producer_raises_the_brokers_reason() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.PRODUCER] = lambda _b, _c, frame: [refused(frame, "ProducerBusy")]
        with pytest.raises(BrokerRefusedError, match="ProducerBusy: because") as caught:
            async with opened_producer(broker):
                pass
        assert "another name" in caught.value.hint

    run_with_broker(test)


async def send_all(producer: Producer, wanted: list[tuple[Any, str]]) -> None:
    for schema, text in wanted:
        await producer.new_message(schema).value({"id": text}).enqueue()
    await producer.flush()
