"""The stricter of two configurations, limit by limit and rule by rule."""

from __future__ import annotations

from gitops.model.config import Config, SafetyConfig
from gitops.model.findings import Severity
from gitops.planning.severities import severity_in, stricter


def config(safety: SafetyConfig | None = None, **rules: Severity) -> Config:
    named = {rule.replace("_", "-"): severity for rule, severity in rules.items()}
    return Config(registries={}, default_registry="", safety=safety or SafetyConfig(), rules=named)


def test_no_limit_is_weaker_than_in_either() -> None:
    loose = SafetyConfig(max_changed_share=0.9, min_topics=3, allow_deletions=True)
    tight = SafetyConfig(max_changed_share=0.1, min_topics=20)
    expected = SafetyConfig(max_changed_share=0.1, min_topics=3)
    assert stricter(config(loose), config(tight)).safety == expected
    assert stricter(config(tight), config(loose)).safety == expected


def test_deletions_are_allowed_where_both_allow_them() -> None:
    allowed = config(SafetyConfig(allow_deletions=True))
    assert stricter(allowed, allowed).safety.allow_deletions


def test_a_rule_that_is_switched_off_keeps_its_severity() -> None:
    found = stricter(config(), config(AVRO_W001=Severity.OFF))
    assert found.rules["AVRO-W001"] is severity_in(config(), "AVRO-W001")


def test_a_rule_that_is_rated_higher_is_so_at_once() -> None:
    found = stricter(config(AVRO_W001=Severity.OFF), config(AVRO_W001=Severity.ERROR))
    assert found.rules["AVRO-W001"] is Severity.ERROR


def test_what_both_switch_off_is_off() -> None:
    off = config(AVRO_W001=Severity.OFF)
    assert stricter(off, off).rules["AVRO-W001"] is Severity.OFF
