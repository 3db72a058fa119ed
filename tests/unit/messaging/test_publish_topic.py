"""Publications to a broker in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitops.messaging import publish_topic as publish_module
from gitops.messaging.capture_client import Position
from gitops.messaging.capture_files import PartFormat
from gitops.messaging.connection_settings import ConnectionSettings, Deadlines
from gitops.messaging.errors import ConnectionFailedError
from gitops.messaging.publish_capture import CaptureSource, read_source
from gitops.messaging.publish_journal import PublicationJournal, PublicationState, new_state
from gitops.messaging.publish_topic import Publication, PublishJob, partition_of, publish_topic
from gitops.messaging.routing import java_string_hash
from gitops.messaging.values.schema import BytesSchema
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from tests.support.fake_messages import FakeMessage
from tests.support.fake_pulsar import (
    FakeBroker,
    Frame,
    Kind,
    fake_broker,
    nothing,
    refused,
    split_batch,
)
from tests.support.message_schemas import AVRO_INFO, JSON_INFO, SEPARATED
from tests.support.written_captures import write_capture

ORDERS = TopicName.parse("shop/orders/created")
TOPIC = "persistent://shop/staging/created"
SCHEMAS = {3: AVRO_INFO, 5: JSON_INFO, 8: SEPARATED}


def source_of(out: Path, messages: Sequence[FakeMessage]) -> CaptureSource:
    write_capture(out, ORDERS, messages, SCHEMAS)
    return read_source(out)


def numbered(versions: Sequence[int]) -> list[FakeMessage]:
    """A message of each version; its payload is its number."""
    return [
        FakeMessage(at=Position(1, number, -1), payload=str(number).encode(), version=version)
        for number, version in enumerate(versions)
    ]


def published(
    source: CaptureSource,
    *,
    before: PublicationState | None = None,
    prepare: Callable[[FakeBroker], None] = lambda _: None,
    **more: Any,  # noqa: ANN401 - what a job has
) -> tuple[Publication, FakeBroker]:
    """How a publication ends, and what the broker got."""

    async def main() -> tuple[Publication, FakeBroker]:
        async with asyncio.timeout(60), fake_broker() as broker:
            prepare(broker)
            job = PublishJob(
                source=source,
                topic=TOPIC,
                service_url=broker.url,
                settings=ConnectionSettings(deadlines=Deadlines(connect=20, request=20)),
                journal=PublicationJournal.of(source, TOPIC, "nowhere"),
                **more,
            )
            state = before or new_state(source, TOPIC, "nowhere")
            return await publish_topic(job, state), broker

    return asyncio.run(main())


def stored(broker: FakeBroker) -> list[tuple[int, bytes, bytes]]:
    """Sequence id, version and payload of each message, in order."""
    found = []
    for frame in broker.stored.get(TOPIC, []):
        assert frame.metadata is not None
        version = frame.metadata.schema_version[-1:]
        if frame.metadata.num_messages_in_batch > 1:
            for single, payload in split_batch(frame):
                found.append((single.sequence_id, version, payload))
        else:
            found.append((frame.metadata.sequence_id, version, frame.payload))
    return found


def refuse_json(broker: FakeBroker) -> None:
    """Have the broker accept no JSON schema."""

    def answer(_broker: FakeBroker, _connection: object, frame: Frame) -> list[api.BaseCommand]:
        content = api.CommandGetOrCreateSchemaResponse(request_id=frame.content.request_id)
        if frame.content.schema == BytesSchema(JSON_INFO).to_wire():
            content.error_code, content.error_message = api.IncompatibleSchema, "no JSON here"
        else:
            content.schema_version = broker.version_of(frame.content.schema)
        kind = "GET_OR_CREATE_SCHEMA_RESPONSE"
        return [api.BaseCommand(type=kind, getOrCreateSchemaResponse=content)]

    broker.replies[Kind.GET_OR_CREATE_SCHEMA] = answer


def test_messages_go_in_their_order_with_the_versions_of_their_own_schemas(tmp_path: Path) -> None:
    source = source_of(tmp_path, numbered([5, 3, 3, -1, 5, 3]))
    ended, broker = published(source)
    assert ended.is_complete
    assert ended.versions == {3: 0, 5: 1}
    assert stored(broker) == [
        (0, b"\1", b"0"), (1, b"\0", b"1"), (2, b"\0", b"2"),
        (3, b"", b"3"), (4, b"\1", b"4"), (5, b"\0", b"5"),
    ]  # fmt: skip
    assert broker.schemas == [BytesSchema(info).to_wire() for info in (AVRO_INFO, JSON_INFO)]


def test_a_message_keeps_key_times_and_properties(tmp_path: Path) -> None:
    source = source_of(
        tmp_path,
        [
            FakeMessage(
                at=Position(1, 0, -1),
                payload=b"v",
                key="azE=",
                ordering="o",
                props={"a": "b"},
                event=7,
                version=8,
            ),
        ],
    )
    _, broker = published(source)
    (frame,) = broker.stored[TOPIC]
    metadata = frame.metadata
    assert metadata is not None
    assert (metadata.partition_key, metadata.partition_key_b64_encoded) == ("azE=", True)
    assert (metadata.ordering_key, metadata.event_time) == (b"o", 7)
    assert [(each.key, each.value) for each in metadata.properties] == [("a", "b")]


@pytest.mark.slow
def test_a_null_value_stays_one(tmp_path: Path) -> None:
    messages = [
        FakeMessage(at=Position(1, 0, -1), is_null=True, key="k", version=3),
        FakeMessage(at=Position(1, 1, -1), payload=b"", version=-1),
    ]
    _, broker = published(source_of(tmp_path, messages))
    metadata = [frame.metadata for frame in broker.stored[TOPIC]]
    assert [each is not None and each.null_value for each in metadata] == [True, False]


def test_refused_schemas_fail_their_messages_alone(tmp_path: Path) -> None:
    source = source_of(tmp_path, numbered([3, 5, 3, 5]))
    ended, broker = published(source, prepare=refuse_json)
    assert ended.is_complete
    assert ended.state.failed == {"v5 refused: no JSON here": 2}
    assert ended.state.acknowledged == 2
    assert [payload for _, _, payload in stored(broker)] == [b"0", b"2"]


def test_where_all_schemas_are_refused_nothing_is_sent(tmp_path: Path) -> None:
    def refuse(broker: FakeBroker) -> None:
        broker.replies[Kind.PRODUCER] = lambda _broker, _connection, frame: [
            refused(frame, "IncompatibleSchema", "not here")
        ]

    ended, broker = published(source_of(tmp_path, numbered([3, 5, -1])), prepare=refuse)
    assert ended.is_complete
    assert ended.state.acknowledged == 0
    assert ended.state.failed == {
        "v3 refused: not here": 1, "v5 refused: not here": 1, "no schema refused: not here": 1,
    }  # fmt: skip
    assert not broker.stored


def test_what_the_broker_has_is_not_sent_again(tmp_path: Path) -> None:
    source = source_of(tmp_path, numbered([3] * 10))
    state = new_state(source, TOPIC, "nowhere")
    before = state.model_copy(update={"done": 2, "handed": 8, "partitions": 1})

    def knows(broker: FakeBroker) -> None:
        broker.last_sequence_id = 6

    ended, broker = published(source, before=before, prepare=knows)
    assert [number for number, _, _ in stored(broker)] == [7, 8, 9]
    assert ended.repeated == 0
    assert ended.state.acknowledged == 10
    assert broker.sent(Kind.PRODUCER)[0].producer_name == state.producer_name


def test_without_deduplication_it_is_told_how_many_may_be_there_twice(tmp_path: Path) -> None:
    source = source_of(tmp_path, numbered([3] * 10))
    state = new_state(source, TOPIC, "nowhere")
    before = state.model_copy(update={"done": 2, "handed": 8, "partitions": 1})
    ended, broker = published(source, before=before)
    assert [number for number, _, _ in stored(broker)] == list(range(2, 10))
    assert ended.repeated == 6


@pytest.mark.slow
def test_other_partitions_than_before_are_refused(tmp_path: Path) -> None:
    source = source_of(tmp_path, numbered([3] * 4))
    state = new_state(source, TOPIC, "nowhere")
    before = state.model_copy(update={"done": 2, "handed": 4, "partitions": 2})
    with pytest.raises(UsageError, match="had 2 partitions"):
        published(source, before=before)


@pytest.mark.slow
def test_a_broker_that_answers_nothing_ends_it_with_what_is_known(tmp_path: Path) -> None:
    def silent(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = nothing

    source = source_of(tmp_path, numbered([3] * 4))
    ended, _ = published(source, prepare=silent, patience=0.2)
    assert isinstance(ended.cause, ConnectionFailedError)
    assert not ended.is_complete
    assert (ended.state.done, ended.state.handed) == (0, 4)


@pytest.mark.slow
def test_a_broker_that_leaves_no_room_ends_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long a message itself may wait: that is for ever."""

    def silent(broker: FakeBroker) -> None:
        broker.replies[Kind.SEND] = nothing

    whole = publish_module._settings  # noqa: SLF001 - with less room
    monkeypatch.setattr(
        publish_module, "_settings", lambda *given: replace(whole(*given), pending_messages=2)
    )
    source = source_of(tmp_path, numbered([3] * 4))
    ended, _ = published(source, prepare=silent, patience=0.2)
    assert isinstance(ended.cause, ConnectionFailedError)
    assert "acknowledged nothing for 0.2 s" in ended.cause.what
    assert (ended.state.done, ended.is_complete) == (0, False)


