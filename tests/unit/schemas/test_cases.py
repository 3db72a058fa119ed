"""The cases below tests/cases with the versions of a definition, and what is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.model.findings import Finding
from gitops.model.rules import RULES
from gitops.usecases.compat import compare_files
from tests.support.case_files import Case, cases

_ROOT = Path(__file__).parents[3]
_SIDES = {".avsc", ".json"}
_FAMILIES = ("AVRO-R", "AVRO-W00", "AVRO-W01", "AVRO-P003", "JSON-", "KV-", "PROTOBUF-")
_CASES = [case for case in cases("strategy") if "new.proto" not in case.files]
_RULES = [rule for rule in RULES if rule.startswith(_FAMILIES)]


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_a_comparison_has_the_findings_expected_of_it(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(case.write(tmp_path))

    assert "".join(map(_shown, _findings(case))) == case.expected


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_a_case_is_about_the_rule_of_its_folder(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(case.write(tmp_path))

    found = {finding.rule for finding in _findings(case)}

    assert (case.rule in found) != case.name.startswith("good")


@pytest.mark.parametrize("rule", _RULES)
def test_every_rule_has_a_case_that_breaks_it_and_one_that_does_not(rule: str) -> None:
    expected = [case.expected for case in _CASES if case.rule == rule]

    assert any(f" {rule} " in text for text in expected)
    assert any(f" {rule} " not in text for text in expected)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.startswith(("AVRO-", "PLAN-"))])
def test_every_rule_has_a_page(rule: str) -> None:
    page = (_ROOT / "docs" / "reference" / "rules" / f"{rule}.md").read_text(encoding="utf-8")

    assert page.startswith(f"# {rule}: {RULES[rule].title}\n")
    assert "## How to fix it" in page


def _findings(case: Case) -> tuple[Finding, ...]:
    files = sorted(path for path in map(Path, case.files) if path.suffix in _SIDES)
    schema_type = case.text("type").strip() if "type" in case.files else None
    (new,) = (path for path in files if path.stem == "new")
    old = [path for path in files if path != new]
    return compare_files([*old, new], case.text("strategy").strip(), schema_type).findings


def _shown(finding: Finding) -> str:
    severity = finding.severity.name.lower()
    compared = f"    compare {finding.compared}\n" if finding.compared else ""
    hint = f"    {finding.hint}\n" if finding.hint else ""
    edit = [line for line in finding.patch.split("\n")[2:] if line[:1] in {"+", "-"}]
    patch = "".join(f"    {line}\n" for line in edit)
    head = f"{finding.location} {finding.rule} {severity} {finding.message}\n"
    return f"{head}{compared}{hint}{patch}"
