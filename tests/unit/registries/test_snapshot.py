"""A committed snapshot answers as the registry that it was recorded from."""

from __future__ import annotations

import json

import pytest

from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    SchemaCompatibilityStrategy,
    TopicPolicies,
)
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, RegistryState, Scope, TopicState
from gitops.registries.snapshot import SnapshotRegistry
from gitops.repository.snapshots import render
from tests.support.trees import MemoryTree

SHOP = NamespaceName("shop", "orders")
EMPTY = NamespaceName("shop", "empty")
FULL = SchemaCompatibilityStrategy.FULL
NAMES = ("created", "Created", "with space", "con", "x" * 300, "ä")
HISTORY = SchemaHistory(
    entries=(
        SchemaEntry(version=1, info=SchemaInfo(type=SchemaType.STRING), timestamp=5),
        SchemaEntry(version=3, info=SchemaInfo(type=SchemaType.INT64, properties={"a": "b"})),
    ),
    next_version=4,
)
TOPICS = {
    TopicName(SHOP, name): TopicState(
        topic=TopicName(SHOP, name),
        history=HISTORY,
        policies=TopicPolicies(schema_compatibility_strategy=FULL),
    )
    for name in NAMES
}
STATE = RegistryState(
    namespaces={
        SHOP: NamespaceState(
            namespace=SHOP, policies=NamespacePolicies(schema_compatibility_strategy=FULL)
        ),
        EMPTY: NamespaceState(namespace=EMPTY),
    },
    topics=TOPICS,
)
FILES = render("local", STATE)


def registry(tree: MemoryTree | None = None) -> SnapshotRegistry:
    return SnapshotRegistry("local", tree or MemoryTree(FILES), BrokerSettings())


def test_what_was_recorded_is_what_is_observed() -> None:
    scope = Scope(namespaces=frozenset(STATE.namespaces), topics=frozenset(TOPICS))
    assert registry().observe(scope) == STATE


def test_only_what_is_asked_for_is_read() -> None:
    tree = MemoryTree(FILES)
    registry(tree).observe(Scope(topics=frozenset({TopicName(SHOP, "Created")})))
    assert tree.reads == ["snapshots/local/shop/orders/Created.json"]


def test_what_was_not_recorded() -> None:
    other, topic = NamespaceName("shop", "other"), TopicName(SHOP, "other")
    scope = Scope(namespaces=frozenset({other}), topics=frozenset({topic}))
    state = registry().observe(scope)
    assert not state.namespaces[other].exists
    assert state.topics[topic].history == SchemaHistory()
    assert state.topics[topic].exists


def test_a_history_has_no_domain() -> None:
    topic = TopicName(SHOP, "with space", "non-persistent")
    state = registry().observe(Scope(topics=frozenset({topic})))
    assert state.topics[topic].history == HISTORY


def test_a_namespace_without_a_file_of_its_own_exists_with_its_topics() -> None:
    files = {path: data for path, data in FILES.items() if not path.endswith("orders.json")}
    found = registry(MemoryTree(files))
    assert found.list_namespaces() == (EMPTY, SHOP)
    assert found.observe(Scope(namespaces=frozenset({SHOP}))).namespaces[SHOP].exists


def test_lists() -> None:
    found = registry()
    assert found.list_namespaces() == (EMPTY, SHOP)
    assert found.list_topics(SHOP) == tuple(sorted(TOPICS))
    assert found.list_topics(EMPTY) == ()
    assert (found.name, found.address) == ("local", "snapshots/local")


def test_another_registrys_snapshot_is_none() -> None:
    assert not registry().is_empty
    assert SnapshotRegistry("other", MemoryTree(FILES), BrokerSettings()).is_empty


@pytest.mark.parametrize("path", ["shop/orders/Created.json", "shop/orders.json"])
@pytest.mark.parametrize("content", [b"{", b"\xff", json.dumps({"kind": "TopicSnapshot"}).encode()])
def test_a_broken_file_says_where(path: str, content: bytes) -> None:
    tree = MemoryTree(FILES | {f"snapshots/local/{path}": content})
    scope = Scope(namespaces=frozenset({SHOP}), topics=frozenset({TopicName(SHOP, "Created")}))
    with pytest.raises(UsageError, match="cannot be read") as raised:
        registry(tree).observe(scope)
    assert path in raised.value.where
