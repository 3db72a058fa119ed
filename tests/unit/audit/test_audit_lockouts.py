"""Who can no longer connect under another strategy, and on another broker line."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from gitops.audit.operations import differences
from gitops.broker.connection import ConnectionTarget, Role
from gitops.broker.lockouts import ClientKind, find_lockouts
from gitops.model.audit import Operation
from gitops.model.findings import Severity
from gitops.model.policy import NamespacePolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from tests.support.audits import Definition, audit_of, audited, line, record
from tests.support.states import field

TEXT, NUMBER = record(field("b")), record(field("b", "int"))
WIDER = record(field("b"), field("c", ["null", "string"], default=None))
DASHED = record(field("b"), namespace="com.my-co")
BAD_DEFAULT = record(field("b", ["int", "null"], default=None))
DOLLAR = record(field("b"), name="A$B")
JACKSON: Definition = ("JSON", '{"type": "object", "properties": {"a": {"type": "integer"}}}')
ROLES: tuple[Role, ...] = ("consumer", "producer")


@pytest.mark.rule("AUDIT-S003")
@pytest.mark.parametrize(
    ("strategy", "locked_out"),
    [
        (
            Strategy.FULL_TRANSITIVE,
            {("v1", "consumers", Severity.ERROR), ("v0", "consumers", Severity.WARNING)},
        ),
        (
            Strategy.BACKWARD_TRANSITIVE,
            {("v1", "consumers", Severity.ERROR), ("v0", "consumers", Severity.WARNING)},
        ),
        (
            Strategy.ALWAYS_INCOMPATIBLE,
            {("v1", "consumers", Severity.ERROR), ("v0", "consumers", Severity.WARNING)},
        ),
        (Strategy.BACKWARD, {("v0", "consumers", Severity.WARNING)}),
        (Strategy.ALWAYS_COMPATIBLE, set()),
    ],
)
def test_clients_that_another_strategy_locks_out(
    strategy: Strategy, locked_out: set[tuple[str, str, Severity]]
) -> None:
    loose = NamespacePolicies(schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE)

    report = audit_of({"a": (TEXT, NUMBER)}, policies=loose, strategy=strategy)

    found = [one for one in report.findings if one.rule == "AUDIT-S003"]
    assert {
        (one.message.partition(":")[0], one.message.split()[1], one.severity) for one in found
    } == locked_out
    assert all(f"could no longer connect under {strategy.value}: " in one.message for one in found)


def test_a_history_that_satisfies_the_strategy_locks_nobody_out() -> None:
    loose = NamespacePolicies(schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE)

    report = audit_of({"a": (TEXT, WIDER)}, policies=loose, strategy=Strategy.FULL_TRANSITIVE)

    assert not [one for one in report.findings if one.rule == "AUDIT-S003"]


@pytest.mark.slow
@pytest.mark.parametrize("lines", [("3.0", "4.0"), ("4.0", "4.2"), ("4.0", "5.0"), ("5.0", "4.0")])
def test_an_upgrade_names_each_client_that_it_locks_out(lines: tuple[str, str]) -> None:
    """The differences between lines, from which AUDIT-U001 to U003 are made, contain them all."""
    present, target = lines
    operations = {"consumer": Operation.CONSUME, "producer": Operation.PRODUCE}
    count = 0
    known: tuple[Definition, ...] = (TEXT, WIDER, DASHED, BAD_DEFAULT, DOLLAR, JACKSON)
    for definitions in permutations(known, 2):
        for strategy in (Strategy.BACKWARD, Strategy.FULL_TRANSITIVE, Strategy.ALWAYS_COMPATIBLE):
            topic = audited(present, *definitions, strategy=strategy)
            kinds = [
                ClientKind(role=role, offer=schema, version=version)
                for version, schema in topic.history.entries
                for role in ROLES
            ]
            now = ConnectionTarget(
                history=topic.history, policies=topic.policies, line=topic.line, use="active"
            )
            lockouts = find_lockouts(now, replace(now, line=line(target)), kinds)
            lost = {one.asked for one in differences(topic, line(target)) if one.is_loss}
            for lockout in lockouts:
                count += 1
                kind = lockout.kind
                assert (operations[kind.role], kind.version) in lost, (definitions, strategy, kind)
    assert count or lines == ("3.0", "4.0")
