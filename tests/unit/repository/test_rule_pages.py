"""The page that explains a rule, from the checkout or from an installed package."""

from __future__ import annotations

from pathlib import Path

import pytest

import gitops
from gitops.repository.rule_pages import rule_page, rule_pages

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
