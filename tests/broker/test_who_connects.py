"""Random changes on a real broker: real clients that are locked out are named by the reports.

Messages of every version are stored before the change, and decoded before and after it.

`CONNECT_BROKER_RUNS=200` in the environment carries out so many changes, `CONNECT_SEED` others.
Before each look the namespace is unloaded, so that every client meets the policies as they are.
What Python's client does not send, pairs with their properties and numbers, goes over the binary
protocol.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from gitops.broker.connection import Offer
from gitops.cli.app import run
from gitops.model.decision import StoredSchema
from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaType
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.replay.kernel.schema_types import row_reader_for
from gitops.schemas.payload import stored_history
from tests.support.admin_rest import admin_request
from tests.support.connecting_clients import (
    Client,
    Command,
    RandomRegistry,
    carry_out,
    payload_of,
    unreported,
)
from tests.support.git_repos import GitRepository
from tests.support.pulsar_binary import BinaryClient, binary_client
from tests.support.pulsar_broker import RunningBroker

pytestmark = pytest.mark.broker

_RUNS: Final = int(os.environ.get("CONNECT_BROKER_RUNS", "6"))
_SEED: Final = int(os.environ.get("CONNECT_SEED", "1"))
_SECONDS: Final = 20
_TRIES: Final = 200
_TIMEOUTS: Final = 3
_NOT_SENT: Final = (SchemaType.KEY_VALUE, SchemaType.INT32, SchemaType.INT64)
_Client = Any  # pulsar-client has no types
_Schema = Any


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line; answers its exit code and what it printed to stdout."""

    def call(*args: str) -> tuple[int, str]:
        capsys.readouterr()
        code = run(list(args))
        return code, capsys.readouterr().out

    return call


@pytest.fixture
def client(pulsar: RunningBroker) -> Iterator[_Client]:
    pulsar_client = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    client = pulsar_client.Client(
        pulsar.service_url,
        operation_timeout_seconds=_SECONDS,
        logger=pulsar_client.ConsoleLogger(pulsar_client.LoggerLevel.Error),
    )
    yield client
    client.close()


def _raw(offer: Offer) -> _Schema:
    """A schema of the Python client with exactly this text."""
    import _pulsar
    import pulsar

    class Raw(pulsar.schema.Schema):  # type: ignore[misc]  # as above
        def __init__(self, kind: str, text: str) -> None:
            self._schema_info = _pulsar.SchemaInfo(_pulsar.SchemaType.__members__[kind], "s", text)

        def encode(self, obj: bytes) -> bytes:
            return obj

    return (
        Raw(offer.type.value, offer.data.decode())
        if isinstance(offer, StoredSchema)
        else Raw("BYTES", "")
    )


def _connects(connect: Callable[[], Any]) -> bool:
    import pulsar

    for _ in range(_TIMEOUTS):
        try:
            connect().close()
        except pulsar.Timeout:
            continue  # a bundle that is loaded again, with the policies of its topics
        except pulsar.PulsarException:
            return False
        return True
    raise AssertionError("the broker does not answer")


def _connecting(client: _Client, service_url: str, clients: dict[Client, Offer]) -> set[Client]:
    """Those of the clients that a broker lets in."""
    found = set()
    for (topic, role, name), offer in clients.items():
        if isinstance(offer, StoredSchema) and offer.type in _NOT_SENT:
            connected = _binary_connects(service_url, f"persistent://{topic}", role, offer)
        else:
            schema = _raw(offer)
            if role == "consumer":
                connected = _connects(lambda: client.subscribe(topic, "s", schema=schema))  # noqa: B023
            else:
                connected = _connects(lambda: client.create_producer(topic, schema=schema))  # noqa: B023
        if connected:
            found.add((topic, role, name))
    return found


def _binary_connects(service_url: str, topic: str, role: str, offer: StoredSchema) -> bool:
    """Right after an unload a broker may ask clients to try again, as client libraries do."""
    with binary_client(service_url) as client:
        connect = client.subscribe if role == "consumer" else client.produce
        for _ in range(_TRIES):
            reply = connect(_partition(client, topic), offer)[1]
            if reply.error in (None, "IncompatibleSchema"):
                return reply.error is None
    raise AssertionError(reply)


def _partition(client: BinaryClient, topic: str) -> str:
    """The first partition, of a topic that has some; its bundle is loaded."""
    name = f"{topic}-partition-0" if client.count_partitions(topic) else topic
    client.look_up(name)
    return name


def _write_messages(client: _Client, service_url: str, world: RandomRegistry) -> None:
    """Store a message of every live version, and have a subscription keep it."""
    import pulsar

    for topic, state in world.observe().topics.items():
        name = f"persistent://{topic}"
        earliest = pulsar.InitialPosition.Earliest
        client.subscribe(name, "keep", initial_position=earliest).close()
        stored_versions = stored_history(state.history).entries
        for entry, (_, stored) in zip(state.history.entries, stored_versions, strict=True):
            info = entry.info
            if info.type in _NOT_SENT:
                with binary_client(service_url) as binary:
                    producer, reply = binary.produce(_partition(binary, name), stored)
                    assert reply.version is not None
                    binary.send(producer, payload_of(info), version=reply.version)
            else:
                python_producer = client.create_producer(name, schema=_raw(stored))
                python_producer.send(payload_of(info))
                python_producer.close()


