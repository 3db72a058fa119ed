"""Waivers that do nothing, or soon will not."""

from __future__ import annotations

import datetime

import pytest

from gitops.model.findings import Finding, Severity
from gitops.model.plan import Plan
from gitops.model.schema import SchemaInfo
from gitops.model.waivers import Waiver
from gitops.planning.plan import make_plan
from gitops.planning.waiver_findings import expiry_findings
from tests.support.states import (
    CREATED,
    ORDERS,
    STRING,
    TODAY,
    avro,
    field,
    question,
    state,
    topic_state,
)
from tests.support.waivers import refusal, waiver

_OLD, _NEW, _BREAKING = (
    avro(field("a")),
    avro(field("a"), field("b", default="")),
    avro(field("a"), field("b")),
)


def _in_days(days: int) -> Waiver:
    return waiver("a" * 32, expires=TODAY + datetime.timedelta(days=days))


def _plan(desired: SchemaInfo, *held: SchemaInfo, waivers: tuple[Waiver, ...] = ()) -> Plan:
    wanted, there = state(topic_state(CREATED, desired)), state(topic_state(CREATED, *held))
    return make_plan(question(wanted, there, waivers=waivers))


def _about_waivers(plan: Plan) -> list[Finding]:
    return [one for one in plan.findings if one.rule.startswith("WAIVER-")]


@pytest.mark.rule("WAIVER-R001")
def test_the_last_day_is_over() -> None:
    (found,) = expiry_findings([_in_days(-1)], TODAY)

    assert (found.rule, found.severity) == ("WAIVER-R001", Severity.WARNING)
    assert found.message == "2026-05-11 was its last day"
    assert str(found.location) == "waivers/agreed.yaml:7:10"


@pytest.mark.rule("WAIVER-R002")
@pytest.mark.parametrize("days", [0, 1, 14])
def test_the_last_day_is_near(days: int) -> None:
    (found,) = expiry_findings([_in_days(days)], TODAY)

    assert (found.rule, found.severity) == ("WAIVER-R002", Severity.INFO)


def test_the_last_day_is_far() -> None:
    assert list(expiry_findings([_in_days(15)], TODAY)) == []


@pytest.mark.rule("WAIVER-R003")
@pytest.mark.parametrize(
    ("desired", "held", "why"),
    [
        (_NEW, (_OLD,), "the topic's schema is not refused"),
        (_OLD, (_OLD,), "the topic's schema is not refused"),
        (_OLD, (_OLD, _NEW), "the topic's schema is not refused"),
        (_NEW, (), "the topic's schema is not refused"),
    ],
    ids=["accepted", "unchanged", "without effect", "first"],
)
def test_nothing_needs_it(desired: SchemaInfo, held: tuple[SchemaInfo, ...], why: str) -> None:
    plan = _plan(desired, *held, waivers=(waiver("a" * 32),))

    (found,) = _about_waivers(plan)
    assert (found.rule, found.message, found.severity) == ("WAIVER-R003", why, Severity.WARNING)
    assert found.subject == "shop/orders/created"


def test_it_is_done() -> None:
    agreed = waiver(refusal(_plan(_BREAKING, _OLD)).fingerprint)

    (found,) = _about_waivers(_plan(_BREAKING, _OLD, _BREAKING, waivers=(agreed,)))

    assert (found.rule, found.message) == (
        "WAIVER-R003",
        "v1 is registered, so the waiver has done its work",
    )


def test_one_waiver_is_used_and_another_is_not() -> None:
    wanted = refusal(_plan(_BREAKING, _OLD)).fingerprint
    used, same, other = (
        waiver(wanted, name="a"),
        waiver(wanted, name="b"),
        waiver("c" * 32, name="c"),
    )

    (found,) = _about_waivers(_plan(_BREAKING, _OLD, waivers=(other, same, used)))

    assert (found.rule, found.message) == (
        "WAIVER-R003",
        "waivers/a.yaml already lets the schema pass",
    )
    assert found.location == other.location


def test_a_topic_without_a_managed_schema() -> None:
    desired = state(topic_state(CREATED))

    plan = make_plan(question(desired, desired, waivers=(waiver("a" * 32),)))

    (found,) = _about_waivers(plan)
    assert (found.rule, found.message) == ("WAIVER-R003", "the topic's manifest names no schema")


@pytest.mark.rule("WAIVER-R004")
def test_what_is_refused_is_another_change() -> None:
    plan = _plan(_BREAKING, _OLD, waivers=(waiver("a" * 32),))

    (found,) = _about_waivers(plan)
    assert (found.rule, found.severity) == ("WAIVER-R004", Severity.WARNING)
    assert "a" * 32 in found.message
    assert refusal(plan).fingerprint in found.message


@pytest.mark.rule("WAIVER-R007")
def test_what_no_waiver_can_let_pass() -> None:
    invalid = SchemaInfo(type=STRING.type, schema="text")
    agreed = waiver(refusal(_plan(invalid, STRING)).fingerprint)

    (found,) = _about_waivers(_plan(invalid, STRING, waivers=(agreed,)))

    assert (found.rule, found.severity) == ("WAIVER-R007", Severity.WARNING)
    assert found.message.startswith("Pulsar refuses the schema under every strategy: ")


def test_of_what_has_expired_nothing_else_is_said() -> None:
    wanted = refusal(_plan(_BREAKING, _OLD)).fingerprint
    yesterday = TODAY - datetime.timedelta(days=1)
    expired = tuple(waiver(one, name=one[:4], expires=yesterday) for one in (wanted, "b" * 32))

    assert _about_waivers(_plan(_BREAKING, _OLD, waivers=expired)) == []
    assert _about_waivers(_plan(_NEW, _OLD, waivers=expired)) == []
    assert refusal(_plan(_BREAKING, _OLD, waivers=expired)).waiver is not None


def test_severities_can_be_set() -> None:
    desired, observed = state(topic_state(CREATED, _NEW)), state(topic_state(CREATED, _OLD))
    asked = question(
        desired, observed, waivers=(waiver("a" * 32),), rules={"WAIVER-R003": Severity.OFF}
    )

    assert make_plan(asked).findings == ()


def test_waivers_of_topics_that_are_not_asked_about_say_nothing() -> None:
    empty = state(namespaces={ORDERS: state(topic_state(CREATED)).namespaces[ORDERS].policies})

    assert make_plan(question(empty, empty, waivers=(waiver("a" * 32),))).findings == ()
