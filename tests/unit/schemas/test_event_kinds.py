"""Several kinds of event on one topic: a change is looked at beside its own kind."""

from __future__ import annotations

import pytest

from gitops.model.findings import Severity
from gitops.model.plan import Plan, RegisterSchema
from gitops.model.policy import BrokerSettings
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.planning.plan import make_plan
from tests.support.states import CREATED, avro, field, info, pair, question, record, state
from tests.support.states import topic_state as topic

_PLACED = avro(field("id"), field("total", "int"), name="Placed")
_CANCELLED = avro(field("id"), field("why"), name="Cancelled")


def _plan(
    *history: SchemaInfo, new: SchemaInfo, strategy: Strategy = Strategy.ALWAYS_COMPATIBLE
) -> Plan:
    defaults = BrokerSettings(schema_compatibility_strategy=strategy)
    return make_plan(
        question(state(topic(CREATED, new)), state(topic(CREATED, *history)), broker=defaults)
    )


def _said(plan: Plan) -> list[str]:
    return [one.message for one in plan.findings if one.rule == "CLIENT-R007"]


@pytest.mark.rule("CLIENT-R007")
def test_both_directions_of_a_kind_are_told() -> None:
    """CLIENT-R007: the latest version of the topic is of another kind."""
    new = avro(field("id"), field("total", "long"), field("note"), name="Placed")
    plan = _plan(_PLACED, _CANCELLED, new=new)
    note, total = _said(plan)
    assert note.startswith("at 'note': consumers with the new schema cannot read messages of v0: ")
    assert total == (
        "at 'total': consumers with v0 cannot read messages of the new schema: "
        "a reader of int cannot read long"
    )
    assert {one.severity for one in plan.findings} == {Severity.WARNING}
    (action,) = plan.actions
    assert isinstance(action, RegisterSchema)
    assert [(one.kind.value, one.path) for one in action.changes] == [("~", "total"), ("+", "note")]


def test_what_both_sides_read_is_nothing_to_tell() -> None:
    optional = field("note", ["null", "string"], default=None)
    new = avro(field("id"), field("total", "int"), optional, name="Placed")
    assert _plan(_PLACED, _CANCELLED, new=new).findings == ()


@pytest.mark.rule("CLIENT-R007")
def test_a_new_kind_is_compared_with_nobody_and_the_plan_says_so() -> None:
    plan = _plan(_PLACED, new=_CANCELLED)
    (finding,) = plan.findings
    assert (finding.rule, finding.severity) == ("CLIENT-R007", Severity.WARNING)
    assert finding.message == (
        "'Cancelled' is a new kind of event beside 'Placed' (v0): it is compared with no version, "
        "and consumers of one kind may fail on messages of another"
    )
    assert finding.hint == (
        'if it is \'Placed\' under another name, keep the name or add "aliases": ["Placed"], and '
        "it is compared"
    )
    (action,) = plan.actions
    assert isinstance(action, RegisterSchema)
    assert (action.latest_version, action.changes) == (0, ())


def test_an_alias_is_the_name_of_before() -> None:
    new = avro(field("id"), field("total", "int"), field("b"), name="Ordered", aliases=["Placed"])
    assert [each[:9] for each in _said(_plan(_PLACED, _CANCELLED, new=new))] == ["at 'b': c"]


def test_a_later_version_of_a_kind_is_no_new_kind() -> None:
    optional = field("note", ["null", "string"], default=None)
    new = avro(field("id"), field("total", "int"), optional, name="Placed")
    assert _said(_plan(_PLACED, _CANCELLED, new=new)) == []


@pytest.mark.parametrize("aliases", [["Order"], ["a.Order"]])
def test_an_alias_may_have_another_namespace(aliases: list[str]) -> None:
    old = avro(field("x", "int"), name="Order", namespace="a")
    new = avro(field("x", "string"), name="OrderCreated", namespace="b", aliases=aliases)
    assert [each[:8] for each in _said(_plan(old, new=new))] == ["at 'x': "] * 2


def test_a_namespace_is_no_part_of_a_kind() -> None:
    """Avro for Java does not compare it: messages of one are read as the other."""
    old = avro(field("x", "int"), name="Order", namespace="a")
    assert _said(_plan(old, new=avro(field("x", "int"), name="Order", namespace="b"))) == []
    new = avro(field("x", "string"), name="Order", namespace="b")
    assert [each[:8] for each in _said(_plan(old, new=new))] == ["at 'x': "] * 2


def test_json_has_new_kinds_too() -> None:
    old, new = (
        info(record(field("x"), name=name), SchemaType.JSON) for name in ("Order", "Created")
    )
    (message,) = _said(_plan(old, new=new))
    assert message.startswith("'Created' is a new kind of event beside 'Order' (v0): ")


def test_older_versions_of_the_kind_are_read_too() -> None:
    wider = avro(field("id"), field("total", "long"), name="Placed")
    new = avro(
        field("id"), field("total", ["long", "string"]), field("b", default=""), name="Placed"
    )
    newer = avro(field("id"), field("total", "string"), name="Placed")
    assert _said(_plan(_PLACED, wider, _CANCELLED, new=newer))
    only_forward = _said(_plan(_PLACED, wider, _CANCELLED, new=new))
    assert all("consumers with v1 cannot read" in each for each in only_forward)


def test_older_ones_are_told_by_their_version() -> None:
    text = avro(field("id"), field("total", "string"), name="Placed")
    optional = avro(field("id"), name="Placed")
    new = avro(field("id"), field("total", "string", default=""), name="Placed")
    (told,) = _said(_plan(_PLACED, optional, _CANCELLED, new=new))
    assert told == (
        "at 'total': consumers with the new schema cannot read messages of v0: "
        "a reader of string cannot read int"
    )
    assert _said(_plan(text, optional, _CANCELLED, new=new)) == []


@pytest.mark.parametrize("strategy", [s for s in Strategy if s is not Strategy.ALWAYS_COMPATIBLE])
def test_where_pulsar_looks_this_rule_does_not(strategy: Strategy) -> None:
    new = avro(field("id"), field("total", "string"), name="Placed")
    assert _said(_plan(_PLACED, new=new, strategy=strategy)) == []


def test_json_and_pairs_have_kinds() -> None:
    old = record(field("total", "int"), name="Placed")
    new = record(field("total", "string"), name="Placed")
    other = record(field("why"), name="Cancelled")
    of_json = [info(each, SchemaType.JSON) for each in (old, other, new)]
    assert len(_said(_plan(*of_json[:2], new=of_json[2]))) == 2
    of_pairs = [pair(old, each) for each in (old, new)]
    assert [each[:16] for each in _said(_plan(of_pairs[0], new=of_pairs[1]))] == [
        "at 'value.total'"
    ] * 2


def test_another_type_stays_to_be_seen() -> None:
    plan = _plan(_PLACED, new=SchemaInfo(type=SchemaType.STRING))
    (action,) = plan.actions
    assert isinstance(action, RegisterSchema)
    assert [(one.before, one.after) for one in action.changes] == [("AVRO", "STRING")]
