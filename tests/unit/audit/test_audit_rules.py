"""Each rule of an audit: a topic that breaks it, and one close to it that does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.audit.health import inactive_topic_findings
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings, NamespacePolicies, Retention, TopicPolicies
from gitops.model.policy import SchemaAutoUpdateCompatibilityStrategy as Legacy
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaType
from tests.support.audits import audit_of, pair, record
from tests.support.protos import order
from tests.support.states import field

TEXT = record(field("b"))
NUMBER = record(field("b", "int"))
WIDER = record(field("b"), field("c", ["null", "string"], default=None))
DASHED = record(namespace="com.my-co")
LOOSE = NamespacePolicies(schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE)
BACKWARD = NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)


def of_rule(findings: tuple[Finding, ...], rule: str) -> list[Finding]:
    return [one for one in findings if one.rule == rule]


@pytest.mark.rule("AUDIT-U001")
def test_a_version_that_only_the_target_refuses() -> None:
    report = audit_of({"a": (DASHED, DASHED)}, target="4.2")
    (found,) = of_rule(report.findings, "AUDIT-U001")

    assert found.severity is Severity.ERROR
    assert found.message.startswith("v0, v1: 'my-co' is not a name")
    assert "4.2 refuses producers, uploads and compatibility tests" in found.message
    assert found.hint.startswith(
        "on 4.0, before the first broker of 4.2: delete the topic's schema when the"
    )
    assert report.counts.changed == 1
    assert not of_rule(audit_of({"a": (TEXT,)}, target="4.2").findings, "AUDIT-U001")
    assert not of_rule(audit_of({"a": (DASHED,)}).findings, "AUDIT-U001")


def test_topics_with_one_cause_are_one_finding() -> None:
    report = audit_of({"a": (DASHED,), "b": (DASHED,), "c": (TEXT,)}, target="5.0")
    (found,) = of_rule(report.findings, "AUDIT-U001")

    assert [one.subject for one in found.members] == ["shop/orders/a", "shop/orders/b"]
    assert [str(one.topic) for one in report.differences] == ["shop/orders/a", "shop/orders/b"]


def test_an_old_version_that_stops_all_is_one_finding_about_it() -> None:
    report = audit_of({"a": (record(namespace="a-b"), TEXT)}, target="4.2", policies=LOOSE)
    (found,) = of_rule(report.findings, "AUDIT-U001")

    assert found.message.startswith("v0: 'a-b' is not a name")
    assert "register the latest definition again" in found.hint


def test_the_latest_version_is_mended_whichever_is_told_of() -> None:
    report = audit_of({"a": (DASHED, record(namespace="a-b"))}, target="4.2", policies=LOOSE)

    hints = {one.hint for one in of_rule(report.findings, "AUDIT-U001")}
    assert len(hints) == 1
    assert "register the corrected definition" in hints.pop()


def test_the_way_back_is_an_upgrade_too() -> None:
    default = record(field("b", ["int", "null"], default=None))
    (found,) = of_rule(
        audit_of({"a": (default,)}, present="4.2", target="4.0").findings, "AUDIT-U001"
    )

    assert found.message.startswith("v0: the default of 'b' is no [int, null]; 4.0 refuses")


def test_a_union_is_to_be_wrapped() -> None:
    union = '["null", {"type": "record", "name": "A", "fields": []}]'
    (found,) = of_rule(
        audit_of({"a": (union,)}, present="3.0", target="4.0").findings, "AUDIT-U001"
    )

    assert "register a record that contains the union" in found.hint


@pytest.mark.rule("AUDIT-U002")
def test_a_json_definition_that_is_not_avro() -> None:
    report = audit_of({"a": (("JSON", '{"type": "object"}'),)}, target="4.2")
    (found,) = of_rule(report.findings, "AUDIT-U002")

    assert found.message.startswith("v0: not a valid JSON schema")
    good = audit_of({"a": (("JSON", TEXT),)}, target="4.2")
    assert not of_rule(good.findings, "AUDIT-U002")


JACKSON = ("JSON", '{"type": "object"}')
SWITCH = "schemaJsonAllowLegacyJacksonFormat=true on every broker keeps "


def test_what_the_switch_for_json_gives_back_is_decided() -> None:
    """Producers are refused before and after; consumers and tests are not with the switch."""
    report = audit_of({"a": (JACKSON,)}, target="4.2")
    (found,) = of_rule(report.findings, "AUDIT-U002")

    assert found.hint.startswith(
        f"{SWITCH}consumers with a new schema, compatibility tests with the same or a new schema; "
        "producers and uploads with the same or a new schema need: on 4.0, before the first"
    )
    assert "register the definition in Avro's form" in found.hint


def test_the_switch_for_json_keeps_producers_of_pairs() -> None:
    """No half of a KEY_VALUE is read for equality: with the switch nothing is refused."""
    old = pair('{"type": "object"}', kind="JSON")
    report = audit_of({"a": (old,)}, target="4.2", policies=LOOSE)
    (found,) = of_rule(report.findings, "AUDIT-U002")

    kept = "producers, uploads and compatibility tests with the same or a new schema"
    assert found.hint.startswith(f"{SWITCH}{kept}; without it: on 4.0, before the first")


def test_the_switch_for_json_mends_no_avro() -> None:
    """A JSON definition in Avro's form is wrong in the way of one of type AVRO."""
    report = audit_of({"a": (("JSON", DASHED),)}, target="4.2")
    (found,) = of_rule(report.findings, "AUDIT-U001")

    assert "schemaJsonAllowLegacyJacksonFormat" not in found.hint
    assert not of_rule(report.findings, "AUDIT-U002")


