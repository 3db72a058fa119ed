"""The schema of a topic that a change made is not deleted while a real broker has its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gitops.model.names import TopicName
from gitops.registries.pulsar.message_service import messages_of
from gitops.registries.pulsar.registry import PulsarRegistry, open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from tests.support.admin_rest import admin_request

if TYPE_CHECKING:
    from pathlib import Path

    from gitops.model.names import NamespaceName
    from tests.support.pulsar_broker import RunningBroker

client_library = pytest.importorskip("pulsar")

pytestmark = pytest.mark.broker


@pytest.mark.parametrize("partitions", [0, 2])
def test_messages_are_found_read_or_not(
    partitions: int, pulsar: RunningBroker, pulsar_namespace: NamespaceName, tmp_path: Path
) -> None:
    registry = open_registry("test", PulsarConfig(url=pulsar.admin_url), tmp_path)
    assert isinstance(registry, PulsarRegistry)
    topic = TopicName.of(pulsar_namespace, "paid")
    messages = messages_of(registry, tmp_path, None)
    assert not messages.has_any(topic)
    path = f"{pulsar.admin_url}/admin/v2/persistent/{topic}"
    if partitions:
        admin_request("PUT", f"{path}/partitions", partitions)
    else:
        admin_request("PUT", path)
    assert not messages.has_any(topic)

    client = client_library.Client(pulsar.service_url)
    consumer = client.subscribe(str(topic), "billing")
    client.create_producer(str(topic)).send(b"one")
    consumer.acknowledge(consumer.receive(10_000))
    client.close()

    assert messages.has_any(topic)
    registry.close()
