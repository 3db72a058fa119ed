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
    assert "AVRO-W001" not in found.rules
    assert severity_in(found, "AVRO-W001") is Severity.ERROR


def test_a_rule_with_one_default_that_is_lowered_keeps_it() -> None:
    found = stricter(config(), config(AVRO_W007=Severity.INFO))
    assert severity_in(found, "AVRO-W007") is Severity.WARNING


def test_an_error_outside_of_the_promise_is_stricter_than_the_default() -> None:
    found = stricter(config(), config(AVRO_W001=Severity.ERROR))
    assert found.rules["AVRO-W001"] is Severity.ERROR


def test_a_rule_that_is_rated_higher_is_so_at_once() -> None:
    found = stricter(config(AVRO_W001=Severity.OFF), config(AVRO_W001=Severity.ERROR))
    assert found.rules["AVRO-W001"] is Severity.ERROR


def test_what_both_switch_off_is_off() -> None:
    off = config(AVRO_W001=Severity.OFF)
    assert stricter(off, off).rules["AVRO-W001"] is Severity.OFF
