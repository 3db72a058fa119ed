"""Real clients, and topics that are partitioned, not persistent, or have policies of their own."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.broker.connection import (
    Admission,
    ConnectionPolicies,
    ConnectionTarget,
    Offer,
    connection_policies,
)
from gitops.broker.consumer_connection import admit_consumer
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.producer_connection import admit_producer
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    PolicyChange,
    PolicyValue,
    TopicPolicies,
)
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.schemas.payload import to_stored
from tests.support.admin_rest import admin_request
from tests.support.client_schemas import KNOWN, offers_of
from tests.support.pulsar_binary import BinaryClient, binary_client
from tests.support.pulsar_broker import RunningBroker

pytestmark = pytest.mark.broker

AVRO: Final = offers_of(SchemaType.AVRO)
SECONDS: Final = 30
UNTIL_IT_GIVES_UP: Final = 5


@pytest.fixture(autouse=True)
def _with_service_url(pulsar: RunningBroker) -> None:
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")


@pytest.fixture
def client(pulsar: RunningBroker) -> Iterator[BinaryClient]:
    with binary_client(pulsar.service_url) as client:
        yield client


@pytest.fixture
def namespace(pulsar: RunningBroker) -> Callable[..., NamespaceName]:
    """Makes a namespace of these policies, as admin REST calls them."""

    def make(**policies: object) -> NamespaceName:
        name = NamespaceName(f"t-{uuid.uuid4().hex[:10]}", "clients")
        tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
        admin_request("PUT", f"{pulsar.admin_url}/admin/v2/tenants/{name.tenant}", tenant)
        admin_request("PUT", f"{pulsar.admin_url}/admin/v2/namespaces/{name}", policies)
        return name

    return make


def idle(policies: ConnectionPolicies) -> ConnectionTarget:
    return ConnectionTarget(history=StoredHistory(), policies=policies, use="idle", line=PULSAR_4_0)


@pytest.fixture(params=[True, False], ids=["update", "no update"])
def python_client(
    request: pytest.FixtureRequest, pulsar: RunningBroker, namespace: Callable[..., NamespaceName]
) -> Iterator[tuple[Any, NamespaceName, ConnectionPolicies]]:
    pulsar_client = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
    client = pulsar_client.Client(pulsar.service_url, operation_timeout_seconds=UNTIL_IT_GIVES_UP)
    name = namespace(
        is_allow_auto_update_schema=request.param, schema_validation_enforced=not request.param
    )
    policies = ConnectionPolicies(
        strategy=Strategy.FULL,
        allows_auto_update=request.param,
        enforces_validation=not request.param,
    )
    yield client, name, policies
    client.close()


def raw(schema: StoredSchema | None) -> Any:  # noqa: ANN401 - the client has no types
    """A schema of the Python client with exactly this text."""
    import _pulsar
    import pulsar

    class Raw(pulsar.schema.Schema):  # type: ignore[misc]  # as above
        def __init__(self, kind: str, text: str) -> None:
            self._schema_info = _pulsar.SchemaInfo(_pulsar.SchemaType.__members__[kind], "s", text)

    return Raw(schema.type.value, schema.data.decode()) if schema else Raw("BYTES", "")


def test_the_python_client_ends_where_we_say(
    python_client: tuple[Any, NamespaceName, ConnectionPolicies], pulsar: RunningBroker
) -> None:
    client, name, policies = python_client
    topic = TopicName(name, "python")
    history = admit_producer(idle(ConnectionPolicies(strategy=Strategy.FULL)), AVRO[KNOWN])
    place = replace(idle(policies), history=history.history_after(StoredHistory()))
    registry = open_registry("test", PulsarConfig(url=pulsar.admin_url), Path())
    registry.register_schema(topic, SchemaInfo(type=SchemaType.AVRO, schema=text_of(AVRO[KNOWN])))
    registry.close()
    # The C++ client below does not send an INT32: to the broker it is a client without a schema.
    bare = StoredSchema(type=SchemaType.INT32, data=b"")
    offers: list[tuple[StoredSchema | None, Offer]] = [
        *((AVRO[each], AVRO[each]) for each in (KNOWN, "neither", "forward", "both ways")),
        (to_stored(SchemaInfo(type=SchemaType.STRING)),) * 2,
        (None, "NONE"),
        (bare, "NONE"),
    ]
    for sent, offer in offers:
        consumer, producer = admit_consumer(place, offer), admit_producer(place, offer)
        schema = raw(sent)
        subscribe = partial(client.subscribe, str(topic), "python", schema=schema)
        assert end(subscribe) == error_of(consumer), offer
        create = partial(client.create_producer, str(topic), schema=schema)
        assert end(create) == error_of(producer), offer
        place = replace(place, history=producer.history_after(place.history))


def text_of(schema: StoredSchema) -> str:
    return schema.data.decode()


def end(connect: Callable[[], Any]) -> str | None:
    """The name of the exception, None if the client is let in; closed again."""
    import pulsar

    try:
        connect().close()
    except pulsar.PulsarException as error:
        return type(error).__name__
    return None


def error_of(admission: Admission) -> str | None:
    return admission.error


def test_a_topics_own_policies_come_before_its_namespaces(
    pulsar: RunningBroker, client: BinaryClient, namespace: Callable[..., NamespaceName]
) -> None:
    name = namespace(schema_compatibility_strategy="FULL", schema_validation_enforced=True)
    topic = TopicName(name, "own")
    admin_request("PUT", f"{pulsar.admin_url}/admin/v2/persistent/{topic}")
    url = f"persistent://{topic}"
    client.look_up(url)
    client.close_producer(client.produce(url, AVRO[KNOWN])[0])
    above = NamespacePolicies(
        schema_compatibility_strategy=Strategy.FULL, schema_validation_enforced=True
    )
    policies = connection_policies(topic, TopicPolicies(), above, BrokerSettings())
    first = admit_producer(idle(policies), AVRO[KNOWN])
    place = replace(idle(policies), history=first.history_after(StoredHistory()))
    refused: list[tuple[Offer, StoredSchema | None]] = [
        (AVRO["neither"], AVRO["neither"]),
        ("NONE", None),
    ]
    for offer, sent in refused:
        admission = admit_producer(place, offer)
        assert client.produce(url, sent)[1].error == admission.error == "IncompatibleSchema"

    own = TopicPolicies(
        schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE, schema_validation_enforced=False
    )
    values: dict[str, PolicyValue] = {
        "schemaCompatibilityStrategy": Strategy.ALWAYS_COMPATIBLE,
        "schemaValidationEnforced": False,
    }
    registry = open_registry("test", PulsarConfig(url=pulsar.admin_url), Path())
    changes = [PolicyChange(key=key, before=None, after=each) for key, each in values.items()]
    registry.set_policies(topic, changes)
    registry.close()
    place = replace(place, policies=connection_policies(topic, own, above, BrokerSettings()))
    assert admit_producer(place, "NONE").accepted
    until(lambda: client.produce(url, None)[1].error is None)
    admission = admit_producer(place, AVRO["neither"])
    until(lambda: client.produce(url, AVRO["neither"])[1].version == admission.version == 1)


def until(holds: Callable[[], bool]) -> None:
    """Ask again until it holds: a broker hears of a topic's policies a moment later."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it does not come true"


