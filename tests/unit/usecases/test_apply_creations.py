"""Tenants and topics are created once, wherever an apply stops and another one goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.errors import GitopsError, StalePlanError
from gitops.model.names import TenantName
from gitops.model.plan import CreateTopic, Plan
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.policy import TopicPolicies
from gitops.model.state import (
    NamespaceState,
    RegistryState,
    Scope,
    TenantState,
    TopicPartitions,
    TopicState,
)
from gitops.planning.plan import make_plan
from gitops.usecases.apply import apply
from tests.support.fake_registry import FakeRegistry
from tests.support.states import CREATED, ORDERS, STRING, question, topic_state

_SHOP = TenantName("shop")
_DESIRED = RegistryState(
    namespaces={ORDERS: NamespaceState(namespace=ORDERS)},
    topics={
        CREATED: topic_state(
            CREATED, STRING, policies=TopicPolicies(schema_compatibility_strategy=Strategy.FULL)
        )
    },
    tenants={_SHOP: TenantState(tenant=_SHOP)},
    partitions={CREATED: TopicPartitions(topic=CREATED, count=4)},
)
_SCOPE = Scope(
    namespaces=frozenset({ORDERS}),
    topics=frozenset({CREATED}),
    tenants=frozenset({_SHOP}),
    partitions=frozenset({CREATED}),
)
_IN_ORDER = ["tenant", "create", "topic", "set", "register"]


def _registry(fails_at: int = -1) -> FakeRegistry:
    absent = TopicState(topic=CREATED, exists=False)
    return FakeRegistry(RegistryState(topics={CREATED: absent}), versions=[0], fails_at=fails_at)


def _plan(registry: FakeRegistry) -> Plan:
    return make_plan(question(_DESIRED, registry.observe(_SCOPE)))


def test_all_is_created_in_order() -> None:
    registry = _registry()

    apply(_plan(registry), registry)

    assert [name for name, _ in registry.calls] == _IN_ORDER
    assert _plan(registry).actions == ()


@pytest.mark.parametrize("fails_at", range(len(_IN_ORDER)))
def test_another_apply_goes_on_where_one_failed(fails_at: int) -> None:
    registry = _registry(fails_at)
    with pytest.raises(GitopsError):
        apply(_plan(registry), registry)
    registry.mend()

    apply(_plan(registry), registry)

    assert [name for name, _ in registry.calls] == _IN_ORDER
    assert _plan(registry).actions == ()


def test_a_topic_that_somebody_else_has_created_is_not_created() -> None:
    registry = _registry()
    plan = _plan(registry)
    actions = tuple(one for one in plan.actions if isinstance(one, CreateTopic))
    left = replace(plan, actions=actions)
    registry.create_topic(CREATED, 2)

    with pytest.raises(StalePlanError, match=f"partitions {CREATED} changed"):
        apply(left, registry)
