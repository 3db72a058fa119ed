"""Captures and publications with brokers of other lines, and a broker that restarts meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

import pytest

from gitops.messaging.broker_readers import BrokerReaders
from gitops.messaging.capture_client import MessageService, Position
from gitops.messaging.capture_files import Selection
from gitops.messaging.capture_readers import MessageReaders, PartitionReader
from gitops.messaging.entries import Entry
from gitops.model.names import NamespaceName, TopicName
from gitops.registries.pulsar.message_service import messages_of
from gitops.usecases.capture import CaptureRequest
from gitops.usecases.capture import capture as run_capture
from tests.support import pulsar_broker as brokers
from tests.support.capture_topics import keep_messages, pulsar_client, rows_of
from tests.support.command_line import captured
from tests.support.publications import allow_all_schemas, as_sent, send_mixed
from tests.support.pulsar_broker import (
    BrokerSettings,
    BrokerUnavailableError,
    RunningBroker,
    pulsar_broker,
)
from tests.support.pulsar_client import open_test_registry

pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
pytestmark = pytest.mark.broker

NAMESPACE: Final = NamespaceName("public", "default")
TOPIC: Final = TopicName(NAMESPACE, "lines")
MESSAGES: Final = 210


@pytest.mark.parametrize("release", ["3.0.7", "4.2.4", "5.0.1"])
def test_a_copy_on_a_broker_of_another_line_is_equal(release: str, tmp_path: Path) -> None:
    copy = TopicName(NAMESPACE, "copy")
    try:
        with pulsar_broker(BrokerSettings(release=release)) as running:
            keep_messages(running, NAMESPACE)
            allow_all_schemas(running, NAMESPACE)
            send_mixed(running, TOPIC, MESSAGES)
            address = ("--url", running.admin_url)
            ran = captured("capture", TOPIC, "--out", tmp_path / "first", *address)
            assert ran.code == 0, ran.err
            ran = captured("publish", tmp_path / "first", "--to", copy, *address)
            assert ran.code == 0, ran.err
            ran = captured("capture", copy, "--out", tmp_path / "second", *address)
            assert ran.code == 0, ran.err
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker {release}: {reason}")
    first = as_sent(tmp_path / "first", TOPIC)
    assert sum(map(len, first.values())) == MESSAGES
    assert as_sent(tmp_path / "second", copy) == first


class _Interrupted:
    """Readers of a broker; something happens once, between two blocks of a partition."""

    def __init__(self, readers: MessageReaders, happens: Callable[[], None]) -> None:
        self._readers = readers
        self._happens = happens

    def open(
        self,
        partition: str,
        *,
        after: Position | None,
        first: Position | None,
        trimmed_before: int | None = None,
    ) -> PartitionReader:
        found = self._readers.open(
            partition, after=after, first=first, trimmed_before=trimmed_before
        )
        return _InterruptedReader(found, self._happens)

    def close(self) -> None:
        self._readers.close()


class _InterruptedReader:
    def __init__(self, reader: PartitionReader, happens: Callable[[], None]) -> None:
        self._reader = reader
        self._happens = happens
        self._blocks = 0

    def read(self, most: int) -> Sequence[Entry]:
        self._blocks += 1
        if self._blocks == 3:
            self._happens()
        return self._reader.read(min(most, 500))

    def has_more(self) -> bool:
        return self._reader.has_more()

    def unfinished(self) -> Position | None:
        return self._reader.unfinished()

    def close(self) -> None:
        self._reader.close()


def test_a_restart_of_the_broker_in_the_middle_loses_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = brokers._free_ports(5)  # noqa: SLF001 - the same ones after the restart
    monkeypatch.setattr(brokers, "_free_ports", lambda count: ports[:count])
    data = tmp_path / "data"
    data.mkdir()
    settings = BrokerSettings(data=data)
    with ExitStack() as stack:
        try:
            running = stack.enter_context(pulsar_broker(settings))
        except BrokerUnavailableError as reason:
            pytest.skip(str(reason))
        _send_numbers(running, 20_000)

        def restart() -> None:
            stack.close()
            stack.enter_context(pulsar_broker(settings))

        _capture(running, tmp_path, restart)
        rows = rows_of(tmp_path / "out", TOPIC)
        assert len({row["message_id"] for row in rows}) == len(rows)
        sent = [row["payload"] for row in rows]
        assert sent == [b"%d" % number for number in range(20_000)]


def _send_numbers(running: RunningBroker, count: int) -> None:
    keep_messages(running, NAMESPACE)
    with pulsar_client(running) as client:
        producer = client.create_producer(
            str(TOPIC), batching_enabled=True, batching_max_messages=100, block_if_queue_full=True
        )
        for number in range(count):
            producer.send_async(b"%d" % number, None)
        producer.flush()


def _capture(running: RunningBroker, folder: Path, restart: Callable[[], None]) -> None:
    def readers(service: MessageService) -> MessageReaders:
        return _Interrupted(BrokerReaders(service), restart)

    with closing(open_test_registry(running.admin_url)) as registry:
        request = CaptureRequest(
            topics=(TOPIC,), out=folder / "out", selection=Selection(), open_readers=readers
        )
        (done,) = run_capture(registry, messages_of(registry, folder, None), request)
    assert done.manifest.is_complete