def _decoded(
    client: _Client, world: RandomRegistry, counts: dict[TopicName, int]
) -> dict[tuple[str, str, str], object]:
    """What readers get from every stored message, by topic, reader and message.

    Readers are Python's with each AVRO version that may connect, and one that decodes with the
    schema of the version that a message carries, as AUTO_CONSUME does.
    """
    import pulsar

    values: dict[tuple[str, str, str], object] = {}
    state = world.observe()
    for topic, count in counts.items():
        infos = {entry.version: entry.info for entry in state.topics[topic].history.entries}
        messages = _messages(client, topic, pulsar.schema.BytesSchema(), count)
        assert messages is not None
        for message in messages:
            # As the client's own schemas ask it: `schema_version()` is text with zeros in it.
            info = infos[message._message.int_schema_version()]  # noqa: SLF001
            key = str(topic), "AUTO_CONSUME", str(message.message_id())
            values[key] = row_reader_for(info, info).read(message.data())
        for version, info in infos.items():
            if info.type is not SchemaType.AVRO:
                continue
            schema = pulsar.schema.AvroSchema(None, schema_definition=json.loads(info.schema))
            for message in _messages(client, topic, schema, count) or ():
                key = str(topic), f"v{version}", str(message.message_id())
                try:
                    values[key] = message.value()
                except Exception as error:  # noqa: BLE001 - whatever the client raises is compared
                    values[key] = type(error)
    return values


def _messages(client: _Client, topic: TopicName, schema: _Schema, count: int) -> list[Any] | None:
    """So many messages of a topic; None if a consumer with this schema may not connect."""
    import pulsar

    earliest = pulsar.InitialPosition.Earliest
    name = f"read-{uuid.uuid4().hex[:10]}"
    try:
        consumer = client.subscribe(str(topic), name, schema=schema, initial_position=earliest)
    except pulsar.PulsarException:
        return None
    try:
        return [consumer.receive(1000 * _SECONDS) for _ in range(count)]
    finally:
        consumer.unsubscribe()
        consumer.close()


def _change(
    seed: int,
    folder: Path,
    pulsar: RunningBroker,
    client: _Client,
    command: Command,
) -> tuple[set[Client], list[tuple[str, Client]]] | None:
    """The real clients that a random change locks out; None if it was not applied."""
    random = Random(seed)  # noqa: S311 - a test that can be repeated
    space = NamespaceName(f"t-{uuid.uuid4().hex[:10]}", "clients")
    admin = f"{pulsar.admin_url}/admin/v2"
    tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
    admin_request("PUT", f"{admin}/tenants/{space.tenant}", tenant)
    admin_request("PUT", f"{admin}/namespaces/{space}")
    settings = (
        "apiVersion: pulsar-gitops/v1\nkind: Config\n"
        f"registries:\n  live: {{kind: pulsar, url: '{pulsar.admin_url}'}}\n"
        "safety: {maxChangedShare: 1.0}\n"
    )
    registry = open_registry("live", PulsarConfig(url=pulsar.admin_url), folder)
    try:
        world = RandomRegistry(random, space, GitRepository(folder), registry, settings)
        world.fill(lambda: _write_messages(client, pulsar.service_url, world))
        counts = {
            topic: len(state.history.entries)
            for topic, state in world.observe().topics.items()
            if state.history.entries
        }
        world.change()
        candidates = {
            each: offer
            for each, offer in world.connecting().items()
            if not each[2].startswith("AUTO")
        }
        admin_request("PUT", f"{admin}/namespaces/{space}/unload")
        before = _connecting(client, pulsar.service_url, candidates)
        refused = candidates.keys() - before
        assert not refused, f"the broker's rules are others: CONNECT_SEED={seed}"
        values = _decoded(client, world, counts)
        stored = [key for key in values if key[1] == "AUTO_CONSUME"]
        assert len(stored) == sum(counts.values()), f"messages are missing: CONNECT_SEED={seed}"
        applied = carry_out(world, command, approve=random.random() < 0.7)
        if applied is None:
            return None
        admin_request("PUT", f"{admin}/namespaces/{space}/unload")
        after = _connecting(client, pulsar.service_url, candidates)
        differ = after ^ (before & world.connecting().keys())
        assert not differ, f"the broker's rules are others: CONNECT_SEED={seed}"
        decoded = _decoded(client, world, counts)
        assert {key: value for key, value in values.items() if key in decoded}.items() <= (
            decoded.items()
        ), f"stored messages are decoded otherwise: CONNECT_SEED={seed}"
        assert all(
            key in decoded or (key[0], "consumer", key[1]) in before - after for key in values
        ), f"stored messages are no longer read: CONNECT_SEED={seed}"
    finally:
        registry.close()
    return before - after, unreported(before - after, applied)


@pytest.mark.timeout(max(600, 60 * _RUNS))
def test_real_clients_that_are_locked_out_are_named(
    tmp_path: Path,
    pulsar: RunningBroker,
    client: _Client,
    command: Command,
) -> None:
    done, seed, locked_out = 0, _SEED, 0
    while done < _RUNS and seed < _SEED + 10 * _RUNS:
        outcome = _change(seed, tmp_path / str(seed), pulsar, client, command)
        if outcome is not None:
            done += 1
            lost, silent = outcome
            locked_out += bool(lost)
            assert silent == [], f"CONNECT_SEED={seed}"
        seed += 1

    assert done == _RUNS
    assert locked_out >= max(1, _RUNS // 10)  # else the changes are too harmless to show anything
