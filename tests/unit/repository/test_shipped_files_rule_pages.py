"""The page that explains a rule, from the checkout or from an installed package."""

from __future__ import annotations

from pathlib import Path

import pytest

import gitops
from gitops.model.rules import RULES
from gitops.repository.shipped_files import guess_rule, rule_page, rule_pages

_ROOT = Path(__file__).parents[3]


def test_in_a_checkout_the_pages_are_those_of_the_documentation() -> None:
    assert rule_pages() == _ROOT / "docs" / "reference" / "rules"
    assert rule_page("REPO-R001").startswith("# REPO-R001: ")


def test_an_installed_package_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "gitops"
    (package / "rules").mkdir(parents=True)
    (package / "rules" / "REPO-R001.md").write_text("# é\n", encoding="utf-8")
    monkeypatch.setattr(gitops, "__file__", str(package / "__init__.py"))

    assert rule_pages() == package / "rules"
    assert rule_page("REPO-R001") == "# é\n"


@pytest.mark.parametrize("rule", RULES)
def test_a_page_leads_to_no_file_that_a_package_does_not_carry(rule: str) -> None:
    assert "](" not in rule_page(rule)
    assert "docs/" not in rule_page(rule)


def test_the_text_of_a_link_stays() -> None:
    assert "Write the key as the manifests' reference has it" in rule_page("REPO-R002")


@pytest.mark.parametrize(
    ("word", "rule"),
    [
        ("PLAN-R03", "PLAN-R003"),
        ("plan-r3", "PLAN-R003"),
        ("REPO-R02", "REPO-R002"),
        ("REPO_R0002", "REPO-R002"),
        ("AVRO_R002", "AVRO-R002"),
        ("AVROR002", "AVRO-R002"),
        ("nothing", None),
    ],
)
def test_the_rule_that_is_meant(word: str, rule: str | None) -> None:
    assert guess_rule(word) == rule
