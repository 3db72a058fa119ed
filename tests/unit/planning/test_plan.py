"""Plans: nothing to do where nothing differs, the right things in the right order elsewhere."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from gitops.model.config import SafetyConfig
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    DeleteSchema,
    Notice,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaSwallowed,
    SchemaWithoutEffect,
    SetPolicy,
)
from gitops.model.policy import BrokerSettings, NamespacePolicies, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaHistory
from gitops.model.state import RegistryState, TopicState
from gitops.planning.plan import make_plan, subject_of
from gitops.planning.plan_document import to_document
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.usecases.apply import apply
from tests.support.examples import examples
from tests.support.states import (
    CREATED,
    INT64,
    ORDERS,
    STRING,
    avro,
    field,
    info,
    observe,
    question,
    state,
    topic_state,
)
from tests.support.strategies import registry_states, schema_infos

_PAYMENTS = NamespaceName("shop", "payments")
_OLD, _NEW = avro(field("a")), avro(field("a"), field("b", default=""))
_BREAKING = avro(field("a"), field("b"))


def _desired_of(observed: RegistryState) -> RegistryState:
    """What files would say that want exactly what is there: the latest schema of each topic."""
    return replace(
        observed,
        topics={
            name: replace(topic, history=_only_latest(topic.history))
            for name, topic in observed.topics.items()
        },
    )


def _only_latest(history: SchemaHistory) -> SchemaHistory:
    return SchemaHistory(entries=history.entries[-1:])


@pytest.mark.slow
@given(registry_states())
def test_what_is_there_needs_no_change(observed: RegistryState) -> None:
    plan = make_plan(question(_desired_of(observed), observed, prune=True))

    assert (plan.actions, plan.notices, plan.findings, dict(plan.expected)) == ((), (), (), {})
    assert plan.unchanged == plan.topics == len(observed.topics)


@pytest.mark.slow
@settings(max_examples=examples(25))
@given(
    registry_states(schema_infos(), max_versions=1),
    registry_states(schema_infos(), max_versions=1),
)
def test_after_an_apply_there_is_nothing_left_to_do(
    first: RegistryState, second: RegistryState
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        registry = EmbeddedRegistry("local", Path(folder) / "registry.db")
        for desired in (first, second):
            before = make_plan(question(desired, observe(registry, first, second), prune=True))
            apply(before, registry)
            after = make_plan(question(desired, observe(registry, first, second), prune=True))

            assert after.actions == ()
            assert _about(after.notices) == _about(before.notices)
        registry.close()


def _about(notices: tuple[Notice, ...]) -> list[tuple[str, TopicName]]:
    """Kind and topic; a topic whose policies changed may be refused for another reason."""
    return [(type(notice).__name__, notice.topic) for notice in notices]


@pytest.mark.slow
@given(registry_states(), registry_states())
def test_a_digest_does_not_depend_on_the_order_of_mappings(
    desired: RegistryState, observed: RegistryState
) -> None:
    wanted = _desired_of(desired)
    plans = [
        make_plan(question(_ordered(wanted, turn), _ordered(observed, turn), prune=True))
        for turn in (False, True)
    ]

    assert to_document(plans[0]) == to_document(plans[1])
    assert plans[0] == plans[1]


def _ordered(one: RegistryState, turn: bool) -> RegistryState:  # noqa: FBT001 - a test's helper
    names = sorted(one.namespaces, reverse=turn)
    topics = sorted(one.topics, reverse=turn)
    return RegistryState(
        namespaces={name: one.namespaces[name] for name in names},
        topics={name: one.topics[name] for name in topics},
    )


@pytest.mark.slow
@given(registry_states(), registry_states())
def test_actions_stand_in_order_namespaces_first(
    desired: RegistryState, observed: RegistryState
) -> None:
    """Policies of a topic alone may come before: where its clients would be refused in between."""
    plan = make_plan(question(_desired_of(desired), observed, prune=True))
    subjects = [subject_of(action) for action in plan.actions]
    namespaces = [subject for subject in subjects if isinstance(subject, NamespaceName)]
    while subjects[:1] != namespaces[:1] and isinstance(plan.actions[-len(subjects)], SetPolicy):
        del subjects[0]
    changed = [a.topic for a in plan.actions if isinstance(a, RegisterSchema)]
    deleted = [a.topic for a in plan.actions if isinstance(a, DeleteSchema)]

    assert subjects[: len(namespaces)] == sorted(namespaces)
    assert changed == sorted(changed)
    assert deleted == sorted(set(observed.topics) & set(deleted))
    assert not set(deleted) & set(desired.topics)


def test_a_namespace_is_created_before_anything_is_set_in_it() -> None:
    policies = NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)
    own = TopicPolicies(schema_compatibility_strategy=Strategy.FULL)
    desired = state(topic_state(CREATED, STRING, policies=own), namespaces={ORDERS: policies})

    plan = make_plan(question(desired, RegistryState()))

    assert [type(action) for action in plan.actions] == [
        CreateNamespace,
        SetPolicy,
        SetPolicy,
        RegisterSchema,
    ]
    assert [subject_of(action) for action in plan.actions] == [ORDERS, ORDERS, CREATED, CREATED]
    assert plan.unchanged == 0


# ------------------------------------------------------------------ single topics


def _outcomes(plan: Plan) -> list[Action | Notice]:
    return [*plan.actions, *plan.notices]


def test_another_type_is_refused_unless_everything_is_allowed() -> None:
    observed = state(topic_state(CREATED, _OLD))
    anything = BrokerSettings(schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE)

    refused = make_plan(question(state(topic_state(CREATED, STRING)), observed))
    accepted = make_plan(question(state(topic_state(CREATED, STRING)), observed, broker=anything))

    assert [one.rule for one in refused.findings] == ["PLAN-R001"]
    assert "AVRO" in refused.findings[0].message
    assert "STRING" in refused.findings[0].message
    (action,) = accepted.actions
    assert isinstance(action, RegisterSchema)
    assert (action.version, action.latest_version) == (1, 0)
    assert [(c.before, c.after) for c in action.changes] == [("AVRO", "STRING")]


def test_after_a_deletion_the_next_number_is_taken() -> None:
    gone = TopicState(topic=CREATED, history=SchemaHistory(next_version=2))

    plan = make_plan(question(state(topic_state(CREATED, _BREAKING)), state(gone)))

    (action,) = plan.actions
    assert isinstance(action, RegisterSchema)
    assert (action.version, action.latest_version, action.changes) == (2, None, ())


def test_a_topic_without_a_schema_may_have_policies() -> None:
    own = TopicPolicies(schema_compatibility_strategy=Strategy.FULL)

    plan = make_plan(
        question(state(topic_state(CREATED, policies=own)), state(topic_state(CREATED, STRING)))
    )

    assert [type(action) for action in plan.actions] == [SetPolicy]


def test_only_pruning_deletes_and_only_live_schemas() -> None:
    other, empty = TopicName(ORDERS, "other"), TopicName(ORDERS, "without-schema")
    observed = state(
        topic_state(CREATED, STRING), topic_state(other, STRING, INT64, after=3), topic_state(empty)
    )
    desired = state(topic_state(CREATED, STRING))

    assert make_plan(question(desired, observed)).actions == ()
    assert make_plan(question(desired, observed, prune=True)).actions == (
        DeleteSchema(topic=other, versions=(3, 4)),
    )


@pytest.mark.rule("PLAN-R003")
@pytest.mark.rule("PLAN-R007")
def test_every_kind_of_notice_is_said_and_found() -> None:
    names = [TopicName(ORDERS, name) for name in ("refused", "reverted", "swallowed")]
    desired = state(
        topic_state(names[0], _BREAKING),
        topic_state(names[1], _OLD),
        topic_state(names[2], avro(field("a", doc="x"))),
    )
    observed = state(
        topic_state(names[0], _OLD), topic_state(names[1], _OLD, _NEW), topic_state(names[2], _OLD)
    )

    plan = make_plan(question(desired, observed))

    assert [type(notice) for notice in plan.notices] == [
        RefusedSchema,
        SchemaWithoutEffect,
        SchemaSwallowed,
    ]
    assert [(one.rule, one.subject, one.severity) for one in plan.findings] == [
        ("AVRO-R002", str(names[0]), Severity.ERROR),
        ("PLAN-R003", str(names[1]), Severity.WARNING),
        ("PLAN-R007", str(names[2]), Severity.INFO),
    ]
    assert plan.actions == ()
    assert plan.unchanged == 0


def test_too_large_a_change_is_found() -> None:
    desired = state(topic_state(CREATED, _NEW))
    observed = state(topic_state(CREATED, _OLD))
    safety = SafetyConfig(max_changed_share=0.5, min_topics=1)

    plan = make_plan(question(desired, observed, safety=safety))

    assert [one.rule for one in plan.findings] == ["PLAN-R004"]


# ------------------------------------------------------------------ what is wrong with a definition


_INVALID = info({"type": "record", "name": "Order", "fields": [field("a", default=1)]})
_CONTENT: tuple[Finding, ...] = (
    make_finding("AVRO-P002", "invalid default", location=Location(file="created.avsc", line=3)),
)


def _with_content(observed: RegistryState) -> tuple[list[type], list[tuple[str, Severity]]]:
    desired = state(topic_state(CREATED, _INVALID))
    plan = make_plan(question(desired, observed, content={CREATED: _CONTENT}))
    return [type(one) for one in _outcomes(plan)], [(f.rule, f.severity) for f in plan.findings]


def test_a_broken_definition_holds_back_a_first_version() -> None:
    assert _with_content(state()) == (
        [CreateNamespace, RefusedSchema],
        [("AVRO-P002", Severity.ERROR)],
    )


def test_a_broken_definition_that_the_registry_holds_already_is_a_warning() -> None:
    assert _with_content(state(topic_state(CREATED, _INVALID))) == (
        [],
        [("AVRO-P002", Severity.WARNING)],
    )


def test_a_broken_definition_of_another_topic_stops_nobody() -> None:
    other = TopicName(ORDERS, "other")
    desired = state(topic_state(CREATED, _NEW), topic_state(other, _INVALID))
    observed = state(topic_state(CREATED, _OLD), topic_state(other, _INVALID))

    plan = make_plan(question(desired, observed, content={other: _CONTENT}))

    assert [type(one) for one in _outcomes(plan)] == [RegisterSchema]
    assert [(one.rule, one.severity) for one in plan.findings] == [("AVRO-P002", Severity.WARNING)]
