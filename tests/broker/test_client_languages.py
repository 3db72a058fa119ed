"""Python's real client on a real broker: what it reads after changes that Java's readers take."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from gitops.model.clients import language_of
from gitops.model.names import TopicName
from gitops.ports import ClientSource
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.schemas.avro.client_reading import find_misreadings
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.client_profiles import Decoding
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import BrokerUnavailableError, RunningBroker, pulsar_broker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pulsar = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
pytestmark = [
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:The .warn. method is deprecated"),
]

Json = Any


def _record(name: str, /, **fields: Json) -> Json:
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": key, **value} for key, value in fields.items()],
    }


def _point(name: str, **more: Json) -> Json:
    return {"type": {**_record(name, x={"type": "int"}), **more}}


_NUMBER: Json = {"type": ["null", "int"], "default": None}
_SHIP = _record("Ship", at=_point("Pos"), crew=_NUMBER, berths=_NUMBER)
_SENT = {"at": {"x": 5}, "crew": 7, "berths": 900}
_ENUM: Json = {"type": "enum", "name": "Kind", "symbols": ["A", "B", "C"]}

_CHANGES: dict[str, tuple[Json, Json, Json, Json, bool]] = {
    "renamed": (
        _SHIP,
        _record("Ship", at=_point("Point"), berth=_NUMBER, crew=_NUMBER),
        _SENT,
        {"at": {"x": 5}, "berth": 7, "crew": 900},
        True,
    ),
    "renamed-alone": (
        _SHIP,
        _record("Ship", at=_point("Point"), crew=_NUMBER, berths=_NUMBER),
        _SENT,
        _SENT,
        False,
    ),
    "renamed-with-alias": (
        _SHIP,
        _record("Ship", at=_point("Point", aliases=["Pos"]), berth=_NUMBER, crew=_NUMBER),
        _SENT,
        {"at": {"x": 5}, "berth": None, "crew": 7},
        False,
    ),
    "top-renamed": (
        _SHIP,
        _record("Boat", at=_point("Pos"), berth=_NUMBER, crew=_NUMBER),
        _SENT,
        {"at": {"x": 5}, "berth": None, "crew": 7},
        False,
    ),
    "branches": (
        _record("Ship", name={"type": ["null", "string"]}),
        _record("Ship", name={"type": ["null", "bytes", "string"]}),
        {"name": "Argo"},
        {"name": b"Argo"},
        True,
    ),
    "symbols": (
        _record("Ship", kind={"type": _ENUM}),
        _record("Ship", kind={"type": {**_ENUM, "symbols": ["A", "C"]}}),
        {"kind": "B"},
        {"kind": "C"},
        True,
    ),
    "default-of-bytes": (
        _record("Ship", crew=_NUMBER),
        _record("Ship", crew=_NUMBER, seal={"type": "bytes", "default": "\u00ff"}),
        {"crew": 7},
        {"crew": 7, "seal": "\u00ff"},
        True,
    ),
}
"""The writer's definition, the reader's, a message, what the client returns, whether that differs
from what Java reads."""


@pytest.fixture(scope="module")
def broker() -> Iterator[RunningBroker]:
    try:
        with pulsar_broker() as running:
            admin = f"{running.admin_url}/admin/v2"
            admin_request("PUT", f"{admin}/tenants/lang", {"allowedClusters": ["standalone"]})
            admin_request("PUT", f"{admin}/namespaces/lang/n", {})
            yield running
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


@pytest.fixture(scope="module")
def client(broker: RunningBroker) -> Iterator[Any]:
    logger = pulsar.FileLogger(pulsar.LoggerLevel.Error, "/dev/null")
    found = pulsar.Client(broker.service_url, logger=logger)
    yield found
    found.close()


@pytest.mark.parametrize("name", _CHANGES)
def test_the_client_reads_a_message_of_an_older_version(
    broker: RunningBroker,
    client: Any,  # noqa: ANN401 - the client has no types
    name: str,
) -> None:
    writer, reader, sent, expected, is_misread = _CHANGES[name]
    topic = f"persistent://lang/n/{name}"
    schema = pulsar.schema.AvroSchema
    subscription = client.subscribe(topic, "first", schema=schema(None, writer))
    producer = client.create_producer(topic, schema=schema(None, writer))
    producer.send(sent)
    producer.close()
    subscription.close()
    body = {"type": "AVRO", "schema": json.dumps(reader), "properties": {}}
    url = f"{broker.admin_url}/admin/v2/schemas/lang/n/{name}/schema"
    admin_request("POST", url, body)  # the broker takes the change

    logging.disable(logging.CRITICAL)
    try:
        consumer = client.subscribe(
            topic,
            "second",
            initial_position=pulsar.InitialPosition.Earliest,
            schema=schema(None, reader),
        )
        value = consumer.receive(timeout_millis=30_000).value()
        consumer.close()
    finally:
        logging.disable(logging.NOTSET)

    texts = (json.dumps(one).encode() for one in (writer, reader))
    found = find_misreadings(AVRO_1_11, Decoding.FASTAVRO, *texts)
    assert value == expected
    assert bool(found) is is_misread


def test_the_client_of_python_calls_itself_as_that_of_cpp(
    broker: RunningBroker,
    client: Any,  # noqa: ANN401 - the client has no types
    tmp_path: Path,
) -> None:
    topic = TopicName.parse("lang/n/plain")
    consumer = client.subscribe(f"persistent://{topic}", "audit")
    registry = open_registry("test", PulsarConfig(url=broker.admin_url), tmp_path)
    assert isinstance(registry, ClientSource)
    try:
        observed = registry.observe_clients([topic])
    finally:
        registry.close()
        consumer.close()

    ((library,),) = (one.clients for one in observed.topics[topic].subscriptions)
    assert library.startswith("Pulsar-CPP-v")
    assert language_of(library) == "python"
