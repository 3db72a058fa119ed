"""What of a plan is the change's own."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace

from gitops.model.config import SafetyConfig
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import TopicName
from gitops.model.plan import CreateNamespace, Plan, RefusedSchema, RegisterSchema, SetPolicy
from gitops.model.policy import BrokerSettings, NamespacePolicies, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.planning.plan import PlanInput, make_plan, strategy_of
from gitops.planning.plan_attribution import attributed_plan

ONE, TWO = TopicName.parse("shop/orders/one"), TopicName.parse("shop/orders/two")
SPACE = ONE.namespace
STRING, INT64 = SchemaInfo(type=SchemaType.STRING), SchemaInfo(type=SchemaType.INT64)


def state(
    schemas: Mapping[TopicName, SchemaInfo], strategy: Strategy | None = None, **policies: Strategy
) -> RegistryState:
    return RegistryState(
        namespaces={
            SPACE: NamespaceState(
                namespace=SPACE, policies=NamespacePolicies(schema_compatibility_strategy=strategy)
            )
        },
        topics={
            name: TopicState(
                topic=name,
                history=SchemaHistory(entries=(SchemaEntry(version=0, info=info),), next_version=1),
                policies=TopicPolicies(schema_compatibility_strategy=policies.get(name.local_name)),
            )
            for name, info in schemas.items()
        },
    )


def question(desired: RegistryState, observed: RegistryState, **rest: object) -> PlanInput:
    content = rest.get("content", {})
    assert isinstance(content, dict)
    return PlanInput(
        registry="local",
        address="here",
        files="sha256:0",
        desired=desired,
        observed=observed,
        broker=BrokerSettings(),
        safety=SafetyConfig(),
        today=datetime.date(2026, 1, 1),
        locate=lambda topic, pointer: Location(file=str(topic), pointer=pointer),
        content=content,
    )


NOTHING = RegistryState(
    namespaces={SPACE: NamespaceState(namespace=SPACE, exists=False)},
    topics={name: TopicState(topic=name) for name in (ONE, TWO)},
)


def plan(desired: RegistryState, observed: RegistryState = NOTHING, **rest: object) -> Plan:
    return make_plan(question(desired, observed, **rest))


def test_what_was_to_be_done_anyway_is_not_the_changes() -> None:
    before = plan(state({ONE: STRING}))
    own = attributed_plan(plan(state({ONE: STRING, TWO: STRING})), before)
    assert [type(one) for one in own.actions] == [RegisterSchema]
    assert own.actions[0].topic == TWO  # type: ignore[union-attr]
    assert (own.unchanged, own.topics) == (1, 2)
    assert set(own.expected) == {f"topic {TWO}"}


def test_a_schema_that_the_change_alters_is_its_own_although_none_was_applied() -> None:
    before = plan(state({ONE: STRING}))
    own = attributed_plan(plan(state({ONE: INT64})), before)
    assert [one.info for one in own.actions if isinstance(one, RegisterSchema)] == [INT64]
    assert not any(isinstance(one, CreateNamespace) for one in own.actions)


def test_a_policy_counts_by_key_and_value() -> None:
    held = state({ONE: STRING}, Strategy.FULL)
    before = plan(state({ONE: STRING}, Strategy.BACKWARD), held)
    same = attributed_plan(plan(state({ONE: STRING}, Strategy.BACKWARD), held), before)
    other = attributed_plan(plan(state({ONE: STRING}, Strategy.FORWARD), held), before)
    assert not same.actions
    assert [type(one) for one in other.actions] == [SetPolicy]


def test_a_refusal_that_was_there_before_is_not_the_changes() -> None:
    held = state({ONE: STRING}, Strategy.FULL)
    before = plan(state({ONE: INT64}, Strategy.FULL), held)
    assert before.findings
    again = attributed_plan(plan(state({ONE: INT64}, Strategy.FULL), held), before)
    assert (again.notices, again.findings) == ((), ())
    looser = plan(state({ONE: INT64}, Strategy.BACKWARD), held)
    own = attributed_plan(looser, before)
    assert [type(one) for one in own.notices] == [RefusedSchema]
    assert own.findings == looser.findings


def test_findings_about_definitions_that_nobody_touched_are_left_out() -> None:
    said = Finding(rule="AVRO-W020", severity=Severity.WARNING, message="old", subject=str(ONE))
    content = {ONE: (said,)}
    held = state({ONE: STRING}, Strategy.FULL)
    before = plan(held, held, content=content)
    assert before.findings
    assert not attributed_plan(plan(held, held, content=content), before).findings
    new = Finding(rule="AVRO-W020", severity=Severity.WARNING, message="new", subject=str(ONE))
    own = attributed_plan(plan(held, held, content={ONE: (said, new)}), before)
    assert [one.message for one in own.findings] == ["new"]


def test_a_finding_that_the_change_makes_worse_is_its_own() -> None:
    held = state({ONE: STRING}, Strategy.FULL)
    before = Finding(rule="PLAN-R021", severity=Severity.INFO, message="old", subject=str(ONE))
    after = replace(before, severity=Severity.ERROR)
    nothing = plan(held, held)
    own = attributed_plan(replace(nothing, findings=(after,)), replace(nothing, findings=(before,)))
    assert own.findings == (after,)


def test_the_strategy_that_holds_is_the_topics_the_namespaces_or_the_brokers() -> None:
    held = state({ONE: STRING, TWO: STRING})
    asked = question(
        state({ONE: STRING, TWO: STRING}, Strategy.FORWARD, one=Strategy.BACKWARD), held
    )
    assert strategy_of(asked, ONE) is Strategy.BACKWARD
    assert strategy_of(asked, TWO) is Strategy.FORWARD
    assert strategy_of(question(held, held), TWO) is Strategy.FULL