@pytest.mark.parametrize("definition", [JACKSON, ("JSON", DASHED)])
def test_the_switch_for_json_that_is_on_is_no_advice(definition: tuple[str, str]) -> None:
    broker = BrokerSettings(schema_json_allow_legacy_jackson_format=True)
    report = audit_of({"a": (definition,)}, target="4.2", broker=broker)

    assert not of_rule(report.findings, "AUDIT-U002")
    assert not [one for one in report.findings if "LegacyJacksonFormat" in one.hint]


@pytest.mark.rule("AUDIT-U003")
def test_a_valid_schema_that_only_the_target_refuses() -> None:
    """No half of a KEY_VALUE is read for equality, but a consumer's is compared."""
    branch = record(field("b", ["int", "null"], default=None))
    pairs = (pair(branch), pair(record()))
    report = audit_of({"a": pairs}, present="4.2", target="4.0", policies=BACKWARD)
    (found,) = of_rule(report.findings, "AUDIT-U003")

    assert found.message.endswith(
        "; 4.0 refuses consumers and compatibility tests with an older schema"
    )
    back = audit_of({"a": pairs}, present="4.0", target="4.2", policies=BACKWARD)
    assert not of_rule(back.findings, "AUDIT-U003")


@pytest.mark.rule("AUDIT-U004")
def test_a_topic_that_is_free_again() -> None:
    default = record(field("b", ["int", "null"], default=None))
    report = audit_of({"a": (default,)}, target="4.2")
    (found,) = of_rule(report.findings, "AUDIT-U004")

    assert found.message.startswith("4.2 accepts what 4.0 refuses: producers and uploads")
    assert report.counts.changed == 0
    assert not of_rule(audit_of({"a": (TEXT,)}, target="4.2").findings, "AUDIT-U004")


@pytest.mark.rule("AUDIT-U005")
def test_what_stops_a_way_back() -> None:
    (found,) = of_rule(audit_of({}, target="4.2").findings, "AUDIT-U005")

    assert "`$` in names" in found.message
    assert not of_rule(audit_of({}, target="4.0").findings, "AUDIT-U005")


