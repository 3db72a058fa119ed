"""GitLab's Code Quality report: one entry a cause, with what GitLab needs of each."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from gitops.model.check import CheckReport
from gitops.model.findings import Location, Severity
from gitops.reports.codequality import codequality_text
from gitops.reports.results import CheckResult
from tests.support.checks import CHECK, EMPTY, REVERT, UNKNOWN_KEY


def _entries(report: CheckReport, folder: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        codequality_text(CheckResult(check=report, seconds=0, folder=folder))
    )
    return found


def test_an_entry_has_what_gitlab_reads() -> None:
    (entry,) = _entries(replace(EMPTY, findings=(UNKNOWN_KEY,)), "schemas/")

    assert entry == {
        "check_name": "REPO-R011",
        "description": "REPO-R011: unknown value 'BACKWARDS' for schemaCompatibilityStrategy. "
        "did you mean BACKWARD?",
        "fingerprint": f"{UNKNOWN_KEY.fingerprint}:1",
        "severity": "major",
        "location": {
            "path": "schemas/namespaces/shop/orders/namespace.yaml",
            "lines": {"begin": 4},
        },
    }


def test_fingerprints_are_of_one_entry_and_survive_a_moved_line() -> None:
    moved = replace(
        UNKNOWN_KEY, location=replace(UNKNOWN_KEY.location or Location(file=""), line=9)
    )

    prints = [one["fingerprint"] for one in _entries(replace(EMPTY, findings=(UNKNOWN_KEY, moved)))]

    assert prints == [f"{UNKNOWN_KEY.fingerprint}:1", f"{UNKNOWN_KEY.fingerprint}:2"]


def test_a_topic_that_no_file_names_is_in_the_description() -> None:
    """Such as one of an audit."""
    found = replace(UNKNOWN_KEY, rule="AUDIT-U001", location=None, subject="a/b/c", message="odd")

    (entry,) = _entries(replace(EMPTY, findings=(found,)))
    (named,) = _entries(replace(EMPTY, findings=(replace(found, message="a/b/c is odd"),)))

    assert entry["description"].startswith("AUDIT-U001: a/b/c: odd.")
    assert named["description"].startswith("AUDIT-U001: a/b/c is odd.")


def test_several_topics_with_one_cause_are_one_entry() -> None:
    where = Location(file="types/a.avsc", line=3, column=1)
    alike = [replace(UNKNOWN_KEY, subject=name, location=where) for name in ("a", "b", "c")]

    (entry,) = _entries(replace(EMPTY, findings=tuple(alike)))

    assert "For a, b, c." in entry["description"]


def test_the_worst_come_first_and_a_registry_without_an_answer_before_all() -> None:
    note = replace(REVERT, severity=Severity.INFO, message="fine")
    report = replace(EMPTY, findings=(note, REVERT, UNKNOWN_KEY), failures={"dr": "no answer"})

    shown = _entries(report)

    assert [one["severity"] for one in shown] == ["major", "major", "minor", "info"]
    assert shown[0]["description"] == "no answer from dr: no answer"
    assert shown[0]["location"] == {"path": "gitops.yaml", "lines": {"begin": 1}}


def test_every_entry_of_a_whole_check_is_complete() -> None:
    keys = {"check_name", "description", "fingerprint", "severity", "location"}
    shown = _entries(CHECK)

    assert shown
    assert all(entry.keys() == keys for entry in shown)
    assert len({entry["fingerprint"] for entry in shown}) == len(shown)
    assert all(entry["location"]["lines"]["begin"] >= 1 for entry in shown)
