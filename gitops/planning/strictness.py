"""By which limits and severities a change is judged that alters them itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitops.model.config import Config, SafetyConfig
from gitops.model.findings import Severity
from gitops.model.rules import RULES


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
    return {
        rule: max(severity_in(base, rule), severity_in(head, rule))
        for rule in sorted({*base.rules, *head.rules} & RULES.keys())
    }


def severity_in(config: Config, rule: str) -> Severity:
    """How a configuration rates a rule that the table has."""
    return config.rules.get(rule, RULES[rule].severity)
