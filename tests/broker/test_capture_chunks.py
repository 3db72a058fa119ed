"""Messages in chunks on a real broker, between others, in captures that are ended and go on."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from gitops.messaging import reader_session
from gitops.messaging.broker_readers import BrokerReaders
from gitops.messaging.capture_files import CaptureManifest, Selection
from gitops.messaging.cluster import Cluster
from gitops.messaging.connection_settings import ConnectionSettings
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.frames import send_frame
from gitops.model.names import NamespaceName, TopicName
from gitops.registries.pulsar.message_service import messages_of
from gitops.usecases.capture import CaptureRequest
from gitops.usecases.capture import capture as run_capture
from tests.support.capture_topics import keep_messages, rows_of
from tests.support.pulsar_broker import RunningBroker
from tests.support.pulsar_client import open_test_registry

pytestmark = pytest.mark.broker


class Chunk(NamedTuple):
    """One of `chunks`; a message of its own where that is 1."""

    uuid: str
    number: int = 0
    chunks: int = 1


SENT = (
    Chunk("a", 0, 3), Chunk("m0"), Chunk("b", 0, 2), Chunk("a", 1, 3), Chunk("m1"),
    Chunk("never", 0, 2), Chunk("a", 2, 3), Chunk("m2"), Chunk("b", 1, 2), Chunk("m3"),
)  # fmt: skip
WHOLE = [b"m0-0", b"m1-0", b"a-0a-1a-2", b"m2-0", b"b-0b-1", b"m3-0"]


@pytest.fixture
def topic(pulsar: RunningBroker, pulsar_namespace: NamespaceName) -> TopicName:
    """With the chunks in that order, which no client sends on demand."""
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    keep_messages(pulsar, pulsar_namespace)
    name = TopicName(pulsar_namespace, "chunks")
    asyncio.run(send(pulsar.service_url, f"persistent://{name}", SENT))
    return name


class Receipts:
    """What a connection tells: how many were stored."""

    def __init__(self) -> None:
        self.stored = asyncio.Semaphore(0)

    def on_receipt(self, _receipt: api.CommandSendReceipt) -> None:
        self.stored.release()

    def on_send_error(self, error: api.CommandSendError) -> None:
        raise AssertionError(error)

    def on_detach(self, assigned: str | None) -> None:
        """The end."""


async def send(url: str, topic: str, sent: Sequence[Chunk]) -> None:
    cluster, receipts = Cluster(url, ConnectionSettings()), Receipts()
    connection = await cluster.connect(topic)
    opened = await connection.request(api.BaseCommand.PRODUCER, topic=topic, producer_id=0)
    connection.producers[0] = receipts
    for sequence, (uuid, number, count) in enumerate(sent):
        metadata = api.MessageMetadata(
            producer_name=opened.producer_name, sequence_id=sequence, publish_time=1 + sequence
        )
        if count > 1:
            metadata.uuid, metadata.chunk_id, metadata.num_chunks_from_msg = uuid, number, count
        command = api.CommandSend(producer_id=0, sequence_id=sequence)
        connection.write(send_frame(command, metadata, f"{uuid}-{number}".encode()))
        async with asyncio.timeout(30):
            await receipts.stored.acquire()
    await cluster.close()


def capture(
    pulsar: RunningBroker,
    topic: TopicName,
    out: Path,
    stopped: Callable[[], bool] = lambda: False,
    *,
    resume: bool = False,
) -> CaptureManifest:
    with closing(open_test_registry(pulsar.admin_url)) as registry:
        request = CaptureRequest(
            topics=(topic,), out=out, selection=Selection(), open_readers=BrokerReaders,
            resume=resume,
        )  # fmt: skip
        (done,) = run_capture(registry, messages_of(registry, out, None), request, stopped)
    return done.manifest


@pytest.mark.slow
@pytest.mark.parametrize("entries", [2, 3, 5])
def test_a_message_whose_chunks_are_on_both_sides_of_an_end_is_captured_once(
    pulsar: RunningBroker,
    topic: TopicName,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    entries: int,
) -> None:
    """It ends after about so many entries, each a block of its own, and goes on."""
    assert capture(pulsar, topic, tmp_path / "whole").is_complete
    whole = rows_of(tmp_path / "whole", topic)
    assert [row["payload"] for row in whole] == WHOLE
    monkeypatch.setattr(reader_session, "_MOST_BYTES", 1)
    ended = [capture(pulsar, topic, tmp_path / "ended", stop_after(entries))]
    while not ended[-1].is_complete:
        # It begins with an open chunk again, and has to come further than the run before.
        stopped = stop_after(entries + len(ended))
        ended.append(capture(pulsar, topic, tmp_path / "ended", stopped, resume=True))
    assert len(ended) > 2
    assert rows_of(tmp_path / "ended", topic) == whole


def stop_after(count: int) -> Callable[[], bool]:
    """Whether it was asked more often than that."""
    asked = itertools.count()
    return lambda: next(asked) > count
