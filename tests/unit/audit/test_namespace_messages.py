"""What becomes of a namespace's messages, and of the schemas that they need."""

from __future__ import annotations

import pytest

from gitops.model.findings import Finding, Severity
from gitops.model.policy import NamespacePolicies, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from tests.support.audits import audit_of, record
from tests.support.states import field

TEXT = record(field("b"))


def of_rule(findings: tuple[Finding, ...], rule: str) -> list[Finding]:
    return [one for one in findings if one.rule == rule]


@pytest.mark.rule("AUDIT-H011")
def test_a_namespace_of_several_clusters() -> None:
    (found,) = of_rule(audit_of({"a": (TEXT,)}, clusters=("east", "west")).findings, "AUDIT-H011")

    assert (found.subject, found.severity) == ("shop/orders", Severity.INFO)
    assert found.message.startswith("messages are replicated between east, west: ")
    assert not of_rule(audit_of({"a": (TEXT,)}, clusters=("east",)).findings, "AUDIT-H011")
    assert not of_rule(audit_of({"a": ()}, clusters=("east", "west")).findings, "AUDIT-H011")


@pytest.mark.rule("AUDIT-H012")
@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (Strategy.BACKWARD, True),
        (Strategy.FORWARD, True),
        (Strategy.FORWARD_TRANSITIVE, True),
        (Strategy.FULL, True),
        (Strategy.ALWAYS_COMPATIBLE, True),
        (Strategy.BACKWARD_TRANSITIVE, False),
        (Strategy.FULL_TRANSITIVE, False),
        (Strategy.ALWAYS_INCOMPATIBLE, False),
    ],
)
def test_compacted_topics_under_a_strategy_that_lets_old_messages_become_unreadable(
    strategy: Strategy,
    expected: bool,  # noqa: FBT001 - a table's column
) -> None:
    own = NamespacePolicies(schema_compatibility_strategy=strategy)
    compacted = audit_of({"a": (TEXT,)}, policies=own, is_compacted=True)
    volatile = audit_of({"a": (TEXT,)}, policies=own, is_compacted=True, domain="non-persistent")

    found = of_rule(compacted.findings, "AUDIT-H012")
    assert [one.severity for one in found] == [Severity.WARNING] * expected
    assert not of_rule(audit_of({"a": (TEXT,)}, policies=own).findings, "AUDIT-H012")
    assert not of_rule(volatile.findings, "AUDIT-H012")


@pytest.mark.rule("AUDIT-H012")
def test_a_compacted_topic_with_a_strategy_of_its_own_is_named() -> None:
    strict = NamespacePolicies(schema_compatibility_strategy=Strategy.FULL_TRANSITIVE)
    own = TopicPolicies(schema_compatibility_strategy=Strategy.BACKWARD)
    report = audit_of({"a": (TEXT,)}, policies=strict, topic_policies=own, is_compacted=True)
    (found,) = of_rule(report.findings, "AUDIT-H012")

    assert found.subject == "shop/orders/a"
    assert "BACKWARD (topic) lets a version in" in found.message


@pytest.mark.rule("AUDIT-H012")
def test_what_has_no_definition_stays_readable() -> None:
    text = SchemaInfo(type=SchemaType.STRING)
    own = NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)
    report = audit_of({"a": (text,)}, policies=own, is_compacted=True)

    assert not of_rule(report.findings, "AUDIT-H012")


@pytest.mark.rule("AUDIT-H013")
@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (Strategy.FULL_TRANSITIVE, True),
        (Strategy.BACKWARD_TRANSITIVE, True),
        (Strategy.ALWAYS_INCOMPATIBLE, True),
        (Strategy.FULL, False),
        (Strategy.ALWAYS_COMPATIBLE, False),
    ],
)
def test_consumers_that_are_refused_today(
    strategy: Strategy,
    expected: bool,  # noqa: FBT001 - a table's column
) -> None:
    own = NamespacePolicies(schema_compatibility_strategy=strategy)
    numbers, texts = record(field("a", "long")), record(field("a", "string"))

    found = of_rule(audit_of({"a": (numbers, texts)}, policies=own).findings, "AUDIT-H013")

    assert [one.severity for one in found] == [Severity.ERROR] * expected
