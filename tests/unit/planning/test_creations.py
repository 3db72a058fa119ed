"""What has to exist first: created where the files declare it, reported where they do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.plan import (
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    Plan,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.policy import BrokerSettings, NamespacePolicies, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.state import (
    NamespaceState,
    RegistryState,
    TenantState,
    TopicPartitions,
    TopicState,
)
from gitops.planning.plan import make_plan
from tests.support.states import CREATED, ORDERS, STRING, question, state, topic_state

_SHOP = TenantName("shop")
_OWN = TopicPolicies(schema_compatibility_strategy=Strategy.FULL)
_OTHER = TopicName(ORDERS, "cancelled")
_ABSENT = TopicPartitions(topic=CREATED, exists=False)
_EMPTY = RegistryState(
    namespaces={ORDERS: NamespaceState(namespace=ORDERS, exists=False, tenant_exists=False)},
    topics={CREATED: TopicState(topic=CREATED, exists=False)},
    tenants={_SHOP: TenantState(tenant=_SHOP, exists=False)},
    partitions={CREATED: _ABSENT},
)


def _partitions(
    count: int | None, topic: TopicName = CREATED
) -> Mapping[TopicName, TopicPartitions]:
    return {topic: TopicPartitions(topic=topic, count=count)}


def _rules(plan: Plan) -> list[tuple[str, str]]:
    return [(one.rule, one.subject) for one in plan.findings]


def test_what_others_need_comes_first() -> None:
    strict = NamespacePolicies(schema_compatibility_strategy=Strategy.FULL)
    desired = RegistryState(
        namespaces={ORDERS: NamespaceState(namespace=ORDERS, policies=strict)},
        topics={CREATED: topic_state(CREATED, STRING, policies=_OWN)},
        tenants={_SHOP: TenantState(tenant=_SHOP)},
        partitions=_partitions(4),
    )

    plan = make_plan(question(desired, _EMPTY))

    assert [type(one) for one in plan.actions] == [
        CreateTenant,
        CreateNamespace,
        SetPolicy,
        CreateTopic,
        SetPolicy,
        RegisterSchema,
    ]
    assert plan.findings == ()
    assert set(plan.expected) == {
        "tenant shop",
        f"namespace {ORDERS}",
        f"partitions {CREATED}",
        f"topic {CREATED}",
    }


@pytest.mark.rule("PLAN-R018")
def test_a_topic_without_a_schema_is_created() -> None:
    desired = RegistryState(topics={CREATED: TopicState(topic=CREATED)}, partitions=_partitions(0))

    plan = make_plan(question(desired, _EMPTY))

    assert plan.actions == (CreateTopic(topic=CREATED, partitions=0),)
    assert ("PLAN-R018", str(CREATED)) in _rules(plan)
    keeps = BrokerSettings(deletes_inactive_topics=False)
    assert ("PLAN-R018", str(CREATED)) not in _rules(
        make_plan(question(desired, _EMPTY, broker=keeps))
    )


def test_what_is_there_is_left_alone() -> None:
    desired = RegistryState(
        topics={CREATED: TopicState(topic=CREATED)},
        tenants={_SHOP: TenantState(tenant=_SHOP)},
        partitions=_partitions(4),
    )
    observed = RegistryState(
        topics={CREATED: TopicState(topic=CREATED)},
        tenants={_SHOP: TenantState(tenant=_SHOP, allowed_clusters=frozenset({"a"}))},
        partitions=_partitions(4),
    )

    plan = make_plan(question(desired, observed))

    assert (plan.actions, plan.findings) == ((), ())


def test_what_the_registry_does_not_show_is_left_alone() -> None:
    desired = RegistryState(
        topics={CREATED: TopicState(topic=CREATED)},
        tenants={_SHOP: TenantState(tenant=_SHOP, admin_roles=frozenset({"ops"}))},
        partitions=_partitions(4),
    )
    unknown = RegistryState(
        topics={CREATED: TopicState(topic=CREATED)},
        tenants={_SHOP: TenantState(tenant=_SHOP)},
        partitions=_partitions(None),
    )
    bare = RegistryState(topics={CREATED: TopicState(topic=CREATED)})

    for observed in (unknown, bare):
        plan = make_plan(question(desired, observed))
        assert (plan.actions, plan.findings) == ((), ())


@pytest.mark.rule("PLAN-R006")
def test_a_missing_tenant_is_found() -> None:
    desired = RegistryState(namespaces={ORDERS: NamespaceState(namespace=ORDERS)})

    plan = make_plan(question(desired, RegistryState(namespaces=_EMPTY.namespaces)))

    assert _rules(plan) == [("PLAN-R006", "shop")]
    assert "namespaces/shop/tenant.yaml" in plan.findings[0].hint
    assert "pulsar-admin tenants create shop" in plan.findings[0].hint


def test_all_missing_tenants_have_one_hint() -> None:
    names = [NamespaceName(tenant, "n") for tenant in ("a", "b")]
    desired = RegistryState(namespaces={name: NamespaceState(namespace=name) for name in names})
    missing = {
        name: NamespaceState(namespace=name, exists=False, tenant_exists=False) for name in names
    }

    plan = make_plan(question(desired, RegistryState(namespaces=missing)))

    assert _rules(plan) == [("PLAN-R006", "a"), ("PLAN-R006", "b")]
    assert len({(one.message, one.hint) for one in plan.findings}) == 1


@pytest.mark.rule("PLAN-R008")
def test_policies_of_a_topic_that_does_not_exist_are_found() -> None:
    absent = state(replace(topic_state(CREATED), exists=False))

    plan = make_plan(question(state(topic_state(CREATED, STRING, policies=_OWN)), absent))
    without = make_plan(question(state(topic_state(CREATED, STRING)), absent))

    assert _rules(plan) == [("PLAN-R008", str(CREATED))]
    assert "partitions:" in plan.findings[0].hint
    assert f"pulsar-admin topics create {CREATED}" in plan.findings[0].hint
    assert without.findings == ()


@pytest.mark.rule("PLAN-R008")
def test_no_partitions_are_advised_where_a_manifest_may_not_have_them() -> None:
    topic = TopicName(CREATED.namespace, CREATED.local_name, "non-persistent")
    absent = state(replace(topic_state(topic), exists=False))

    plan = make_plan(question(state(topic_state(topic, STRING, policies=_OWN)), absent))

    (finding,) = [finding for finding in plan.findings if finding.rule == "PLAN-R008"]
    assert "partitions:" not in finding.hint
    assert finding.hint.startswith("create it: pulsar-admin topics create ")


def test_all_missing_topics_have_one_hint() -> None:
    names = (CREATED, _OTHER)
    desired = state(*(topic_state(name, policies=_OWN) for name in names))
    absent = state(*(replace(topic_state(name), exists=False) for name in names))

    plan = make_plan(question(desired, absent))

    assert [one.rule for one in plan.findings] == ["PLAN-R008", "PLAN-R008"]
    assert len({(one.message, one.hint) for one in plan.findings}) == 1


@pytest.mark.rule("PLAN-R014")
def test_a_tenant_that_differs_is_reported_with_the_command() -> None:
    wanted = TenantState(
        tenant=_SHOP, allowed_clusters=frozenset({"a", "b"}), admin_roles=frozenset({"ops"})
    )
    found = TenantState(tenant=_SHOP, allowed_clusters=frozenset({"a"}), admin_roles=frozenset())

    plan = make_plan(
        question(RegistryState(tenants={_SHOP: wanted}), RegistryState(tenants={_SHOP: found}))
    )

    assert plan.actions == ()
    (finding,) = plan.findings
    assert (finding.rule, finding.subject) == ("PLAN-R014", "shop")
    assert finding.message == (
        "allowedClusters in the registry: a; in the files: a, b; "
        "adminRoles in the registry: none; in the files: ops"
    )
    assert finding.hint.endswith(
        "pulsar-admin tenants update shop --allowed-clusters a,b --admin-roles ops"
    )


@pytest.mark.rule("PLAN-R015")
@pytest.mark.parametrize(
    ("found", "wanted", "hint"),
    [
        (3, 4, f"pulsar-admin topics update-partitioned-topic {CREATED} --partitions 4"),
        (4, 3, "write partitions: 4 in place of it"),
        (0, 3, "write create: true in place of it"),
        (3, 0, "write partitions: 3 in place of it"),
    ],
)
def test_another_number_of_partitions_is_reported(found: int, wanted: int, hint: str) -> None:
    topics = {CREATED: TopicState(topic=CREATED)}
    desired = RegistryState(topics=topics, partitions=_partitions(wanted))
    observed = RegistryState(topics=topics, partitions=_partitions(found))

    plan = make_plan(question(desired, observed))

    assert plan.actions == ()
    assert _rules(plan) == [("PLAN-R015", str(CREATED))]
    assert hint in plan.findings[0].hint