@pytest.mark.rule("AUDIT-S001")
def test_what_another_strategy_would_have_refused() -> None:
    report = audit_of({"a": (TEXT, NUMBER)}, policies=LOOSE, strategy=Strategy.BACKWARD)
    (found,) = of_rule(report.findings, "AUDIT-S001")

    assert found.message.startswith("v1: BACKWARD would have refused what was registered: ")
    good = audit_of({"a": (TEXT, WIDER)}, policies=LOOSE, strategy=Strategy.FULL_TRANSITIVE)
    assert not of_rule(good.findings, "AUDIT-S001")


@pytest.mark.rule("AUDIT-S002")
def test_a_namespace_that_could_be_stricter() -> None:
    report = audit_of({"a": (TEXT, WIDER), "b": (TEXT,)}, policies=BACKWARD)
    (found,) = of_rule(report.findings, "AUDIT-S002")

    assert found.subject == "shop/orders"
    assert found.message == "BACKWARD is in force: all topics satisfy FULL_TRANSITIVE"
    one_version = audit_of({"b": (TEXT,)}, policies=BACKWARD)
    assert not of_rule(one_version.findings, "AUDIT-S002")


def test_a_topic_with_one_version_rules_out_what_refuses_its_consumers() -> None:
    """Under FULL_TRANSITIVE the broker refuses them the very definition (Pulsar 4.0.7)."""
    jackson = ("JSON", '{"type": "object", "properties": {"a": {"type": "integer"}}}')

    report = audit_of({"a": (TEXT, WIDER), "b": (jackson,)}, policies=BACKWARD)

    (found,) = of_rule(report.findings, "AUDIT-S002")
    assert found.message == "BACKWARD is in force: all topics satisfy FULL"


def test_a_version_on_which_the_check_fails_would_not_have_been_registered() -> None:
    """4.0.7 answers 500 under FULL, and lets it in under ALWAYS_COMPATIBLE."""
    named = order("int32 a = 1;")
    nameless = replace(named, schema=named.schema.replace("shop.Order", ""))

    report = audit_of({"a": (nameless, named)}, policies=LOOSE, strategy=Strategy.FULL)
    fitting = audit_of({"a": (nameless, named)}, policies=LOOSE)

    assert of_rule(report.findings, "AUDIT-S001")
    assert not of_rule(fitting.findings, "AUDIT-S002")


def test_one_topic_that_does_not_fit_leaves_the_others() -> None:
    report = audit_of({"a": (TEXT, WIDER), "b": (TEXT, NUMBER)}, policies=LOOSE)

    assert [one.subject for one in of_rule(report.findings, "AUDIT-S002")] == ["shop/orders/a"]


@pytest.mark.rule("AUDIT-H001")
def test_versions_that_break_the_strategy() -> None:
    (found,) = of_rule(audit_of({"a": (TEXT, NUMBER)}).findings, "AUDIT-H001")

    assert found.message.startswith(
        "v1: FULL (broker) is in force, and versions break it: at 'b': "
    )
    assert not of_rule(audit_of({"a": (TEXT, WIDER)}).findings, "AUDIT-H001")
    assert not of_rule(audit_of({"a": (TEXT, NUMBER)}, policies=LOOSE).findings, "AUDIT-H001")


def test_a_checker_that_is_left_out_makes_no_version_readable() -> None:
    broker = BrokerSettings(types_without_checker=(SchemaType.AVRO,))

    report = audit_of({"a": (TEXT, NUMBER)}, broker=broker, policies=BACKWARD)
    asked = audit_of({"a": (TEXT, NUMBER)}, broker=broker, strategy=Strategy.FULL_TRANSITIVE)

    assert of_rule(report.findings, "AUDIT-H001")
    assert not of_rule(report.findings, "AUDIT-S002")
    # What this broker would have refused is another question: nothing.
    assert not of_rule(asked.findings, "AUDIT-S001")


@pytest.mark.rule("AUDIT-H002")
def test_a_topic_that_no_schema_gets_past() -> None:
    default = record(field("b", ["int", "null"], default=None))
    (found,) = of_rule(audit_of({"a": (default,)}).findings, "AUDIT-H002")

    assert found.message.startswith("v0: no new schema can be registered: ")
    assert not of_rule(audit_of({"a": (default,)}, present="4.2").findings, "AUDIT-H002")


