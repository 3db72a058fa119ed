"""`connect client`: each topic of a client's manifest, now and after the pending plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.changes.client_connections import ClientConnections, connect_client
from gitops.changes.registries import registry_config
from gitops.changes.repository_plan import PlanRequest
from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    SchemaCompatibilityStrategy,
    TopicPolicies,
)
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, RegistryState
from gitops.ports import Registry
from gitops.repository.loader import load
from gitops.schemas.protobuf_native.client_envelopes import python_envelope
from tests.support.fake_registry import FakeRegistry
from tests.support.protos import native
from tests.support.states import CREATED, ORDERS, TODAY, avro, field, state, topic_state
from tests.support.trees import repository

PROTO = 'syntax = "proto3"; message Order { string id = 1; }'
NEW = TopicName(ORDERS, "new")
OLD_SCHEMA = avro(field("a", "int"))
WITH_DEFAULT = avro(field("a", "int"), field("b", "int", default=0))
WITHOUT_DEFAULT = avro(field("a", "int"), field("b", "int"))
BACKWARD = NamespacePolicies(
    schema_compatibility_strategy=SchemaCompatibilityStrategy.BACKWARD,
    is_allow_auto_update_schema=False,
)
NAMESPACE = "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
TOPIC = (
    "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: AVRO, definition: created.avsc}\n"
)


def _connections(
    uses: str,
    registry: FakeRegistry,
    *,
    namespace: str = "",
    schema: str | None = OLD_SCHEMA.schema,
    pin_source: Registry | None = None,
) -> ClientConnections:
    """The answers for client `billing` with these lines of its manifest."""
    client = f"apiVersion: pulsar-gitops/v1\nkind: Client\nname: billing\nowner: me\n{uses}\n"
    files = {
        "namespaces/shop/orders/namespace.yaml": NAMESPACE + namespace,
        "clients/billing.yaml": client,
        "clients/wide.avsc": WITHOUT_DEFAULT.schema,
        "clients/order.proto": PROTO,
    }
    if schema is not None:
        files["namespaces/shop/orders/created.yaml"] = TOPIC
        files["namespaces/shop/orders/created.avsc"] = schema
    loaded = load(repository(files))
    _, config = registry_config(loaded, None)
    request = PlanRequest(
        repository=loaded,
        registry=registry,
        config=config,
        locate=lambda _topic, _pointer: None,
        today=TODAY,
    )
    return connect_client("billing", request, pin_source)


def _answers(connections: ClientConnections) -> list[tuple[str, str]]:
    return [(one.now.verdict, one.after_plan.verdict) for one in connections.connections]


def _registry(
    *versions: object,
    policies: NamespacePolicies = BACKWARD,
    own: TopicPolicies | None = None,
    broker: BrokerSettings | None = None,
) -> FakeRegistry:
    found = topic_state(CREATED, *versions, policies=own)  # type: ignore[arg-type]
    return FakeRegistry(state(found, namespaces={ORDERS: policies}), broker=broker)


CONSUMES = "consumes: [{{topic: shop/orders/created, subscription: billing, schema: {}}}]"
PRODUCES = "produces: [{{topic: shop/orders/created, schema: {}}}]"


def test_registered_versions_are_accepted_now_and_after_the_plan() -> None:
    uses = f"{CONSUMES.format('{version: 0}')}\n{PRODUCES.format('{version: 0}')}"

    found = _connections(uses, _registry(OLD_SCHEMA))

    assert _answers(found) == [("yes", "yes"), ("yes", "yes")]
    assert found.accepted
    assert [(one.role, one.schema, one.subscription) for one in found.connections] == [
        ("consumer", "v0", "billing"),
        ("producer", "v0", ""),
    ]


def test_a_producer_waits_for_the_plan_that_registers_its_version() -> None:
    uses = PRODUCES.format("{version: 1}")

    found = _connections(uses, _registry(OLD_SCHEMA), schema=WITH_DEFAULT.schema)

    assert _answers(found) == [("no", "yes")]
    assert not found.accepted
    assert "auto updating is disabled" in found.connections[0].now.reason


def test_a_policy_of_the_pending_plan_locks_out_a_consumer() -> None:
    """Under FULL_TRANSITIVE even the latest version is refused where an older one differs."""
    uses = CONSUMES.format("{version: 1}")
    history = (avro(field("a", "long")), avro(field("a", "string")))

    found = _connections(
        uses,
        _registry(*history),
        namespace="schemaCompatibilityStrategy: FULL_TRANSITIVE\n",
        schema=history[-1].schema,
    )

    assert _answers(found) == [("yes", "no")]
    assert "v0" in found.connections[0].after_plan.reason


def test_a_refused_plan_leaves_the_answer_after_it_unknown() -> None:
    uses = CONSUMES.format("{version: 0}")

    found = _connections(uses, _registry(OLD_SCHEMA), schema=WITHOUT_DEFAULT.schema)

    assert _answers(found) == [("yes", "unknown")]
    assert not found.accepted
    assert "the plan cannot be applied" in found.connections[0].after_plan.reason


def test_a_consumer_with_its_own_definition_must_read_the_latest_version() -> None:
    uses = CONSUMES.format("{type: AVRO, definition: wide.avsc}")

    found = _connections(uses, _registry(OLD_SCHEMA))

    assert _answers(found) == [("no", "no")]
    assert found.connections[0].schema == "AVRO"
    assert "its schema cannot read messages of v0 at 'b'" in found.connections[0].now.reason


def test_a_version_that_nobody_has_is_unknown() -> None:
    found = _connections(CONSUMES.format("{version: 7}"), _registry(OLD_SCHEMA))

    assert _answers(found) == [("unknown", "unknown")]
    assert "has no v7" in found.connections[0].now.reason


def test_a_consumer_on_a_topic_without_schema_is_unknown() -> None:
    """An idle topic takes its schema, a topic in use refuses it."""
    uses = CONSUMES.format("{type: AVRO, definition: wide.avsc}")
    policies = replace(BACKWARD, is_allow_auto_update_schema=True)

    found = _connections(uses, _registry(policies=policies), schema=None)

    assert _answers(found) == [("unknown", "unknown")]
    assert "only while nobody uses the topic" in found.connections[0].now.reason


def test_a_consumer_that_is_always_let_in_may_register_its_schema_or_not() -> None:
    loose = replace(
        BACKWARD,
        schema_compatibility_strategy=SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE,
        is_allow_auto_update_schema=True,
    )

    found = _connections(CONSUMES.format("{type: STRING}"), _registry(policies=loose), schema=None)

    assert _answers(found) == [("yes", "yes")]
    assert found.connections[0].now.reason == (
        "it registers its schema as v0 if nobody uses the topic by then"
    )


def test_a_consumer_that_its_own_schema_keeps_out_is_refused() -> None:
    """Under ALWAYS_INCOMPATIBLE it is refused when it reconnects, or by the next partition."""
    strategy = SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE
    policies = NamespacePolicies(
        schema_compatibility_strategy=strategy, is_allow_auto_update_schema=True
    )
    uses = CONSUMES.format("{type: AVRO, definition: wide.avsc}")

    found = _connections(uses, _registry(policies=policies), schema=None)

    assert _answers(found) == [("no", "no")]
    assert "refused when it reconnects" in found.connections[0].now.reason


def test_what_the_client_itself_registers_counts_for_its_other_side() -> None:
    """Its producer registers a schema that the schema of its consumer cannot read."""
    policies = NamespacePolicies(
        schema_compatibility_strategy=SchemaCompatibilityStrategy.FORWARD,
        is_allow_auto_update_schema=True,
    )
    wide = "{type: AVRO, definition: wide.avsc}"
    uses = f"{CONSUMES.format('{version: 0}')}\n{PRODUCES.format(wide)}"
    strict = replace(policies, schema_compatibility_strategy=_FULL_TRANSITIVE)

    lenient = _connections(uses, _registry(OLD_SCHEMA, policies=policies), schema=None)
    refused = _connections(uses, _registry(OLD_SCHEMA, policies=strict), schema=None)

    assert _answers(lenient) == [("yes", "yes"), ("yes", "yes")]
    assert _answers(refused) == [("yes", "yes"), ("no", "no")]
    seeds = "consumes: [{topic: shop/orders/new, subscription: s, schema: {type: STRING}}]\n"
    seeds += "produces: [{topic: shop/orders/new, schema: {type: INT64}}]"
    both = _connections(seeds, FakeRegistry(state(topic_state(NEW), namespaces={ORDERS: policies})))
    assert _answers(both) == [("no", "no"), ("no", "no")]
    assert "once the client itself, as a producer" in both.connections[0].now.reason


_FULL_TRANSITIVE = SchemaCompatibilityStrategy.FULL_TRANSITIVE


def test_several_schemas_of_a_producer_are_further_requests() -> None:
    wide = "[{version: 0}, {type: AVRO, definition: wide.avsc}]"

    found = _connections(PRODUCES.format(wide), _registry(OLD_SCHEMA))

    assert _answers(found) == [("yes", "yes"), ("no", "no")]


def test_a_missing_namespace_comes_with_the_plan() -> None:
    missing = RegistryState(
        namespaces={ORDERS: NamespaceState(namespace=ORDERS, exists=False)},
        topics={CREATED: topic_state(CREATED)},
    )

    found = _connections(CONSUMES.format("AUTO_CONSUME"), FakeRegistry(missing))

    assert _answers(found) == [("no", "yes")]
    assert found.connections[0].now.reason == "there is no namespace 'shop/orders'"


def test_a_topic_that_cannot_be_read_is_unknown() -> None:
    registry = FakeRegistry(
        state(topic_state(CREATED, OLD_SCHEMA), namespaces={ORDERS: BACKWARD}),
        broken={CREATED: "no ledger"},
    )

    found = _connections(CONSUMES.format("AUTO_CONSUME"), registry)

    assert _answers(found) == [("unknown", "unknown")]
    assert "no ledger" in found.connections[0].now.reason


@pytest.mark.parametrize(("other", "verdict"), [("4.0.8", "yes"), ("6.1.0", "unknown")])
def test_every_release_in_the_cluster_must_accept(other: str, verdict: str) -> None:
    broker = BrokerSettings(release="4.0.7", other_releases=(other,))

    found = _connections(CONSUMES.format("{version: 0}"), _registry(OLD_SCHEMA, broker=broker))

    assert _answers(found) == [(verdict, verdict)]


def test_pins_are_versions_of_the_default_registry() -> None:
    """Elsewhere the same number may be another schema: its schema decides."""
    other = _registry(avro(field("z", "int")), OLD_SCHEMA)
    uses = PRODUCES.format("{version: 0}")

    found = _connections(uses, other, pin_source=_registry(OLD_SCHEMA))
    lost = _connections(uses, other, pin_source=_registry())

    assert _answers(found) == [("yes", "yes")]
    admission = found.connections[0].now.admission
    assert admission is not None
    assert admission.version == 1
    assert found.connections[0].schema == "v0 of registry 'fake'"
    assert _answers(lost) == [("unknown", "unknown")]


def test_only_the_clients_topics_are_read() -> None:
    registry = _registry(OLD_SCHEMA)

    _connections(CONSUMES.format("AUTO_CONSUME"), registry)

    assert {topic for scope in registry.asked for topic in scope.topics} == {CREATED}


@pytest.mark.parametrize("uses", ["", "consumes: []"])
def test_a_client_without_topics_is_no_yes(uses: str) -> None:
    with pytest.raises(UsageError, match="names no topic"):
        _connections(uses, _registry(OLD_SCHEMA))


def test_a_client_that_nobody_declares() -> None:
    loaded = load(repository({}))
    _, config = registry_config(loaded, None)
    request = PlanRequest(
        repository=loaded,
        registry=_registry(OLD_SCHEMA),
        config=config,
        locate=lambda _topic, _pointer: None,
        today=TODAY,
    )
    with pytest.raises(UsageError, match="no manifest in clients/ declares client 'billing'"):
        connect_client("billing", request)


def _place(name: str, **more: object) -> dict[str, object]:
    inner = {"type": "record", "name": name, "fields": [{"name": "x", "type": "int"}], **more}
    return {"name": "at", "type": inner}


PLACED = avro(_place("Pos"))
RENAMED = avro(field("first", "int", default=0), _place("Point"))
RENAMED_ALONE = avro(_place("Point"))


@pytest.mark.parametrize(
    ("language", "verdict"),
    [
        ("python", "misreads"),
        ("go", "misreads"),
        ("dotnet", "misreads"),
        ("java", "yes"),
        ("node", "yes"),
    ],
)
def test_a_consumer_that_connects_and_misreads_is_no_yes(language: str, verdict: str) -> None:
    uses = f"language: {language}\n{CONSUMES.format('{version: 1}')}"
    connections = _connections(uses, _registry(PLACED, RENAMED), schema=RENAMED.schema)

    assert _answers(connections) == [(verdict, verdict)]
    assert connections.accepted is (verdict == "yes")
    (answer,) = (one.now for one in connections.connections)
    assert answer.admission is not None
    assert answer.admission.accepted
    assert not connections.notes
    if language == "python":
        assert answer.reason == (
            "pulsar-client for Python may read wrong values from messages of v0 at 'at': fastavro "
            "compares names and does not take record Pos for record Point, and the client decodes "
            "with its own schema alone"
        )


def test_a_consumer_that_misreads_what_the_plan_brings() -> None:
    """By its alias the new schema reads old messages, which is all that BACKWARD promises."""
    uses = f"language: python\n{CONSUMES.format('{version: 0}')}"
    new = avro(field("first", "int", default=0), _place("Point", aliases=["Pos"]))

    connections = _connections(uses, _registry(PLACED), schema=new.schema)

    assert _answers(connections) == [("yes", "misreads")]


@pytest.mark.parametrize(
    ("language", "registered", "verdict"),
    [
        ("java", SchemaInfo(type=SchemaType.STRING), "yes"),
        ("java", SchemaInfo(type=SchemaType.STRING, schema="null"), "no"),
        ("python", SchemaInfo(type=SchemaType.STRING), "no"),
        ("python", SchemaInfo(type=SchemaType.STRING, schema="null"), "yes"),
        ("cpp", SchemaInfo(type=SchemaType.STRING), "yes"),
        ("cpp", SchemaInfo(type=SchemaType.STRING, schema="null"), "no"),
        ("java", SchemaInfo(type=SchemaType.INT32), "yes"),
        ("python", SchemaInfo(type=SchemaType.INT32), "no"),
        ("node", SchemaInfo(type=SchemaType.INT32), "no"),
    ],
)
def test_a_pin_counts_as_what_the_library_sends_for_the_version(
    language: str, registered: SchemaInfo, verdict: str
) -> None:
    """As the version's type does without a pin (pulsar-client for Python 3.13.0)."""
    policies = replace(BACKWARD, schema_validation_enforced=True)
    for schema in ("{version: 0}", f"{{type: {registered.type.value}}}"):
        uses = f"language: {language}\n{PRODUCES.format(schema)}"

        found = _connections(uses, _registry(registered, policies=policies), schema=None)

        assert _answers(found) == [(verdict, verdict)]


