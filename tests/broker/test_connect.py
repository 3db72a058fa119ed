"""Who may connect, cell by cell: what we say offline and what a broker answers a client."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import pytest

from gitops.broker.connection import (
    Admission,
    ConnectionPolicies,
    ConnectionTarget,
    Offer,
    TopicUse,
)
from gitops.broker.consumer_connection import admit_consumer
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.producer_connection import admit_producer
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaType
from gitops.model.state import Scope
from gitops.ports import Registry
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.schemas.payload import to_info
from tests.support.admin_rest import admin_request
from tests.support.client_schemas import KNOWN, offers_of
from tests.support.pulsar_binary import BinaryClient, Reply, binary_client
from tests.support.pulsar_broker import RunningBroker

pytestmark = pytest.mark.broker

TYPES: Final = (
    SchemaType.AVRO,
    SchemaType.JSON,
    SchemaType.PROTOBUF,
    SchemaType.PROTOBUF_NATIVE,
    SchemaType.KEY_VALUE,
    SchemaType.STRING,
    SchemaType.INT64,
)
STRATEGIES: Final = [each for each in Strategy if each is not Strategy.UNDEFINED]
POLICIES: Final = [
    # Auto-update is about clients with a schema, validation about those without: the four
    # combinations of both are only crossed for one strategy.
    ConnectionPolicies(strategy=each, allows_auto_update=update, enforces_validation=enforced)
    for each in STRATEGIES
    for update, enforced in itertools.product((True, False), repeat=2)
    if update is not enforced or each is Strategy.FULL
]
_ASKED_BOTH: Final = (SchemaType.AVRO, SchemaType.KEY_VALUE, SchemaType.STRING)
SCHEMALESS: Final[tuple[Offer, ...]] = ("NONE", "AUTO_PRODUCE", "AUTO_CONSUME")
AUTO_CONSUME: Final = StoredSchema(type=SchemaType.AUTO_CONSUME, data=b"")


@dataclass(slots=True)
class World:
    """One topic on the broker, what we believe of it, and where the two did not agree."""

    client: BinaryClient
    topic: TopicName
    place: ConnectionTarget
    differences: list[str] = field(default_factory=list)
    asked: int = 0

    def __post_init__(self) -> None:
        self.client.look_up(self.url)

    @property
    def url(self) -> str:
        return f"{self.topic.domain}://{self.topic.namespace}/{self.topic.local_name}"

    def consumer(self, what: str, offer: Offer) -> None:
        """Ask for a consumer and close it again."""
        admission = admit_consumer(self.place, offer)
        sent = AUTO_CONSUME if offer == "AUTO_CONSUME" else admission.sent
        consumer, reply = self.client.subscribe(self.url, sent)
        if reply.error is None:
            self.client.close_consumer(consumer)
        self._compare(f"consumer {what}", admission, reply, version=None)

    def producer(self, what: str, offer: Offer) -> None:
        """Ask for a producer and close it again."""
        admission = admit_producer(self.place, offer)
        producer, reply = self.client.produce(self.url, admission.sent)
        if reply.error is None:
            self.client.close_producer(producer)
        self._compare(f"producer {what}", admission, reply, version=admission.version)

    def message(self, what: str, offer: Offer) -> None:
        """Ask for the version of a further schema, as a connected producer does."""
        admission = admit_producer(self.place, offer, "getOrCreateSchema")
        reply = self.client.get_or_create(self.url, admission.sent)
        self._compare(f"message {what}", admission, reply, version=admission.version)

    def _compare(self, who: str, admission: Admission, reply: Reply, version: int | None) -> None:
        """`version` is the one that the broker tells such a client."""
        self.asked += 1
        if (admission.error, version) != (reply.error, reply.version):
            ours = f"{admission.error} v{version} ({admission.decision.reason})"
            theirs = f"{reply.error} v{reply.version} {reply.message[:300]}"
            self.differences.append(
                f"{self.topic.local_name} {self.place.policies} {who} "
                f"on {[v for v, _ in self.place.history.entries]}: we {ours}, they {theirs}"
            )
        if reply.error is None:
            self.place = replace(self.place, history=admission.history_after(self.place.history))


@dataclass(frozen=True, slots=True)
class Cells:
    """The namespace of one combination of policies."""

    registry: Registry
    client: BinaryClient
    namespace: NamespaceName
    policies: ConnectionPolicies

    def world(self, name: str, use: TopicUse = "idle") -> World:
        place = ConnectionTarget(
            history=StoredHistory(), policies=self.policies, use=use, line=PULSAR_4_0
        )
        return World(self.client, TopicName(self.namespace, name), place)

    def upload(self, world: World, schema: StoredSchema) -> None:
        """Register by REST, which takes a first schema also where clients may not register."""
        place = replace(world.place, policies=replace(self.policies, allows_auto_update=True))
        admission = admit_producer(place, schema)
        self.registry.register_schema(world.topic, to_info(schema))
        world.place = replace(world.place, history=admission.history_after(place.history))


def id_of(policies: ConnectionPolicies) -> str:
    words = [policies.strategy.value]
    words += ["update"] if policies.allows_auto_update else []
    words += ["enforced"] if policies.enforces_validation else []
    return "-".join(words)


@pytest.fixture
def client(pulsar: RunningBroker) -> Iterator[BinaryClient]:
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    with binary_client(pulsar.service_url) as client:
        yield client


@pytest.fixture
def registry(pulsar: RunningBroker) -> Iterator[Registry]:
    registry = open_registry("test", PulsarConfig(url=pulsar.admin_url), Path())
    yield registry
    registry.close()


@pytest.fixture
def tenant(pulsar: RunningBroker) -> str:
    name = f"t-{uuid.uuid4().hex[:10]}"
    body = {"adminRoles": [], "allowedClusters": ["standalone"]}
    admin_request("PUT", f"{pulsar.admin_url}/admin/v2/tenants/{name}", body)
    return name


@pytest.mark.parametrize("policies", POLICIES, ids=id_of)
def test_every_cell(
    policies: ConnectionPolicies,
    pulsar: RunningBroker,
    registry: Registry,
    client: BinaryClient,
    tenant: str,
) -> None:
    namespace = NamespaceName(tenant, "cells")
    body = {
        "schema_compatibility_strategy": policies.strategy.value,
        "is_allow_auto_update_schema": policies.allows_auto_update,
        "schema_validation_enforced": policies.enforces_validation,
    }
    admin_request("PUT", f"{pulsar.admin_url}/admin/v2/namespaces/{namespace}", body)
    cells = Cells(registry, client, namespace, policies)
    worlds = [*_idle(cells), *_with_history(cells), *_in_use(cells)]
    differences = [line for world in worlds for line in world.differences]
    assert differences == []
    assert sum(world.asked for world in worlds) > 200
    _require_same_versions(registry, worlds)


def _idle(cells: Cells) -> Iterator[World]:
    """Topics that have nothing yet: the first consumer seeds one, if it may."""
    for kind in TYPES:
        for first in offers_of(kind):
            world = cells.world(f"idle-{kind.value}-{first.replace(' ', '-')}")
            world.consumer("NONE", "NONE")
            world.consumer("AUTO_CONSUME", "AUTO_CONSUME")
            world.producer("AUTO_PRODUCE", "AUTO_PRODUCE")
            for again in ("", " again"):
                world.consumer(f"{first}{again}", offers_of(kind)[first])
            yield world


def _with_history(cells: Cells) -> Iterator[World]:
    """Topics with a schema, asked about everything, twice: what is new once is known later."""
    for kind in TYPES:
        # Both ends of a producer's schemas are one code: a request is asked for fewer types.
        asks = (World.producer, World.message) if kind in _ASKED_BOTH else (World.producer,)
        for ask in asks:
            world = cells.world(f"history-{kind.value}-{ask.__name__}")
            world.producer("NONE", "NONE")
            cells.upload(world, offers_of(kind)[KNOWN])
            offers: dict[str, Offer] = {**offers_of(kind), **{str(o): o for o in SCHEMALESS}}
            other = SchemaType.STRING if kind is not SchemaType.STRING else SchemaType.INT64
            offers["other type"] = StoredSchema(type=other, data=b"")
            for _ in range(2):
                for what, offer in offers.items():
                    if offer != "AUTO_PRODUCE":
                        world.consumer(what, offer)
                    if offer != "AUTO_CONSUME":
                        ask(world, what, offer)
            yield world


def _in_use(cells: Cells) -> Iterator[World]:
    """Topics in use without a schema: by a producer, by a consumer, by stored data."""
    for use in ("producer", "consumer", "data", "auto-consumer"):
        world = cells.world(f"used-by-{use}", "idle" if use == "auto-consumer" else "active")
        if use == "consumer":
            cells.client.subscribe(world.url, None)
        elif use == "auto-consumer":
            cells.client.subscribe(world.url, AUTO_CONSUME)
        else:
            producer, _ = cells.client.produce(world.url, None)
            if use == "data":
                cells.client.send(producer, b"x")
                cells.client.close_producer(producer)
        for kind in TYPES:
            world.consumer(kind.value, offers_of(kind)[KNOWN])
        world.producer("AVRO", offers_of(SchemaType.AVRO)[KNOWN])
        world.consumer("AVRO", offers_of(SchemaType.AVRO)[KNOWN])
        yield world


def _require_same_versions(registry: Registry, worlds: list[World]) -> None:
    """The histories that we kept by ourselves are those that the broker has."""
    state = registry.observe(Scope(topics=frozenset(world.topic for world in worlds)))
    for world in worlds:
        theirs = [(e.version, e.info.type) for e in state.topics[world.topic].history.entries]
        ours = [(version, schema.type) for version, schema in world.place.history.entries]
        assert theirs == ours, world.topic


@pytest.mark.parametrize("kind", [SchemaType.JSON, SchemaType.KEY_VALUE])
def test_a_definition_on_which_the_validator_fails(
    kind: SchemaType, pulsar: RunningBroker, tenant: str, client: BinaryClient
) -> None:
    namespace = NamespaceName(tenant, "cells")
    admin_request("PUT", f"{pulsar.admin_url}/admin/v2/namespaces/{namespace}", {})
    policies = ConnectionPolicies(strategy=Strategy.FULL)
    place = ConnectionTarget(
        history=StoredHistory(), policies=policies, use="idle", line=PULSAR_4_0
    )
    data = b'{"type": "nothing"}' if kind is SchemaType.JSON else b"{"
    rubbish = StoredSchema(type=kind, data=data)
    world = World(client, TopicName(namespace, "failing"), place)
    world.producer("NONE", "NONE")
    world.consumer("rubbish", rubbish)
    world.message("rubbish", rubbish)
    with binary_client(pulsar.service_url, patience=2) as impatient:
        world.client = impatient
        world.producer("rubbish", rubbish)
    assert world.differences == []
