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