@pytest.mark.rule("AUDIT-H003")
def test_a_change_of_protobuf_native_that_readers_fail_on() -> None:
    report = audit_of({"a": (order("string b = 1;"), order("message B {} B b = 1;"))})
    (found,) = of_rule(report.findings, "AUDIT-H003")

    assert found.message.startswith("v1: Pulsar accepted a change that readers fail on: ")
    good = audit_of({"a": (order("string b = 1;"), order("string b = 1; string c = 2;"))})
    assert not of_rule(good.findings, "AUDIT-H003")


@pytest.mark.rule("AUDIT-H004")
def test_always_compatible_versions_that_do_not_read_each_other() -> None:
    report = audit_of({"a": (TEXT, NUMBER)}, policies=LOOSE)
    (found,) = of_rule(report.findings, "AUDIT-H004")

    assert found.message.startswith("v0: ALWAYS_COMPATIBLE is in force, and the latest version")
    good = audit_of({"a": (TEXT, WIDER)}, policies=LOOSE)
    assert not of_rule(good.findings, "AUDIT-H004")


@pytest.mark.rule("AUDIT-H005")
def test_producers_that_may_do_all() -> None:
    (found,) = of_rule(audit_of({"a": (TEXT,)}).findings, "AUDIT-H005")

    assert found.subject == "shop/orders"
    closed = NamespacePolicies(schema_validation_enforced=True)
    assert not of_rule(audit_of({"a": (TEXT,)}, policies=closed).findings, "AUDIT-H005")


@pytest.mark.rule("AUDIT-H006")
def test_topics_without_a_schema() -> None:
    (found,) = of_rule(audit_of({"a": (TEXT,), "b": ()}).findings, "AUDIT-H006")

    assert found.message == "1 of 2 topics has no schema: b"
    assert not of_rule(audit_of({"b": ()}).findings, "AUDIT-H006")


@pytest.mark.rule("AUDIT-H007")
def test_policies_that_do_not_fit_together() -> None:
    (found,) = of_rule(audit_of({"a": (TEXT,)}, policies=LOOSE).findings, "AUDIT-H007")
    assert "nothing stops one that consumers cannot read" in found.message

    closed = replace(LOOSE, is_allow_auto_update_schema=False)
    assert not of_rule(audit_of({"a": (TEXT,)}, policies=closed).findings, "AUDIT-H007")
    assert not of_rule(audit_of({"a": (TEXT,)}, policies=BACKWARD).findings, "AUDIT-H007")


@pytest.mark.rule("AUDIT-H007")
def test_a_legacy_strategy_that_does_not_count() -> None:
    older = Legacy.FULL
    both = replace(BACKWARD, schema_auto_update_compatibility_strategy=older)
    (found,) = of_rule(audit_of({"a": (TEXT,)}, policies=both).findings, "AUDIT-H007")
    assert found.message.startswith("schemaAutoUpdateCompatibilityStrategy and")

    same = replace(both, schema_auto_update_compatibility_strategy=Legacy.BACKWARD)
    alone = NamespacePolicies(schema_auto_update_compatibility_strategy=older)
    for policies in (same, alone):
        assert not of_rule(audit_of({"a": (TEXT,)}, policies=policies).findings, "AUDIT-H007")


FOREVER = Retention(minutes=-1, megabytes=-1)


@pytest.mark.rule("AUDIT-H009")
def test_messages_that_are_retained_where_any_schema_may_follow() -> None:
    week = Retention(minutes=7 * 24 * 60, megabytes=512)
    report = audit_of({"a": (TEXT,)}, policies=LOOSE, retention=week)
    (found,) = of_rule(report.findings, "AUDIT-H009")

    assert found.severity is Severity.WARNING
    assert found.subject == "shop/orders"
    assert found.message.startswith(
        "retention of 7 days or 512 MB (namespace): ALWAYS_COMPATIBLE is in force where messages"
    )
    assert not of_rule(audit_of({"a": (TEXT,)}, policies=LOOSE).findings, "AUDIT-H009")
    strict = audit_of({"a": (TEXT,)}, policies=BACKWARD, retention=FOREVER)
    assert not of_rule(strict.findings, "AUDIT-H009")
    assert not of_rule(
        audit_of({"a": ()}, policies=LOOSE, retention=FOREVER).findings, "AUDIT-H009"
    )


