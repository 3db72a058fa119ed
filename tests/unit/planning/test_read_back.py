"""What a registry answers after a write is what was written, or the difference is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    DeleteSchema,
    SetPolicy,
)
from gitops.model.policy import NamespacePolicies, PolicyChange, PolicyValue, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.state import (
    NamespaceState,
    RegistryState,
    Scope,
    TenantState,
    TopicPartitions,
)
from gitops.planning.read_back import difference, subject_scope
from tests.support.plans import CHANGED
from tests.support.states import CREATED, ORDERS, STRING, topic_state

_OFF = False
_KEY = "schemaCompatibilityStrategy"
_OTHER = NamespaceName("shop", "other")


def _set(subject: NamespaceName | TopicName, after: PolicyValue, key: str = _KEY) -> SetPolicy:
    return SetPolicy(subject=subject, change=PolicyChange(key=key, before=None, after=after))


_FIRST = replace(CHANGED, info=STRING, version=0, topic=CREATED)
_NAMESPACE = NamespaceState(
    namespace=ORDERS, policies=NamespacePolicies(schema_compatibility_strategy=Strategy.UNDEFINED)
)
_STATE = RegistryState(
    namespaces={ORDERS: _NAMESPACE, _OTHER: NamespaceState(namespace=_OTHER, exists=False)},
    topics={
        CREATED: replace(
            topic_state(CREATED, STRING),
            policies=TopicPolicies(schema_compatibility_strategy=Strategy.FULL),
        )
    },
)
_SHOP = TenantState(tenant=TenantName("shop"))


def _partitions(count: int | None, *, exists: bool = True) -> RegistryState:
    found = TopicPartitions(topic=CREATED, count=count, exists=exists)
    return RegistryState(partitions={CREATED: found})


_EMPTY = RegistryState(topics={CREATED: topic_state(CREATED)})


@pytest.mark.parametrize(
    ("action", "version", "found", "wanted"),
    [
        (CreateNamespace(namespace=ORDERS), None, _STATE, ""),
        (CreateNamespace(namespace=_OTHER), None, _STATE, "there is no namespace shop/other"),
        (CreateTenant(state=_SHOP), None, RegistryState(tenants={_SHOP.tenant: _SHOP}), ""),
        (
            CreateTenant(state=_SHOP),
            None,
            RegistryState(tenants={_SHOP.tenant: replace(_SHOP, exists=False)}),
            "there is no tenant shop",
        ),
        (CreateTopic(topic=CREATED, partitions=3), None, _partitions(3), ""),
        (CreateTopic(topic=CREATED, partitions=3), None, _partitions(None), ""),
        (
            CreateTopic(topic=CREATED, partitions=3),
            None,
            _partitions(2),
            f"{CREATED} has 2 partitions",
        ),
        (
            CreateTopic(topic=CREATED),
            None,
            _partitions(None, exists=False),
            f"there is no topic {CREATED}",
        ),
        (_set(ORDERS, None), None, _STATE, ""),
        (_set(ORDERS, Strategy.FULL), None, _STATE, f"{_KEY} of {ORDERS} is UNDEFINED"),
        (_set(ORDERS, _OFF, "schemaValidationEnforced"), None, _STATE, ""),
        (_set(CREATED, Strategy.FULL), None, _STATE, ""),
        (_set(CREATED, None), None, _STATE, f"{_KEY} of {CREATED} is FULL"),
        (_set(CREATED, Strategy.FULL), None, _EMPTY, f"{_KEY} of {CREATED} is not set"),
        (_FIRST, 0, _STATE, ""),
        (_FIRST, 3, _STATE, f"the latest version of {CREATED} is v0"),
        (_FIRST, 0, _EMPTY, f"{CREATED} has no schema"),
        (replace(_FIRST, info=CHANGED.info), 0, _STATE, f"v0 of {CREATED} is another"),
        (DeleteSchema(topic=CREATED, versions=(0,)), None, _EMPTY, ""),
        (DeleteSchema(topic=CREATED, versions=(0,)), None, _STATE, f"{CREATED} has v0"),
    ],
)
def test_the_difference(
    action: Action, version: int | None, found: RegistryState, wanted: str
) -> None:
    assert difference(action, version, found) == wanted


def test_only_the_subject_is_looked_at() -> None:
    assert subject_scope(CreateNamespace(namespace=ORDERS)) == Scope(namespaces=frozenset({ORDERS}))
    assert subject_scope(CreateTenant(state=_SHOP)) == Scope(tenants=frozenset({_SHOP.tenant}))
    assert subject_scope(CreateTopic(topic=CREATED)) == Scope(partitions=frozenset({CREATED}))
    assert subject_scope(_FIRST) == Scope(topics=frozenset({CREATED}))
