"""The folders below tests/cases that hold a whole repository and the findings expected of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.model.findings import Finding
from gitops.model.rules import RULES
from gitops.repository.files import FolderTree
from gitops.repository.loader import load

_ROOT = Path(__file__).parents[3]
_FAMILIES = (
    *("REPO-", "AVRO-P001", "AVRO-P002", "AVRO-W02", "CLIENT-R010"),
    *("WAIVER-R005", "WAIVER-R006"),
)
_CASES = sorted(path.parent for path in _ROOT.glob("tests/cases/*/*/repo"))
_RULES = [rule for rule in RULES if rule.startswith(_FAMILIES)]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_repository_has_the_findings_expected_of_it(case: Path) -> None:
    expected = (case / "expected.txt").read_text(encoding="utf-8")

    assert "".join(map(_shown, _findings(case))) == expected


@pytest.mark.parametrize("rule", _RULES)
def test_every_rule_has_a_case_that_breaks_it_and_one_that_does_not(rule: str) -> None:
    expected = [
        (case / "expected.txt").read_text(encoding="utf-8")
        for case in _CASES
        if case.parent.name == rule
    ]

    assert any(f" {rule} " in text for text in expected)
    assert "" in expected


@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_case_is_about_the_rule_of_its_folder(case: Path) -> None:
    found = {finding.rule for finding in _findings(case)}

    assert not found or case.parent.name in found


@pytest.mark.parametrize("rule", _RULES)
def test_every_rule_has_a_page(rule: str) -> None:
    page = (_ROOT / "docs" / "reference" / "rules" / f"{rule}.md").read_text(encoding="utf-8")

    assert page.startswith(f"# {rule}: {RULES[rule].title}\n")
    assert "## How to fix it" in page


def _findings(case: Path) -> list[Finding]:
    repository = load(FolderTree(case / "repo"))
    content = [finding for topic in repository.topics.values() for finding in topic.findings]
    return sorted((*repository.findings, *content), key=lambda finding: finding.sort_key)


def _shown(finding: Finding) -> str:
    severity = finding.severity.name.lower()
    hint = f"    {finding.hint}\n" if finding.hint else ""
    return f"{finding.location} {finding.rule} {severity} {finding.message}\n{hint}"
