"""Which policies hold for clients, and who set them."""

from __future__ import annotations

import pytest

from gitops.broker.connection import ConnectionPolicies, connection_policies
from gitops.model.names import TopicName
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    SchemaAutoUpdateCompatibilityStrategy,
    TopicPolicies,
)
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy

TOPIC = TopicName.parse("shop/orders/created")
NOTHING = NamespacePolicies()


def held(
    topic: TopicPolicies | None = None,
    namespace: NamespacePolicies = NOTHING,
    broker: BrokerSettings | None = None,
    name: TopicName = TOPIC,
) -> ConnectionPolicies:
    return connection_policies(
        name, topic or TopicPolicies(), namespace, broker or BrokerSettings()
    )


def test_nothing_is_set() -> None:
    found = held()
    assert (found.strategy, found.strategy_by) == (Strategy.FULL, "broker")
    assert (found.allows_auto_update, found.auto_update_by) == (True, "broker")
    assert (found.enforces_validation, found.validation_by) == (False, "namespace")


@pytest.mark.parametrize(
    ("topic", "namespace", "strategy", "by"),
    [
        (Strategy.BACKWARD, Strategy.FORWARD, Strategy.BACKWARD, "topic"),
        (None, Strategy.FORWARD, Strategy.FORWARD, "namespace"),
        (Strategy.UNDEFINED, Strategy.FORWARD, Strategy.FORWARD, "namespace"),
        (
            None,
            Strategy.UNDEFINED,
            Strategy.ALWAYS_INCOMPATIBLE,
            "namespace, by the legacy setting",
        ),
    ],
)
def test_the_strategy(
    topic: Strategy | None, namespace: Strategy, strategy: Strategy, by: str
) -> None:
    legacy = SchemaAutoUpdateCompatibilityStrategy.AUTO_UPDATE_DISABLED
    found = held(
        TopicPolicies(schema_compatibility_strategy=topic),
        NamespacePolicies(
            schema_compatibility_strategy=namespace,
            schema_auto_update_compatibility_strategy=legacy,
        ),
    )
    assert (found.strategy, found.strategy_by) == (strategy, by)


@pytest.mark.parametrize(
    ("topic", "namespace", "broker", "enforced", "by"),
    [
        (False, True, False, False, "topic"),
        (True, False, False, True, "topic"),
        (None, True, False, True, "namespace"),
        (False, False, True, True, "broker"),
    ],
)
def test_validation_of_the_broker_cannot_be_taken_back(
    *, topic: bool | None, namespace: bool, broker: bool, enforced: bool, by: str
) -> None:
    found = held(
        TopicPolicies(schema_validation_enforced=topic),
        NamespacePolicies(schema_validation_enforced=namespace),
        BrokerSettings(is_schema_validation_enforced=broker),
    )
    assert (found.enforces_validation, found.validation_by) == (enforced, by)


def test_auto_update_of_the_namespace_comes_before_the_brokers() -> None:
    broker = BrokerSettings(is_allow_auto_update_schema_enabled=False)
    assert not held(broker=broker).allows_auto_update
    found = held(namespace=NamespacePolicies(is_allow_auto_update_schema=True), broker=broker)
    assert (found.allows_auto_update, found.auto_update_by) == (True, "namespace")


def test_pulsars_own_topics_let_all_in() -> None:
    strict = NamespacePolicies(
        schema_compatibility_strategy=Strategy.FULL, is_allow_auto_update_schema=False
    )
    found = held(namespace=strict, name=TopicName.parse("shop/orders/__change_events"))
    assert found.strategy is Strategy.ALWAYS_COMPATIBLE
    assert found.allows_auto_update