@pytest.mark.parametrize(
    ("registered", "text"),
    [
        (SchemaInfo(type=SchemaType.INT32), "sends no schema for INT32"),
        (
            SchemaInfo(type=SchemaType.STRING),
            "sends STRING in another form than Java's client",
        ),
    ],
)
def test_a_refusal_says_what_the_library_sends(registered: SchemaInfo, text: str) -> None:
    policies = replace(BACKWARD, schema_validation_enforced=True)
    uses = f"language: python\n{PRODUCES.format('{version: 0}')}"

    (answer,) = _connections(
        uses, _registry(registered, policies=policies), schema=None
    ).connections

    assert answer.now.reason.endswith(f"(pulsar-client for Python {text})")


@pytest.mark.parametrize(
    ("language", "registered_by", "verdict"),
    [("java", "java", "yes"), ("python", "java", "no"), ("python", "python", "yes")],
)
def test_descriptors_of_python_are_those_that_a_python_client_registered(
    language: str, registered_by: str, verdict: str
) -> None:
    registered = native({"order.proto": PROTO}, "order.proto", "Order")
    if registered_by == "python":
        registered = replace(registered, schema=python_envelope(registered.schema))
    for schema in ("{version: 0}", "{definition: order.proto, message: Order}"):
        uses = f"language: {language}\n{PRODUCES.format(schema)}"

        found = _connections(uses, _registry(registered), schema=None)

        assert _answers(found) == [(verdict, verdict)]


