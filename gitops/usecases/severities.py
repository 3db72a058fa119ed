"""The severities that `gitops.yaml` gives to rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitops.model.findings import Finding, Severity
from gitops.model.rules import with_severities


def graded(findings: Iterable[Finding], rules: Mapping[str, Severity]) -> tuple[Finding, ...]:
    """The findings with the configured severities, sorted by place; those switched off are gone."""
    return tuple(sorted(with_severities(findings, rules), key=lambda found: found.sort_key))


def worst(findings: Iterable[Finding]) -> Severity:
    """The worst severity among them, OFF where there is none."""
    return max((finding.severity for finding in findings), default=Severity.OFF)
