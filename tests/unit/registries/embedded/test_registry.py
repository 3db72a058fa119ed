"""The embedded registry: the contract of every registry, and what only a file can get wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from gitops.model.errors import RegistryRefusedError, UsageError
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    PolicyChange,
    SchemaCompatibilityStrategy,
)
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Scope, TenantState, TopicState
from gitops.ports import Registry
from gitops.registries.embedded.registry import EmbeddedRegistry, open_registry
from gitops.registries.embedded.settings import EmbeddedConfig
from gitops.testing.registry_contract import RegistryContract

SHOP = NamespaceName("shop", "orders")
TOPIC = TopicName(SHOP, "created")
STRING = SchemaInfo(type=SchemaType.STRING)
INT = SchemaInfo(type=SchemaType.INT32)


class TestContract(RegistryContract):
    @pytest.fixture
    def registry(self, tmp_path: Path) -> Iterator[Registry]:
        registry = EmbeddedRegistry("local", tmp_path / "registry.db")
        yield registry
        registry.close()


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[EmbeddedRegistry]:
    clock = count(1_000).__next__
    registry = EmbeddedRegistry("local", tmp_path / "registry.db", clock=clock)
    registry.create_namespace(SHOP)
    yield registry
    registry.close()


def test_as_a_cluster_it_makes_nothing_by_itself(tmp_path: Path) -> None:
    config = EmbeddedConfig(path="registry.db", as_cluster=True)
    registry = open_registry("local", config, tmp_path)
    scope = Scope(namespaces=frozenset({SHOP}), topics=frozenset({TOPIC}))
    change = PolicyChange(
        key="schemaCompatibilityStrategy", before=None, after=SchemaCompatibilityStrategy.FULL
    )
    empty = registry.observe(scope)
    assert not empty.namespaces[SHOP].tenant_exists
    assert not empty.topics[TOPIC].exists

    with pytest.raises(RegistryRefusedError, match="Tenant does not exist"):
        registry.create_namespace(SHOP)
    registry.create_tenant(TenantState(tenant=TenantName("shop")))
    registry.create_namespace(SHOP)
    with pytest.raises(RegistryRefusedError, match="Topic not found"):
        registry.set_policies(TOPIC, [change])
    registry.register_schema(TOPIC, STRING)  # which needs no topic, as on a cluster
    registry.create_topic(TOPIC, 2)
    registry.set_policies(TOPIC, [change])

    found = registry.observe(scope)
    assert found.namespaces[SHOP].tenant_exists
    assert found.topics[TOPIC].exists
    registry.close()


def topic_state(registry: EmbeddedRegistry, topic: TopicName = TOPIC) -> TopicState:
    return registry.observe(Scope(topics=frozenset({topic}))).topics[topic]


def test_it_is_opened_below_the_repository_and_told_by_its_path(tmp_path: Path) -> None:
    defaults = BrokerSettings(is_schema_validation_enforced=True)
    config = EmbeddedConfig(path=".pulsar/registry.db", broker=defaults)
    registry = open_registry("local", config, tmp_path)
    assert registry.name == "local"
    assert registry.address == ".pulsar/registry.db"
    assert registry.broker is defaults


def test_reading_creates_nothing(tmp_path: Path) -> None:
    registry = EmbeddedRegistry("local", tmp_path / "folder" / "registry.db")
    scope = Scope(namespaces=frozenset({SHOP}), topics=frozenset({TOPIC}))
    state = registry.observe(scope)
    assert registry.list_namespaces() == ()
    assert not state.namespaces[SHOP].exists
    assert state.topics == {TOPIC: TopicState(topic=TOPIC)}
    with pytest.raises(RegistryRefusedError):
        registry.list_topics(SHOP)
    with pytest.raises(RegistryRefusedError):
        registry.check_compatibility(TOPIC, STRING)
    assert registry.find_version(TOPIC, STRING) is None
    registry.close()
    assert list(tmp_path.iterdir()) == []


def test_the_first_write_creates_the_folder_and_one_file(tmp_path: Path) -> None:
    registry = EmbeddedRegistry("local", tmp_path / "folder" / "registry.db")
    registry.create_namespace(SHOP)
    registry.close()
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["registry.db"]


def test_what_was_written_is_there_for_the_next_one(registry: EmbeddedRegistry) -> None:
    registry.register_schema(TOPIC, STRING)
    second = EmbeddedRegistry("second", Path(registry.address))
    assert topic_state(second) == topic_state(registry)
    second.close()


def test_the_clock_gives_the_timestamps(registry: EmbeddedRegistry) -> None:
    registry.register_schema(TOPIC, STRING)
    registry.delete_schema(TOPIC)
    registry.register_schema(TOPIC, INT)
    (entry,) = topic_state(registry).history.entries
    assert (entry.version, entry.timestamp) == (2, 1_002)


def test_a_namespace_gets_its_tenant(registry: EmbeddedRegistry) -> None:
    registry.create_namespace(NamespaceName("fresh", "one"))
    registry.create_namespace(NamespaceName("fresh", "two"))
    assert registry.list_namespaces() == (
        NamespaceName("fresh", "one"),
        NamespaceName("fresh", "two"),
        SHOP,
    )


def test_pulsars_own_namespaces_and_topics_are_not_listed(registry: EmbeddedRegistry) -> None:
    registry.create_namespace(NamespaceName("pulsar", "system"))
    registry.register_schema(TopicName(SHOP, "__change_events"), STRING)
    assert registry.list_namespaces() == (SHOP,)
    assert registry.list_topics(SHOP) == ()


def test_topics_are_listed_while_they_have_a_schema(registry: EmbeddedRegistry) -> None:
    other = TopicName(SHOP, "gone")
    for topic in (TOPIC, other):
        registry.register_schema(topic, STRING)
    registry.delete_schema(other)
    assert registry.list_topics(SHOP) == (TOPIC,)


def test_the_domain_of_a_topic_is_remembered(registry: EmbeddedRegistry) -> None:
    live = TopicName(SHOP, "live", "non-persistent")
    registry.register_schema(live, STRING)
    registry.register_schema(live, STRING)
    assert registry.list_topics(SHOP) == (live,)


def test_the_strategy_of_a_non_persistent_topic_never_counts(registry: EmbeddedRegistry) -> None:
    live = TopicName(SHOP, TOPIC.local_name, "non-persistent")
    always = SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE
    change = PolicyChange(key="schemaCompatibilityStrategy", before=None, after=always)
    registry.set_policies(live, [change])
    registry.register_schema(live, STRING)
    with pytest.raises(RegistryRefusedError, match="STRING"):
        registry.register_schema(live, INT)
    registry.set_policies(TOPIC, [change])
    assert registry.register_schema(live, INT) == 1


def test_the_brokers_default_strategy_counts_last(tmp_path: Path) -> None:
    defaults = BrokerSettings(
        schema_compatibility_strategy=SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE
    )
    registry = EmbeddedRegistry("local", tmp_path / "registry.db", defaults)
    registry.create_namespace(SHOP)
    registry.register_schema(TOPIC, STRING)
    assert registry.register_schema(TOPIC, INT) == 1
    registry.close()


def test_a_refusal_says_what_and_where(registry: EmbeddedRegistry) -> None:
    registry.register_schema(TOPIC, STRING)
    with pytest.raises(RegistryRefusedError) as refused:
        registry.register_schema(TOPIC, INT)
    assert refused.value.what
    assert refused.value.where == f"shop/orders/created in {registry.address}"


def test_a_refused_registration_leaves_nothing(registry: EmbeddedRegistry) -> None:
    registry.register_schema(TOPIC, STRING)
    before = topic_state(registry)
    with pytest.raises(RegistryRefusedError):
        registry.register_schema(TOPIC, INT)
    assert topic_state(registry) == before


def test_all_changes_of_policies_are_made_or_none(registry: EmbeddedRegistry) -> None:
    wanted = SchemaCompatibilityStrategy.FULL
    changes = [
        PolicyChange(key="schemaCompatibilityStrategy", before=None, after=wanted),
        PolicyChange(key="retention", before=None, after=True),
    ]
    with pytest.raises(UsageError, match="retention"):
        registry.set_policies(SHOP, changes)
    state = registry.observe(Scope(namespaces=frozenset({SHOP})))
    assert state.namespaces[SHOP].policies == NamespacePolicies()


def test_a_dry_run_stores_nothing(registry: EmbeddedRegistry) -> None:
    assert registry.would_register(TOPIC, STRING).version == 0
    decision, strategy = registry.check_compatibility(TOPIC, STRING)
    assert decision.accepted
    assert strategy is SchemaCompatibilityStrategy.FULL
    assert topic_state(registry) == TopicState(topic=TOPIC)


def test_a_version_is_found_by_its_bytes(registry: EmbeddedRegistry) -> None:
    registry.register_schema(TOPIC, STRING)
    assert registry.find_version(TOPIC, STRING) == 0
    assert registry.find_version(TOPIC, INT) is None


def test_deleting_needs_the_tenant_and_nothing_else(registry: EmbeddedRegistry) -> None:
    assert registry.delete_schema(TopicName(NamespaceName("shop", "missing"), "t")) == 0
    with pytest.raises(RegistryRefusedError, match="Tenant does not exist"):
        registry.delete_schema(TopicName(NamespaceName("nobody", "missing"), "t"))


def test_it_is_usable_again_after_closing(registry: EmbeddedRegistry) -> None:
    registry.register_schema(TOPIC, STRING)
    registry.close()
    assert registry.list_topics(SHOP) == (TOPIC,)
