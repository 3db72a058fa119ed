"""The severities of rules, also for a change that alters them itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitops.model.config import Config, SafetyConfig
from gitops.model.findings import Finding, Severity
from gitops.model.rules import RULES, apply_severities

# By which limits and severities a change is judged that alters them itself.


def stricter(base: Config, head: Config) -> Config:
    """`head` with the stricter of both for each limit and each rule.

    Nobody weakens a check in the change that it would stop; what is made stricter holds at once.
    """
    return replace(head, safety=_safety(base.safety, head.safety), rules=_rules(base, head))


def _safety(base: SafetyConfig, head: SafetyConfig) -> SafetyConfig:
    return SafetyConfig(
        max_changed_share=min(base.max_changed_share, head.max_changed_share),
        min_topics=min(base.min_topics, head.min_topics),
        allow_deletions=base.allow_deletions and head.allow_deletions,
    )


def _rules(base: Config, head: Config) -> Mapping[str, Severity]:
    """A rule that one side leaves at its default is left out where that is the stricter.

    The default may depend on the finding.
    """
    rules: dict[str, Severity] = {}
    for rule in sorted({*base.rules, *head.rules} & RULES.keys()):
        configured = [config.rules[rule] for config in (base, head) if rule in config.rules]
        severity = max(configured)
        if len(configured) > 1 or severity >= RULES[rule].highest_severity:
            rules[rule] = severity
    return rules


def severity_in(config: Config, rule: str) -> Severity:
    """The worst that a finding of a rule of the table can be with a configuration."""
    return config.rules.get(rule, RULES[rule].highest_severity)


# The severities that `gitops.yaml` gives to rules.


def rate_findings(
    findings: Iterable[Finding], rules: Mapping[str, Severity]
) -> tuple[Finding, ...]:
    """The findings with the configured severities, sorted by place; those switched off are gone."""
    return tuple(sorted(apply_severities(findings, rules), key=lambda finding: finding.sort_key))


def worst(findings: Iterable[Finding]) -> Severity:
    """The worst severity among them, OFF where there is none."""
    return max((finding.severity for finding in findings), default=Severity.OFF)


def at_most_warning(finding: Finding) -> Finding:
    """A finding about what a registry contains already, which is reported and stops nothing."""
    return replace(finding, severity=min(finding.severity, Severity.WARNING))
