"""Real clients in the statistics of a broker, and what asking for these must not do."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from gitops.model.clients import ObservedClients, ShortLivedTopics
from gitops.model.names import TopicName
from gitops.ports import ClientSource
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.repository.observed_clients import render_observed_clients
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import (
    BrokerSettings,
    BrokerUnavailableError,
    RunningBroker,
    pulsar_broker,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

pulsar_library = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
pytestmark = [pytest.mark.broker, pytest.mark.slow]

_CONFIG: Final = {
    "brokerDeleteInactiveTopicsEnabled": "true",
    "brokerDeleteInactiveTopicsFrequencySeconds": "1",
    "brokerDeleteInactiveTopicsMaxInactiveDurationSeconds": "2",
}
_KEEP_INACTIVE_TOPICS: Final = {
    "inactiveTopicDeleteMode": "delete_when_no_subscriptions",
    "maxInactiveDurationSeconds": 2,
    "deleteWhileInactive": False,
}
_SCHEMA: Final = {"type": "STRING", "schema": "", "properties": {}}
_PARTED: Final = TopicName.parse("t/n/parted")
_PLAIN: Final = TopicName.parse("t/n/plain")
_UNUSED: Final = TopicName.parse("t/n/unused")
_PATIENCE: Final = 60.0


@pytest.fixture(scope="module")
def broker() -> Iterator[RunningBroker]:
    """One that deletes inactive topics at once."""
    try:
        with pulsar_broker(BrokerSettings(config=_CONFIG)) as running:
            admin = f"{running.admin_url}/admin/v2"
            tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
            admin_request("PUT", f"{admin}/tenants/t", tenant)
            admin_request("PUT", f"{admin}/namespaces/t/n", {})
            yield running
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


def _observe(broker: RunningBroker, topics: Collection[TopicName], folder: Path) -> ObservedClients:
    with _registry(broker, folder) as registry:
        return registry.observe_clients(topics)


def _short_lived(
    broker: RunningBroker, topics: Collection[TopicName], folder: Path
) -> ShortLivedTopics:
    with _registry(broker, folder) as registry:
        return registry.find_short_lived_topics(topics)


@contextmanager
def _registry(broker: RunningBroker, folder: Path) -> Iterator[ClientSource]:
    registry = open_registry("test", PulsarConfig(url=broker.admin_url), folder)
    assert isinstance(registry, ClientSource)
    try:
        yield registry
    finally:
        registry.close()


def test_real_clients_are_recorded_alike_each_time(broker: RunningBroker, tmp_path: Path) -> None:
    admin = f"{broker.admin_url}/admin/v2"
    types = pulsar_library.ConsumerType
    client = pulsar_library.Client(
        broker.service_url,
        logger=pulsar_library.FileLogger(pulsar_library.LoggerLevel.Error, "/dev/null"),
    )
    parted, plain = f"persistent://{_PARTED}", f"persistent://{_PLAIN}"
    try:
        for name, kind in (("exclusive", types.Exclusive), ("failover", types.Failover)):
            client.subscribe(plain, name, consumer_type=kind)
        client.create_reader(plain, pulsar_library.MessageId.earliest)
        admin_request("PUT", f"{admin}/persistent/{_PARTED}/partitions", 3)
        for name, kind in (("shared", types.Shared), ("key-shared", types.KeyShared)):
            client.subscribe(parted, name, consumer_type=kind)
        client.subscribe(parted, "gone").close()
        schema = pulsar_library.schema.StringSchema()
        named = client.create_producer(parted, producer_name="writer", schema=schema)
        client.create_producer(parted)
        named.send("an order")

        first, second = (_observe(broker, [_PARTED, _PLAIN], tmp_path) for _ in range(2))
    finally:
        client.close()

    assert render_observed_clients(first) == render_observed_clients(second)
    assert not first.unread
    found = {str(name): topic for name, topic in first.topics.items()}
    library = first.topics[_PLAIN].subscriptions[0].clients
    assert [name.partition("-v")[0] for name in library] == ["Pulsar-CPP"]
    assert [
        (each.name, each.type, each.is_durable, each.clients, each.backlog)
        for each in found["t/n/plain"].subscriptions
    ] == [
        ("exclusive", "Exclusive", True, library, 0),
        ("failover", "Failover", True, library, 0),
        ("reader-*", "Exclusive", False, library, 0),
    ]
    assert [
        (each.name, each.type, each.clients, each.backlog)
        for each in found["t/n/parted"].subscriptions
    ] == [
        ("gone", "Exclusive", (), 1),
        ("key-shared", "Key_Shared", library, 1),
        ("shared", "Shared", library, 1),
    ]
    assert [(each.name, each.client) for each in found["t/n/parted"].producers] == [
        ("", *library),
        ("writer", *library),
    ]


def test_no_topic_is_deleted_because_its_clients_were_asked_for(
    broker: RunningBroker, tmp_path: Path
) -> None:
    """A broker loads a topic to show its statistics, and then deletes it where it is inactive."""
    admin = f"{broker.admin_url}/admin/v2"
    inactive_policies = f"{admin}/namespaces/t/n/inactiveTopicPolicies"
    admin_request("POST", inactive_policies, _KEEP_INACTIVE_TOPICS)
    admin_request("PUT", f"{admin}/persistent/{_UNUSED}")
    admin_request("POST", f"{admin}/schemas/{_UNUSED}/schema", _SCHEMA)
    admin_request("PUT", f"{admin}/persistent/{_UNUSED}/subscription/s")
    admin_request("PUT", f"{admin}/persistent/{_UNUSED}/unload")
    used = _observe(broker, [_UNUSED], tmp_path)
    admin_request("DELETE", f"{admin}/persistent/{_UNUSED}/subscription/s")
    admin_request("PUT", f"{admin}/persistent/{_UNUSED}/unload")
    admin_request("DELETE", inactive_policies)
    admin_request("PUT", f"{admin}/persistent/t/n/marker")

    left = _observe(broker, [_UNUSED], tmp_path)

    assert [each.name for each in used.topics[_UNUSED].subscriptions] == ["s"]
    assert "no subscription" in left.unread[_UNUSED]
    short_lived = _short_lived(broker, [_UNUSED, _PARTED, TopicName.parse("t/n/never")], tmp_path)
    assert (short_lived.topics, short_lived.unread) == ((_UNUSED,), {})
    deadline = time.monotonic() + _PATIENCE
    while "persistent://t/n/marker" in json.loads(admin_request("GET", f"{admin}/persistent/t/n")):
        assert time.monotonic() < deadline
        threading.Event().wait(0.2)
    listed = json.loads(admin_request("GET", f"{admin}/persistent/t/n"))
    assert f"persistent://{_UNUSED}" in listed
