"""What an audit advises where an older version alone is refused, and what halves of pairs stop."""

from __future__ import annotations

from gitops.model.findings import Finding
from gitops.model.policy import NamespacePolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from tests.support.audits import audit_of, pair, record
from tests.support.states import STRING

LOOSE = NamespacePolicies(schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE)
ALL = NamespacePolicies(schema_compatibility_strategy=Strategy.FULL_TRANSITIVE)
DASHED = '{"type":"record","name":"V","namespace":"k-v","fields":[]}'
PLAIN = '{"type":"record","name":"V","namespace":"kv","fields":[]}'


def of_rule(findings: tuple[Finding, ...], rule: str) -> list[Finding]:
    return [one for one in findings if one.rule == rule]


def test_a_latest_version_that_is_accepted_is_not_to_be_deleted() -> None:
    versions = (record(namespace="x-y"), STRING)
    report = audit_of({"a": versions}, target="4.2", policies=LOOSE)
    (found,) = of_rule(report.findings, "AUDIT-U001")

    assert "with an older schema" in found.message
    assert "the same" not in found.message
    assert found.hint == ("on 4.0, before the first broker of 4.2: have every client of v0 use v1")


def test_a_half_of_a_pair_that_is_not_read_stops_every_new_pair() -> None:
    (found,) = of_rule(audit_of({"a": (pair(DASHED),)}, present="5.0").findings, "AUDIT-H002")

    assert "no new schema can be registered: value: 'k-v' is not a name" in found.message
    for versions, present, policies in (
        ((pair(DASHED),), "4.0", NamespacePolicies()),
        ((pair(DASHED),), "5.0", LOOSE),
        ((pair(PLAIN),), "5.0", NamespacePolicies()),
        ((pair(DASHED), pair(PLAIN)), "5.0", NamespacePolicies()),
    ):
        report = audit_of({"a": versions}, present=present, policies=policies)
        assert not of_rule(report.findings, "AUDIT-H002")
    every = audit_of({"a": (pair(DASHED), pair(PLAIN))}, present="5.0", policies=ALL)
    assert len(of_rule(every.findings, "AUDIT-H002")) == 1
