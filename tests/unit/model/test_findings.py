"""Findings: their fingerprints, their order, and their severities."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.findings import Finding, Location, Severity, group
from gitops.model.rules import RULES, apply_severities, make_finding
from gitops.planning.severities import rate_findings, worst

_PLACE = Location(file="a.yaml", line=3, column=5, pointer="/schema")
_FOUND = Finding(
    rule="REPO-R011", severity=Severity.ERROR, message="m", location=_PLACE, subject="a.yaml"
)


def test_a_fingerprint_survives_a_moved_line() -> None:
    moved = replace(_FOUND, location=replace(_PLACE, line=90, column=1, length=4))

    assert moved.fingerprint == _FOUND.fingerprint
    assert len(_FOUND.fingerprint) == 12


@pytest.mark.parametrize(
    "other",
    [
        replace(_FOUND, rule="REPO-R012"),
        replace(_FOUND, subject="b.yaml"),
        replace(_FOUND, message="other"),
        replace(_FOUND, location=replace(_PLACE, file="b.yaml")),
        replace(_FOUND, location=replace(_PLACE, pointer="/")),
        replace(_FOUND, location=None),
    ],
)
def test_a_fingerprint_tells_everything_else_apart(other: Finding) -> None:
    assert other.fingerprint != _FOUND.fingerprint


def test_severity_and_hint_are_no_part_of_it() -> None:
    other = replace(_FOUND, severity=Severity.INFO, hint="do")

    assert other.fingerprint == _FOUND.fingerprint


def test_places_as_text() -> None:
    assert str(_PLACE) == "a.yaml:3:5"
    assert str(Location(file="a.yaml")) == "a.yaml"


def test_findings_sort_by_place() -> None:
    places = [("b", 1, 1), ("a", 10, 1), ("a", 9, 2), ("a", 9, 1), ("a", 0, 0)]
    found = [
        replace(_FOUND, location=Location(file=file, line=line, column=column))
        for file, line, column in places
    ]

    assert [str(one.location) for one in rate_findings(found, {})] == [
        "a",
        "a:9:1",
        "a:9:2",
        "a:10:1",
        "b:1:1",
    ]


def test_a_finding_takes_its_severity_from_the_table_and_its_subject_from_its_place() -> None:
    assert make_finding("REPO-R023", "m").severity is Severity.WARNING
    assert make_finding("REPO-R023", "m", location=_PLACE).subject == "a.yaml"
    assert make_finding("REPO-R023", "m", location=_PLACE, subject="x").subject == "x"
    with pytest.raises(KeyError):
        make_finding("REPO-R999", "m")


# ------------------------------------------------------------------ severities of gitops.yaml


def test_rules_are_rated_as_configured_and_those_that_are_off_are_gone() -> None:
    found = [
        make_finding(rule, "m", subject=rule) for rule in ("PLAN-R003", "PLAN-R004", "PLAN-R007")
    ]
    rules = {"PLAN-R003": Severity.OFF, "PLAN-R007": Severity.ERROR}

    assert [(one.rule, one.severity) for one in apply_severities(found, rules)] == [
        ("PLAN-R004", Severity.ERROR),
        ("PLAN-R007", Severity.ERROR),
    ]


@pytest.mark.parametrize("rule", [rule.id for rule in RULES.values() if not rule.configurable])
def test_a_rule_that_is_not_configurable_keeps_its_severity(rule: str) -> None:
    (kept,) = rate_findings([make_finding(rule, "m")], {rule: Severity.OFF})

    assert kept.severity is RULES[rule].severity


@pytest.mark.parametrize(
    "rule", ["PLAN-R020", "PLAN-R021", "PLAN-R022", "PLAN-R023", "CLIENT-R013", "AVRO-W001"]
)
def test_a_green_report_still_tells_of_clients_and_messages_whose_rule_is_off(rule: str) -> None:
    once = rate_findings([make_finding(rule, "m")], {rule: Severity.OFF})

    assert [one.severity for one in once] == [Severity.INFO]
    assert rate_findings(once, {rule: Severity.OFF}) == once


def test_the_worst() -> None:
    assert worst([]) is Severity.OFF
    assert (
        worst([make_finding("PLAN-R007", "m"), make_finding("PLAN-R003", "m")]) is Severity.WARNING
    )


# ------------------------------------------------------------------ findings of one cause


def test_a_group_has_the_fingerprint_of_its_first_member_whoever_joins() -> None:
    others = [replace(_FOUND, message=f"m{number}") for number in range(3)]
    small, large = group("some", [_FOUND, *others[:1]]), group("all", [_FOUND, *others])

    assert small.fingerprint == large.fingerprint == _FOUND.fingerprint
    assert large.members == (_FOUND, *others)


def test_a_finding_alone_is_no_group() -> None:
    assert group("some", [_FOUND]) is _FOUND
    assert _FOUND.members == (_FOUND,)


def test_what_is_common_is_the_members_too() -> None:
    made = group("both", [_FOUND, replace(_FOUND, subject="b.yaml", location=None)])
    rated = replace(made, severity=Severity.INFO, hint="do")

    assert rated.message == "both"
    assert rated.members == (
        replace(_FOUND, severity=Severity.INFO, hint="do"),
        replace(
            _FOUND,
            severity=Severity.INFO,
            hint="do",
            subject="b.yaml",
            location=None,
        ),
    )
