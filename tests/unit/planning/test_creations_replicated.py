"""What a plan says of namespaces that are replicated."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.findings import Finding, Severity
from gitops.model.state import RegistryState
from gitops.planning.plan import make_plan
from tests.support.states import CREATED, ORDERS, avro, field, question, state, topic_state

_OLD = avro(field("id"))
_NEW = avro(field("id"), field("note", ["null", "string"], default=None))


def _found(before: RegistryState, *clusters: str) -> list[Finding]:
    """The notes on a plan that adds a field, where the namespace has these clusters."""
    namespace = replace(before.namespaces[ORDERS], replication_clusters=clusters)
    observed = replace(before, namespaces={ORDERS: namespace})
    plan = make_plan(question(state(topic_state(CREATED, _NEW)), observed))
    return [one for one in plan.findings if one.rule == "PLAN-R019"]


@pytest.mark.rule("PLAN-R019")
def test_a_schema_goes_to_one_of_several_clusters() -> None:
    (found,) = _found(state(topic_state(CREATED, _OLD)), "east", "west")

    assert (found.subject, found.severity) == (str(ORDERS), Severity.INFO)
    assert found.message.startswith("1 schema is registered in one of the clusters")
    assert found.message.endswith("between: east, west")


@pytest.mark.rule("PLAN-R019")
@pytest.mark.parametrize("clusters", [(), ("east",)])
def test_one_cluster_is_no_replication(clusters: tuple[str, ...]) -> None:
    assert not _found(state(topic_state(CREATED, _OLD)), *clusters)


@pytest.mark.rule("PLAN-R019")
def test_nothing_is_registered() -> None:
    assert not _found(state(topic_state(CREATED, _NEW)), "east", "west")