@pytest.mark.rule("AUDIT-H009")
@pytest.mark.parametrize(
    ("minutes", "megabytes", "label"),
    [
        (-1, -1, "retention without limit"),
        (90, -1, "retention of 90 minutes"),
        (60, -1, "retention of 1 hour"),
        (-1, 5, "retention of 5 MB"),
        (0, 0, None),
        (0, 5, None),  # broker.conf may have it, and nothing stays
        (5, 0, None),
    ],
)
def test_a_retention_of_the_broker(minutes: int, megabytes: int, label: str | None) -> None:
    broker = BrokerSettings(default_retention=Retention(minutes=minutes, megabytes=megabytes))
    report = audit_of({"a": (TEXT,)}, policies=LOOSE, broker=broker)

    labels = [one.message.partition(":")[0] for one in of_rule(report.findings, "AUDIT-H009")]
    assert labels == ([f"{label} (broker)"] if label else [])
    own = audit_of({"a": (TEXT,)}, policies=LOOSE, broker=broker, retention=Retention())
    assert not of_rule(own.findings, "AUDIT-H009")


@pytest.mark.rule("AUDIT-H009")
def test_a_retention_that_nobody_could_read_is_a_note() -> None:
    unknown = BrokerSettings(default_retention=None)
    report = audit_of({"a": (TEXT,)}, policies=LOOSE, broker=unknown)
    (found,) = of_rule(report.findings, "AUDIT-H009")

    assert found.severity is Severity.INFO
    assert found.message.endswith("whether messages are retained is not known")
    known = audit_of({"a": (TEXT,)}, policies=LOOSE, broker=unknown, retention=Retention())
    assert not of_rule(known.findings, "AUDIT-H009")
    assert not of_rule(audit_of({"a": (TEXT,)}, broker=unknown).findings, "AUDIT-H009")


@pytest.mark.rule("AUDIT-H009")
def test_a_topic_alone_may_be_loose_and_one_without_storage_retains_nothing() -> None:
    loose = TopicPolicies(schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE)
    found = audit_of({"a": (TEXT,)}, retention=FOREVER, topic_policies=loose).findings
    assert of_rule(found, "AUDIT-H009")

    volatile = audit_of(
        {"a": (TEXT,)}, retention=FOREVER, topic_policies=loose, domain="non-persistent"
    )
    assert not of_rule(volatile.findings, "AUDIT-H009")


@pytest.mark.rule("AUDIT-H010")
def test_brokers_that_delete_inactive_topics_are_named_once() -> None:
    (found,) = inactive_topic_findings(BrokerSettings(deletes_inactive_topics=True))

    assert (found.rule, found.severity) == ("AUDIT-H010", Severity.INFO)
    assert found.subject == "brokerDeleteInactiveTopicsEnabled"


@pytest.mark.rule("AUDIT-H010")
def test_topics_that_brokers_may_delete_are_named() -> None:
    topics = [TopicName.parse(f"shop/orders/{name}") for name in ("created", "cancelled")]

    (found,) = inactive_topic_findings(BrokerSettings(deletes_inactive_topics=True), topics)

    assert (found.rule, found.severity) == ("AUDIT-H010", Severity.WARNING)
    assert found.subjects == tuple(map(str, topics))
    assert "the brokers delete 2 topics with their schemas" in found.message
    assert found.hint.endswith("set-inactive-topic-policies shop/orders")


@pytest.mark.rule("AUDIT-H010")
@pytest.mark.parametrize("deletes", [False, None])
def test_brokers_that_do_not_or_of_which_that_is_not_known(deletes: bool | None) -> None:  # noqa: FBT001
    assert not [*inactive_topic_findings(BrokerSettings(deletes_inactive_topics=deletes))]