@pytest.mark.parametrize("schema", ["AUTO_CONSUME", "NONE"])
def test_a_consumer_without_a_schema_of_its_own_misreads_nothing(schema: str) -> None:
    uses = f"language: python\n{CONSUMES.format(schema)}"

    connections = _connections(uses, _registry(PLACED, RENAMED), schema=RENAMED.schema)

    assert _answers(connections) == [("yes", "yes")]


def test_a_client_without_a_language_is_read_as_java_with_notes() -> None:
    uses = CONSUMES.format("{version: 1}")

    python, dotnet = _connections(uses, _registry(PLACED, RENAMED), schema=RENAMED.schema).notes
    (alone,) = _connections(
        uses, _registry(PLACED, RENAMED_ALONE), schema=RENAMED_ALONE.schema
    ).notes

    assert python.startswith(
        "shop/orders/created: the consumer is assumed to read as Java does; pulsar-client for "
        "Python may read wrong values from messages of v0 at 'at': fastavro compares names"
    )
    assert python.endswith(" (`language:` in clients/billing.yaml names it)")
    assert "Pulsar.Client for .NET fails on messages of v0 at 'at'" in dotnet
    assert "Pulsar.Client for .NET" in alone  # both are laid out alike, which Python reads


LONGER = avro(field("a", "long"))