def test_a_stop_waits_for_what_was_sent(tmp_path: Path) -> None:
    asked = iter([False] * 5 + [True] * 100)
    source = source_of(tmp_path, numbered([3] * 10))
    ended, broker = published(source, stopped=lambda: next(asked))
    assert [number for number, _, _ in stored(broker)] == [0, 1, 2, 3, 4]
    assert (ended.state.done, ended.cause, ended.is_complete) == (5, None, False)
    saved = PublicationJournal.of(source, TOPIC, "nowhere").read()
    assert saved is not None
    assert saved.done == 5


@pytest.mark.parametrize("part_format", ["parquet", "avro"])
@pytest.mark.parametrize("event", [1_700_000_000_000_000, 2**63, 2**64 - 1])
def test_a_time_that_no_calendar_has_stays_as_it_was(
    tmp_path: Path, part_format: PartFormat, event: int
) -> None:
    messages = [replace(numbered([3])[0], event=event)]
    write_capture(tmp_path, ORDERS, messages, SCHEMAS, part_format=part_format)
    _, broker = published(read_source(tmp_path))
    (frame,) = broker.stored[TOPIC]
    assert frame.metadata is not None
    assert frame.metadata.event_time == event


@pytest.mark.slow
def test_what_cannot_be_sent_fails_alone(tmp_path: Path) -> None:
    def small(broker: FakeBroker) -> None:
        broker.max_message_size = 300

    messages = numbered([3, 3, 3])
    messages[1] = replace(messages[1], payload=b"x", props={"p": "y" * 300})
    ended, broker = published(source_of(tmp_path, messages), prepare=small)
    assert [payload for _, _, payload in stored(broker)] == [b"0", b"2"]
    ((reason, number),) = ended.state.failed.items()
    assert "bytes with its metadata, the broker accepts 300" in reason
    assert number == 1


@pytest.mark.parametrize(
    ("partition", "key", "before", "now", "found"),
    [
        (2, "a", 3, 3, 2),
        (2, None, 3, 2, 0),
        (0, None, 1, 4, 0),
        (0, "order-7", 1, 4, java_string_hash("order-7") % 4),
    ],
)
def test_the_order_of_each_key_is_kept_over_partitions(
    partition: int, key: str | None, before: int, now: int, found: int
) -> None:
    assert partition_of(partition, key, before, now) == found
