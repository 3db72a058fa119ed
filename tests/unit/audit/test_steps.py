"""What to do before an upgrade: once for all findings, in order."""

from __future__ import annotations

from gitops.model.policy import BrokerSettings, NamespacePolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from tests.support.audits import Definition, audit_of, pair, record
from tests.support.states import field

DASHED = record(namespace="com.my-co")
JACKSON = ("JSON", '{"type": "object"}')


def test_topics_of_all_causes_are_counted_once() -> None:
    other = record(namespace="a-b")
    topics: dict[str, tuple[Definition, ...]] = {
        "a": (DASHED, other),
        "b": (other,),
        "c": (JACKSON,),
        "d": (record(),),
    }
    first, switch, last = audit_of(topics, target="5.0").steps

    named = "shop/orders/a, shop/orders/b, shop/orders/c (AUDIT-U001 and AUDIT-U002)"
    assert first.startswith(f"on 4.0, before the first broker of 5.0, for {named}: let consumers")
    assert "schemaJsonAllowLegacyJacksonFormat=true" in switch
    assert last == "until no broker of 4.0 is left: register nothing that AUDIT-U005 lists"


def test_of_many_topics_some_are_named_and_where_all_are() -> None:
    (first, _) = audit_of({f"t{number}": (DASHED,) for number in range(9)}, target="5.0").steps

    assert (
        "for each of 9 topics (shop/orders/t0, shop/orders/t1, shop/orders/t2 and 6 more: all are "
        "under AUDIT-U001): let consumers"
    ) in first


def test_one_topic_and_no_switch_where_it_is_on_or_no_json() -> None:
    (first, _) = audit_of({"a": (DASHED,)}, target="4.2").steps
    assert "for shop/orders/a (AUDIT-U001): " in first
    broker = BrokerSettings(schema_json_allow_legacy_jackson_format=True)
    (only,) = audit_of({"a": (JACKSON,)}, target="4.2", broker=broker).steps
    assert "AUDIT-U005" in only


def test_nothing_is_to_be_done_without_another_line() -> None:
    assert audit_of({"a": (DASHED,)}).steps == ()
    assert audit_of({"a": (DASHED,)}, target="4.0").steps == ()


def test_a_valid_schema_that_is_refused_is_a_step_of_its_own() -> None:
    """A KEY_VALUE whose half no equality reads, on the way back."""
    branch = pair(record(field("b", ["int", "null"], default=None)))
    backward = NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)
    topics = {"a": (branch, pair(record()))}
    steps = audit_of(topics, present="4.2", target="4.0", policies=backward).steps

    assert any("(AUDIT-U003): register a definition that 4.2 and 4.0" in one for one in steps)
