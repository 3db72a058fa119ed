"""The cases below tests/cases with a whole repository, and the findings expected of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.model.findings import Finding
from gitops.model.rules import RULES
from gitops.repository.file_trees import FolderTree
from gitops.repository.loader import load
from tests.support.case_files import Case, cases

_ROOT = Path(__file__).parents[3]
_FAMILIES = (
    *("REPO-", "AVRO-P001", "AVRO-P002", "AVRO-W02", "EXTERNAL-", "CLIENT-R010"),
    *("WAIVER-R005", "WAIVER-R006"),
)
_CASES = cases("repo/*")
_RULES = [rule for rule in RULES if rule.startswith(_FAMILIES)]


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_a_repository_has_the_findings_expected_of_it(case: Case, tmp_path: Path) -> None:
    findings = _findings(case.write(tmp_path))

    assert "".join(map(_shown, findings)) == case.expected


@pytest.mark.parametrize("rule", _RULES)
def test_every_rule_has_a_case_that_breaks_it_and_one_that_does_not(rule: str) -> None:
    expected = [case.expected for case in _CASES if case.rule == rule]

    assert any(f" {rule} " in text for text in expected)
    assert "" in expected


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_a_case_is_about_the_rule_of_its_folder(case: Case, tmp_path: Path) -> None:
    found = {finding.rule for finding in _findings(case.write(tmp_path))}

    assert not found or case.rule in found


@pytest.mark.parametrize("rule", _RULES)
def test_every_rule_has_a_page(rule: str) -> None:
    page = (_ROOT / "docs" / "reference" / "rules" / f"{rule}.md").read_text(encoding="utf-8")

    assert page.startswith(f"# {rule}: {RULES[rule].title}\n")
    assert "## How to fix it" in page


def _findings(folder: Path) -> list[Finding]:
    repository = load(FolderTree(folder / "repo"))
    content = [finding for topic in repository.topics.values() for finding in topic.findings]
    return sorted((*repository.findings, *content), key=lambda finding: finding.sort_key)


def _shown(finding: Finding) -> str:
    severity = finding.severity.name.lower()
    hint = f"    {finding.hint}\n" if finding.hint else ""
    return f"{finding.location} {finding.rule} {severity} {finding.message}\n{hint}"