def test_each_partition_is_asked_by_itself(
    pulsar: RunningBroker, client: BinaryClient, namespace: Callable[..., NamespaceName]
) -> None:
    name = namespace(schema_compatibility_strategy="ALWAYS_INCOMPATIBLE")
    url = f"{pulsar.admin_url}/admin/v2/persistent/{name}/parts/partitions"
    admin_request("PUT", url, 2)
    policies = ConnectionPolicies(strategy=Strategy.ALWAYS_INCOMPATIBLE)
    seeded = admit_consumer(idle(policies), AVRO[KNOWN])
    assert "further partitions" in seeded.notes[0]
    place = replace(idle(policies), history=seeded.history_after(StoredHistory()))
    again = admit_consumer(place, AVRO[KNOWN])
    errors = []
    for number in (0, 1, 0):
        partition = f"persistent://{name}/parts-partition-{number}"
        client.look_up(partition)
        errors.append(client.subscribe(partition, AVRO[KNOWN])[1].error)
    assert errors == [seeded.error, again.error, again.error]


def test_a_non_persistent_topic_shares_history_and_namespace(
    client: BinaryClient, namespace: Callable[..., NamespaceName]
) -> None:
    name = namespace(schema_compatibility_strategy="BACKWARD", schema_validation_enforced=True)
    policies = ConnectionPolicies(strategy=Strategy.BACKWARD, enforces_validation=True)
    place = idle(policies)
    lasting, passing = (f"{domain}://{name}/both" for domain in ("persistent", "non-persistent"))
    for url in (lasting, passing):
        client.look_up(url)
    for url, offer in (
        (passing, AVRO["invalid"]),
        (passing, AVRO[KNOWN]),
        (lasting, AVRO["neither"]),
        (passing, AVRO["neither"]),
        (passing, AVRO["backward"]),
        (lasting, AVRO["backward"]),
    ):
        consumer, reply = client.subscribe(url, offer)
        admission = admit_consumer(place, offer)
        assert reply.error == admission.error, (url, offer)
        place = replace(place, history=admission.history_after(place.history))
        if reply.error is None:
            client.close_consumer(consumer)
        admission = admit_producer(place, offer)
        _, reply = client.produce(url, offer)
        assert (reply.error, reply.version) == (admission.error, admission.version)
        place = replace(place, history=admission.history_after(place.history))
    assert client.produce(passing, None)[1].error == admit_producer(place, "NONE").error


@pytest.mark.parametrize("domain", ["persistent", "non-persistent"])
@pytest.mark.parametrize(
    ("namespace", "name"),
    [
        ("", "__transaction_pending_ack"),
        ("", "orders-sub__transaction_pending_ack"),
        ("", "__transaction_pending_ack-x"),
        ("", "__transaction_buffer_snapshot"),
        ("", "__transaction_log_0"),
        ("", "transaction_coordinator_assign"),
        ("pulsar/system", "__transaction_log_0"),
        ("pulsar/system", "transaction_coordinator_assign"),
    ],
)
def test_topics_that_brokers_keep_for_transactions(
    namespace: str,
    name: str,
    domain: str,
    pulsar: RunningBroker,
    pulsar_namespace: NamespaceName,
) -> None:
    pulsar_client = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
    topic = TopicName.parse(f"{domain}://{namespace or pulsar_namespace}/{name}")
    connection = pulsar_client.Client(pulsar.service_url, operation_timeout_seconds=SECONDS)
    text = f"{domain}://{topic.namespace}/{topic.local_name}"
    refused = []
    connects: list[Callable[[], Any]] = [
        lambda: connection.create_producer(text),
        lambda: connection.subscribe(text, "s"),
    ]
    try:
        for connect in connects:
            try:
                connect().close()
            except pulsar_client.NotAllowedError:
                refused.append(True)
            else:
                refused.append(False)
    finally:
        connection.close()

    assert refused == [topic.is_of_transactions] * 2
