"""What a report comes to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.check import CheckReport
from gitops.model.findings import Severity, group
from gitops.reports.check_summary import (
    Verdict,
    all_findings,
    claim,
    count,
    git_root_path,
    severity_counts,
    verdict,
)
from tests.support.checks import (
    CHECK,
    EMPTY,
    GUARD,
    REFUSAL,
    REVERT,
    SNEAKED,
    UNKNOWN_KEY,
    WAIVED,
)

_WARNED = replace(EMPTY, findings=(replace(UNKNOWN_KEY, severity=Severity.WARNING),))
_FAILED = replace(_WARNED, failures={"dr": "no answer"})
_WRONG = replace(EMPTY, findings=(UNKNOWN_KEY,))


def test_a_finding_of_several_registries_is_told_once_a_refusal_first() -> None:
    told = [(one.finding, one.registries) for one in all_findings(CHECK)]

    assert told == [
        (REFUSAL, ("production", "staging")),
        (UNKNOWN_KEY, ()),
        (GUARD, ("production",)),
        (REVERT, ("production",)),
    ]


def test_registries_with_other_versions_have_findings_of_their_own() -> None:
    """They share a fingerprint, and not the versions that they name."""
    more = group("of v3, v2", [REFUSAL, replace(REFUSAL, message="of v2")])
    plans = [(its, REFUSAL if n else more) for n, its in enumerate(CHECK.registries)]
    registries = tuple(
        replace(its, plan=replace(its.plan, findings=(one,), notices=())) for its, one in plans
    )
    told = all_findings(replace(CHECK, findings=(), registries=registries))

    assert {(one.finding.message, one.registries) for one in told} == {
        ("of v3, v2", ("production",)),
        (REFUSAL.message, ("staging",)),
    }


def test_what_the_old_policies_would_refuse_is_no_finding_of_the_change() -> None:
    assert SNEAKED not in [one.finding for one in all_findings(CHECK)]


@pytest.mark.parametrize(
    ("report", "word"),
    [
        (EMPTY, Verdict.GOOD),
        (_WARNED, Verdict.WARNINGS),
        (WAIVED, Verdict.WAIVED),
        (replace(WAIVED, findings=_WARNED.findings), Verdict.WAIVED),
        (replace(WAIVED, findings=_WRONG.findings), Verdict.ERRORS),
        (_WRONG, Verdict.ERRORS),
        (_FAILED, Verdict.UNKNOWN),
        (CHECK, Verdict.REFUSED),
    ],
    ids=lambda each: each.value if isinstance(each, Verdict) else "",
)
def test_one_word_says_how_it_is(report: CheckReport, word: Verdict) -> None:
    assert verdict(report) is word


def test_numbers_have_their_words() -> None:
    assert [count(1, "topic"), count(1200, "topic"), count(2, "registry", "registries")] == [
        "1 topic",
        "1,200 topics",
        "2 registries",
    ]
    assert severity_counts([UNKNOWN_KEY, REVERT, REFUSAL]) == "2 errors, 1 warning"
    assert not severity_counts([])


@pytest.mark.parametrize(
    ("prefix", "file", "named"),
    [
        ("", "a/b.avsc", "a/b.avsc"),
        ("schemas/", "a/b.avsc", "schemas/a/b.avsc"),
        ("schemas/", "../new.avsc", "new.avsc"),
        ("schemas/", "/old/new.avsc", "/old/new.avsc"),
    ],
)
def test_a_file_is_named_from_the_git_root(prefix: str, file: str, named: str) -> None:
    assert git_root_path(prefix, file) == named


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("v0 cannot read 'a': it has no default", "v0 cannot read 'a'"),
        ("at 'a': enum E loses 'B': see the page", "at 'a': enum E loses 'B'"),
        ("no details", "no details"),
    ],
)
def test_the_details_of_a_message_stand_behind_a_colon(message: str, said: str) -> None:
    assert claim(replace(UNKNOWN_KEY, message=message)) == said
