"""How a plan lets in what Pulsar refuses, and closes what was left open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.plan import (
    Action,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaSwallowed,
    SetPolicy,
)
from gitops.model.policy import NamespacePolicies, PolicyValue, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState, TopicState
from gitops.model.waivers import Waiver
from gitops.planning.plan import make_plan
from tests.support.states import (
    CREATED,
    INT64,
    ORDERS,
    STRING,
    avro,
    field,
    question,
    state,
    topic_state,
)
from tests.support.waivers import refusal, waiver

_OLD, _BREAKING = avro(field("a")), avro(field("a"), field("b"))
_OPEN = Strategy.ALWAYS_COMPATIBLE


def _state(
    *infos: SchemaInfo,
    own: Strategy | None = None,
    enforced: bool | None = None,
    topic: TopicName = CREATED,
) -> RegistryState:
    policies = TopicPolicies(schema_compatibility_strategy=own, schema_validation_enforced=enforced)
    return state(
        topic_state(topic, *infos, policies=policies),
        namespaces={ORDERS: NamespacePolicies()},
    )


def _plan(desired: RegistryState, observed: RegistryState, *waivers: Waiver) -> Plan:
    return make_plan(question(desired, observed, waivers=waivers))


def _agreed(desired: RegistryState, observed: RegistryState) -> Waiver:
    """A waiver for what is refused now."""
    (topic,) = desired.topics
    return waiver(refusal(_plan(desired, observed)).fingerprint, topic)


def _steps(plan: Plan) -> list[tuple[PolicyValue, PolicyValue] | str]:
    return [_step(action) for action in plan.actions]


def _step(action: Action) -> tuple[PolicyValue, PolicyValue] | str:
    if isinstance(action, SetPolicy):
        return action.change.before, action.change.after
    assert isinstance(action, RegisterSchema)
    return f"v{action.version}"


@pytest.mark.parametrize(
    ("wanted", "held", "steps"),
    [
        (None, None, [(None, _OPEN), "v1", (_OPEN, None)]),
        (None, Strategy.FULL, [(Strategy.FULL, _OPEN), "v1", (_OPEN, Strategy.FULL)]),
        (
            Strategy.FORWARD_TRANSITIVE,
            None,
            [(None, _OPEN), "v1", (_OPEN, Strategy.FORWARD_TRANSITIVE)],
        ),
        (Strategy.FULL, Strategy.FULL, [(Strategy.FULL, _OPEN), "v1", (_OPEN, Strategy.FULL)]),
        (
            Strategy.BACKWARD,
            Strategy.FULL,
            [(Strategy.FULL, _OPEN), "v1", (_OPEN, Strategy.BACKWARD)],
        ),
        (Strategy.FULL, _OPEN, ["v1", (_OPEN, Strategy.FULL)]),
    ],
)
@pytest.mark.parametrize("schema", [avro(field("a", "int")), INT64], ids=["content", "type"])
def test_a_topic_is_loosened_and_set_back_to_what_it_was_or_shall_be(
    wanted: Strategy | None,
    held: Strategy | None,
    steps: list[object],
    schema: SchemaInfo,
) -> None:
    desired, observed = _state(schema, own=wanted), _state(_OLD, own=held)

    plan = _plan(desired, observed, _agreed(desired, observed))

    assert _steps(plan) == steps
    assert plan.notices == ()
    (registered,) = (one for one in plan.actions if isinstance(one, RegisterSchema))
    assert (registered.waiver, registered.accepted) == ("agreed", False)
    refused = [finding for finding in plan.findings if not finding.rule.startswith("PLAN-R02")]
    assert all(finding.severity is Severity.INFO for finding in refused)
    assert "waived until" in refused[0].hint


def test_other_policies_come_first() -> None:
    desired, observed = _state(_BREAKING, own=Strategy.FULL, enforced=True), _state(_OLD)

    plan = _plan(desired, observed, _agreed(desired, observed))

    assert _steps(plan) == [(None, True), (None, _OPEN), "v1", (_OPEN, Strategy.FULL)]
    assert [getattr(one, "waiver", "") for one in plan.actions] == ["", *["agreed"] * 3]


def test_what_only_a_rule_of_ours_holds_back_is_registered_without_more() -> None:
    desired, observed = _state(_OLD, own=Strategy.FULL), _state()
    held = question(
        desired, observed, content={CREATED: (make_finding("AVRO-P002", "bad default"),)}
    )
    refused = refusal(make_plan(held))
    assert refused.accepted
    assert refused.waiver is not None

    plan = make_plan(replace(held, waivers=(waiver(refused.fingerprint),)))

    assert _steps(plan) == [(None, Strategy.FULL), "v0"]
    assert [(one.rule, one.severity) for one in plan.findings] == [("AVRO-P002", Severity.INFO)]


def test_a_severity_of_the_settings_does_not_undo_a_waiver() -> None:
    drops = (
        {"type": "enum", "name": "E", "symbols": ["A", "B"]},
        {
            "type": "enum",
            "name": "E",
            "symbols": ["A"],
        },
    )
    old, new = (avro(field("e", one)) for one in drops)
    held = question(_state(new), _state(old), rules={"AVRO-W001": Severity.ERROR})
    refused = refusal(make_plan(held))

    plan = make_plan(replace(held, waivers=(waiver(refused.fingerprint),)))

    assert _steps(plan) == ["v1"]
    assert {one.severity for one in plan.findings} == {Severity.INFO}


# ------------------------------------------------------------------ where it is not possible


def _not_there(topic: TopicState) -> RegistryState:
    return state(replace(topic, exists=False))


@pytest.mark.parametrize(
    ("desired", "observed", "why", "hint"),
    [
        (
            _state(SchemaInfo(type=STRING.type, schema="text")),
            _state(_OLD),
            "under every strategy",
            "fix the reasons",
        ),
        (
            _state(avro(field("a", "int", default=1))),
            _state(avro(field("a", "int", default="x"))),
            "the broker fails on every further one",
            "fix the reasons",
        ),
        (
            _state(_BREAKING),
            _not_there(topic_state(CREATED, _OLD)),
            "accepts no policies for the topic",
            "pulsar-admin topics create shop/orders/created",
        ),
        (
            _state(_BREAKING, topic=TopicName(ORDERS, "created", "non-persistent")),
            _state(_OLD, topic=TopicName(ORDERS, "created", "non-persistent")),
            "a non-persistent topic cannot have its own strategy",
            "namespace",
        ),
    ],
    ids=["invalid data", "poisoned history", "no such topic", "non-persistent"],
)
def test_where_no_waiver_helps_none_is_proposed_and_one_that_is_there_is_told_so(
    desired: RegistryState, observed: RegistryState, why: str, hint: str
) -> None:
    refused = refusal(_plan(desired, observed))
    plan = _plan(desired, observed, _agreed(desired, observed))

    assert refused.waiver is None
    assert plan.actions == ()
    assert isinstance(plan.notices[0], RefusedSchema)
    (told,) = (one for one in plan.findings if one.rule == "WAIVER-R007")
    assert why in told.message
    assert hint in told.hint


# ------------------------------------------------------------------ left open


@pytest.mark.parametrize("own", [None, *(s for s in Strategy if s is not _OPEN)])
def test_a_topic_that_was_left_open_is_registered_and_set_back(own: Strategy | None) -> None:
    desired, before = _state(INT64), _state(_OLD, own=own)
    agreed = _agreed(desired, before)
    back = None if own is Strategy.UNDEFINED else own

    opened = _plan(desired, _state(_OLD, own=_OPEN), agreed)
    registered = _plan(desired, _state(_OLD, INT64, own=_OPEN), agreed)
    done = _plan(desired, _state(_OLD, INT64, own=own), agreed)

    told = (*opened.findings, *registered.findings)
    assert not [one for one in told if one.rule.startswith("WAIVER-")]
    assert _steps(opened) == ["v1", (_OPEN, back)]
    assert _steps(registered) == [(_OPEN, back)]
    assert done.actions == ()
    assert "the waiver has done its work" in done.findings[0].message


def test_a_topic_left_open_is_set_back_also_where_the_wish_has_changed() -> None:
    agreed = _agreed(_state(_BREAKING), _state(_OLD))
    later = avro(field("a"), field("b"), field("c", default=""))

    plan = _plan(_state(later), _state(_OLD, _BREAKING, own=_OPEN), agreed)

    assert _steps(plan) == [(_OPEN, None), "v2"]
    assert isinstance(plan.actions[0], SetPolicy)
    assert plan.actions[0].sets_back


def test_a_topic_left_open_is_set_back_though_the_waiver_has_expired() -> None:
    agreed = _agreed(_state(_BREAKING), _state(_OLD))
    expired = replace(agreed, expires=agreed.expires.replace(year=2020))

    plan = _plan(_state(_BREAKING), _state(_OLD, own=_OPEN), expired)

    assert _steps(plan) == [(_OPEN, None)]
    assert refusal(plan).fingerprint == agreed.fingerprint


def test_a_topic_that_somebody_opened_without_a_waiver_is_left_alone() -> None:
    other = waiver("a" * 32)

    for waivers in ((), (other,)):
        plan = _plan(_state(_BREAKING), _state(_OLD, own=_OPEN), *waivers)

        assert _steps(plan) == ["v1"]


def _looser(plan: Plan) -> list[str]:
    return [one.message for one in plan.findings if one.rule == "PLAN-R009"]


@pytest.mark.rule("PLAN-R009")
def test_a_topic_that_is_open_for_no_known_reason_is_told_of() -> None:
    """The waiver is gone, or what is wanted is another schema than the one that it let in."""
    agreed = _agreed(_state(_BREAKING), _state(_OLD))
    later = avro(field("a"), field("b"), field("c"))
    opened = _state(_OLD, own=_OPEN)

    for plan in (
        _plan(_state(_BREAKING), opened),
        _plan(_state(later), opened, agreed),
        _plan(_state(_OLD), opened),
        _plan(_state(), opened),
    ):
        (message,) = _looser(plan)
        assert "schemaCompatibilityStrategy ALWAYS_COMPATIBLE for this topic alone" in message
        assert "it is looser than FULL, which applies without it" in message
        (told,) = (one for one in plan.findings if one.rule == "PLAN-R009")
        assert (told.severity, told.subject) == (Severity.WARNING, str(CREATED))
        command = f"policies set {CREATED} schemaCompatibilityStrategy= --registry"
        assert f"{command} {plan.registry};" in told.hint

    assert not _looser(_plan(_state(_BREAKING), opened, agreed)), "it is set back"


@pytest.mark.rule("PLAN-R009")
def test_no_command_is_offered_that_would_lock_clients_out() -> None:
    """v1 cannot read v0, so under FULL_TRANSITIVE no consumer with v1 connects."""
    other = avro(field("a", "long"))
    strict = {ORDERS: NamespacePolicies(schema_compatibility_strategy=Strategy.FULL_TRANSITIVE)}
    is_open = TopicPolicies(schema_compatibility_strategy=_OPEN)
    observed = state(topic_state(CREATED, _OLD, other, policies=is_open), namespaces=strict)

    plan = _plan(state(topic_state(CREATED, other), namespaces=strict), observed)

    (finding,) = (one for one in plan.findings if one.rule == "PLAN-R009")
    assert "policies set" not in finding.hint
    assert "clients with the latest version could no longer connect" in finding.hint


@pytest.mark.rule("PLAN-R009")
@pytest.mark.parametrize("is_strict_first", [True, False])
def test_no_command_is_offered_that_would_lock_clients_out_before_or_after_the_plan(
    is_strict_first: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    other = avro(field("a", "long"))
    strict = NamespacePolicies(schema_compatibility_strategy=Strategy.FULL_TRANSITIVE)
    loose = NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)
    before, after = (strict, loose) if is_strict_first else (loose, strict)
    is_open = TopicPolicies(schema_compatibility_strategy=_OPEN)
    observed = state(
        topic_state(CREATED, _OLD, other, policies=is_open), namespaces={ORDERS: before}
    )

    plan = _plan(state(topic_state(CREATED, other), namespaces={ORDERS: after}), observed)

    (finding,) = (one for one in plan.findings if one.rule == "PLAN-R009")
    assert "policies set" not in finding.hint


@pytest.mark.parametrize(
    ("wanted", "held", "topic"),
    [
        (_OPEN, _OPEN, CREATED),
        (Strategy.FULL, _OPEN, CREATED),
        (None, Strategy.FULL_TRANSITIVE, CREATED),
        (None, Strategy.FULL, CREATED),
        (None, Strategy.UNDEFINED, CREATED),
        (None, None, CREATED),
        (None, _OPEN, TopicName(ORDERS, "created", "non-persistent")),
    ],
)
def test_a_topic_is_looser_only_where_nobody_says_it_and_it_counts(
    wanted: Strategy | None, held: Strategy | None, topic: TopicName
) -> None:
    plan = _plan(_state(_OLD, own=wanted, topic=topic), _state(_OLD, own=held, topic=topic))

    assert not _looser(plan)


def test_a_topic_without_a_managed_schema_is_set_back_too() -> None:
    agreed = _agreed(_state(_BREAKING), _state(_OLD))

    plan = _plan(_state(), _state(_OLD, _BREAKING, own=_OPEN), agreed)

    assert _steps(plan) == [(_OPEN, None)]


def test_what_pulsar_ignores_in_a_topic_left_open_is_said_beside() -> None:
    agreed = _agreed(_state(_BREAKING), _state(_OLD))
    noted = avro(field("a"), field("b"), doc="a note")

    plan = _plan(_state(noted), _state(_OLD, _BREAKING, own=_OPEN), agreed)

    assert _steps(plan) == [(_OPEN, None)]
    assert isinstance(plan.notices[0], SchemaSwallowed)