@pytest.mark.parametrize(
    ("strategy", "verdict"),
    [("ALWAYS_COMPATIBLE", "misreads"), ("BACKWARD", "no"), ("FORWARD", "no")],
)
def test_an_older_consumer_that_fails_on_messages_of_the_latest_version(
    strategy: str, verdict: str
) -> None:
    """ALWAYS_COMPATIBLE compares no consumer with v1."""
    policies = NamespacePolicies(
        schema_compatibility_strategy=SchemaCompatibilityStrategy(strategy),
    )
    registry = _registry(OLD_SCHEMA, LONGER, policies=policies)

    connections = _connections(CONSUMES.format("{version: 0}"), registry, schema=LONGER.schema)

    assert _answers(connections) == [(verdict, verdict)]
    if verdict == "misreads":
        assert connections.connections[0].now.reason.startswith(
            "a consumer with this schema fails on messages of v1 at 'a': "
        )


def test_a_consumer_that_only_older_messages_fail_may_connect() -> None:
    """FORWARD promises nothing about them, and none may be left."""
    policies = NamespacePolicies(
        schema_compatibility_strategy=SchemaCompatibilityStrategy.FORWARD,
    )
    registry = _registry(OLD_SCHEMA, WITHOUT_DEFAULT, policies=policies)

    connections = _connections(
        CONSUMES.format("{version: 1}"), registry, schema=WITHOUT_DEFAULT.schema
    )

    assert _answers(connections) == [("yes", "yes")]


@pytest.mark.parametrize(
    ("latest", "verdict"), [("string", "misreads"), ({"type": "map", "values": "long"}, "yes")]
)
def test_a_reader_of_json_that_fails_on_the_latest_version(latest: object, verdict: str) -> None:
    """A number that may be too large is no certain failure."""
    versions = [
        SchemaInfo(type=SchemaType.JSON, schema=avro(field("a", written)).schema)
        for written in ({"type": "map", "values": "int"}, latest)
    ]
    policies = NamespacePolicies(
        schema_compatibility_strategy=SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE,
    )

    connections = _connections(
        CONSUMES.format("{version: 0}"), _registry(*versions, policies=policies), schema=None
    )

    assert _answers(connections) == [(verdict, verdict)]
