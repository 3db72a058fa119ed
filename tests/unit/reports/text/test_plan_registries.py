"""A plan for a new cluster, and plans for several, in a terminal."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Group

from gitops.model.names import TenantName, TopicName
from gitops.model.plan import CreateTenant
from gitops.model.state import TenantState
from gitops.planning.registry_comparison import VersionSkew
from gitops.reports.text.plan import plan_report, skew_text
from tests.support.consoles import shown
from tests.support.plans import CREATIONS, EVERYTHING
from tests.support.states import ORDERS


def test_tenants_and_topics_that_are_created_are_shown() -> None:
    hostile = TenantState(
        tenant=TenantName("store"),
        allowed_clusters=frozenset({"east"}),
        admin_roles=frozenset({"\x1b[31mops"}),
    )
    actions = (*CREATIONS, CreateTenant(state=hostile))
    text = shown(
        plan_report(
            replace(EVERYTHING, actions=actions, notices=(), findings=()),
            lambda _where: None,
            files="files 4f1c9e2",
            seconds=0.0,
        )
    )
    rows = [line.split() for line in text.splitlines() if line.startswith("+")]
    assert ["+", "shop", "tenant", "all", "clusters,", "roles", "ops"] in rows
    assert ["+", "shop/orders/order-created", "new", "topic", "(4", "partitions)"] in rows
    assert "2 tenants to create, 1 topic to create" in text
    assert "\x1b" not in text
    assert "clusters east, roles " in text


def test_versions_that_differ_are_listed_up_to_a_hundred() -> None:
    topics = [TopicName(ORDERS, f"t{number:03}") for number in range(101)]
    skews = [
        VersionSkew(topic=topic, versions={"a": 3, "b": 2}, same_schema=topic is topics[0])
        for topic in topics
    ]
    text = shown(Group(*skew_text(skews)))
    assert text.startswith("101 topics with other latest versions\n")
    assert "    shop/orders/t000   v3 at a, v2 at b   same schema\n" in text
    assert "    shop/orders/t099   v3 at a, v2 at b   another schema\n" in text
    assert text.endswith("    and 1 more topic\n")
    assert skew_text([]) == []
