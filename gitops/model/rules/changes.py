"""PLAN-*: what a comparison of the files with a registry can find."""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Severity
from gitops.model.rules.rule import Rule

PLAN_RULES: Final = (
    Rule(
        id="PLAN-R001",
        title="Pulsar would refuse the schema",
        severity=Severity.ERROR,
        configurable=False,
    ),
    Rule(
        id="PLAN-R002",
        title="the registry holds a schema that cannot be read",
        severity=Severity.ERROR,
        configurable=False,
    ),
    Rule(id="PLAN-R003", title="a revert does not roll back", severity=Severity.WARNING),
    Rule(id="PLAN-R004", title="too many topics would change", severity=Severity.ERROR),
    Rule(id="PLAN-R005", title="a schema would be deleted", severity=Severity.ERROR),
    Rule(
        id="PLAN-R006",
        title="the tenant does not exist",
        severity=Severity.ERROR,
        configurable=False,
    ),
    Rule(id="PLAN-R007", title="Pulsar would ignore the change", severity=Severity.INFO),
    Rule(
        id="PLAN-R008",
        title="a topic that does not exist cannot have policies",
        severity=Severity.ERROR,
        configurable=False,
    ),
    Rule(
        id="PLAN-R009",
        title="a topic is looser than its namespace, and no file says so",
        severity=Severity.WARNING,
    ),
    Rule(
        id="PLAN-R010",
        title="the registry's latest version is not in git",
        severity=Severity.WARNING,
    ),
)


# CHECK-*: what a change does to a repository beyond its single schemas.


CHECK_RULES: Final = (
    Rule(id="CHECK-R001", title="a topic's manifest is removed", severity=Severity.ERROR),
    Rule(id="CHECK-R002", title="a renamed topic loses its history", severity=Severity.ERROR),
    Rule(
        id="CHECK-R003",
        title="a policy is loosened, or managed no more",
        severity=Severity.WARNING,
    ),
    Rule(
        id="CHECK-R004",
        title="a changed policy lets in what the old one refuses",
        severity=Severity.ERROR,
    ),
    Rule(id="CHECK-R005", title="a change touches too many topics", severity=Severity.ERROR),
    Rule(
        id="CHECK-R006",
        title="the limits that a change is checked by are loosened",
        severity=Severity.WARNING,
    ),
    Rule(id="CHECK-R007", title="a change edits recorded history", severity=Severity.WARNING),
    Rule(id="CHECK-R008", title="replays of a topic are weakened", severity=Severity.WARNING),
)


# WAIVER-*: approved exceptions that do nothing, or soon will not.


def _warning(number: int, title: str) -> Rule:
    return Rule(id=f"WAIVER-R{number:03}", title=title, severity=Severity.WARNING)


WAIVER_RULES: Final = (
    _warning(1, "the waiver has expired"),
    Rule(id="WAIVER-R002", title="the waiver expires soon", severity=Severity.INFO),
    _warning(3, "nothing needs the waiver"),
    _warning(4, "the waiver is for another change"),
    _warning(5, "the waiver is for an unknown topic"),
    _warning(6, "two waivers for one change"),
    _warning(7, "the waiver cannot let the schema pass"),
)
