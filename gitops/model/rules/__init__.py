"""The table of all rules, and the one way to make a finding of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from gitops.model.findings import Finding, Location, Severity
from gitops.model.rules.audits import AUDIT_RULES
from gitops.model.rules.changes import (
    CHECK_RULES,
    CLIENT_RULES,
    PLAN_RULES,
    REPLAY_RULES,
    WAIVER_RULES,
)
from gitops.model.rules.repository import REPOSITORY_RULES
from gitops.model.rules.rule import Rule
from gitops.model.rules.schemas import (
    AVRO_RULES,
    EXTERNAL_RULES,
    KEY_VALUE_RULES,
    PROTOBUF_RULES,
)

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        rule.id: rule
        for rule in (
            *REPOSITORY_RULES,
            *AVRO_RULES,
            *KEY_VALUE_RULES,
            *EXTERNAL_RULES,
            *PROTOBUF_RULES,
            *PLAN_RULES,
            *WAIVER_RULES,
            *CHECK_RULES,
            *CLIENT_RULES,
            *REPLAY_RULES,
            *AUDIT_RULES,
        )
    }
)
"""Every rule by its id."""


def make_finding(
    rule: str,
    message: str,
    *,
    location: Location | None = None,
    subject: str = "",
    hint: str = "",
) -> Finding:
    """A finding with the severity of the table; raises KeyError for an id that is not in it."""
    return Finding(
        rule=rule,
        severity=RULES[rule].severity,
        message=message,
        location=location,
        subject=subject or (location.file if location else ""),
        hint=hint,
    )


def apply_severities(
    findings: Iterable[Finding], severities: Mapping[str, Severity]
) -> tuple[Finding, ...]:
    """The findings as `rules:` of `gitops.yaml` rates them; those that are off are left out.

    Those of rules that are always told stay as notes.
    """
    rated = (_rated(item, severities) for item in findings)
    return tuple(item for item in rated if item.severity is not Severity.OFF)


def _rated(item: Finding, severities: Mapping[str, Severity]) -> Finding:
    rule = RULES.get(item.rule)
    severity = severities.get(item.rule)
    if severity is None or (rule is not None and not rule.configurable):
        return item
    return replace(item, severity=max(severity, rule.least) if rule else severity)
