"""Limits of gitops.yaml that a change weakens, judged by those of the base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gitops.changes.change import LoadedChange
from gitops.changes.locations import place_of_setting
from gitops.checks.changed_registries import registry_name_guards
from gitops.model.config import Config, SafetyConfig
from gitops.model.findings import Finding, Location
from gitops.model.rules import RULES, apply_severities, make_finding
from gitops.planning.severities import severity_in
from gitops.repository.loading.layout import CONFIG


def limit_guards(loaded: LoadedChange) -> tuple[Finding, ...]:
    """Weaker limits, rated as the base rates them: a change does not switch off what tells of it.

    Not to be rated again.
    """
    if not (loaded.had_config and loaded.is_config_changed):
        return ()
    base, head = loaded.base.config, loaded.head.config

    def locate(key: tuple[str, str]) -> Location:
        return place_of_setting(loaded, key) or Location(file=CONFIG)

    findings = (*limits_weakened(base, head, locate), *registry_name_guards(loaded))
    return apply_severities(findings, base.rules)


_Weaker = tuple[tuple[str, str], str]
"""A key of gitops.yaml, and what is said of it."""


_STILL: Final = (
    "this change is still checked with the limits of the base; tell the reviewer why they change"
)


def limits_weakened(
    base: Config, head: Config, locate: Callable[[tuple[str, str]], Location]
) -> tuple[Finding, ...]:
    """Findings where `head` has weaker limits than `base`; `locate` finds a key of gitops.yaml."""
    return tuple(
        make_finding("CHECK-R006", message, location=locate(key), hint=_STILL)
        for key, message in (*_weaker_safety(base.safety, head.safety), *_weaker_rules(base, head))
    )


def _weaker_safety(base: SafetyConfig, head: SafetyConfig) -> list[_Weaker]:
    weakened = []
    if head.max_changed_share > base.max_changed_share:
        shares = f"{base.max_changed_share:.0%} → {head.max_changed_share:.0%}"
        weakened.append(_safety("maxChangedShare", f"raised: {shares}"))
    if head.min_topics > base.min_topics:
        weakened.append(_safety("minTopics", f"raised: {base.min_topics} → {head.min_topics}"))
    if head.allow_deletions and not base.allow_deletions:
        weakened.append(_safety("allowDeletions", "set"))
    return weakened


def _safety(key: str, what: str) -> _Weaker:
    return ("safety", key), f"safety.{key} is {what}"


def _weaker_rules(base: Config, head: Config) -> list[_Weaker]:
    weakened = []
    for rule in sorted({*base.rules, *head.rules} & RULES.keys()):
        old, new = severity_in(base, rule), severity_in(head, rule)
        if new < old and RULES[rule].configurable:
            names = f"{old.name.lower()} → {new.name.lower()}"
            weakened.append((("rules", rule), f"{rule} gets a lower severity: {names}"))
    return weakened
