"""The page that explains a rule."""

from __future__ import annotations

from pathlib import Path

import gitops


def rule_pages() -> Path:
    """The folder of the pages: inside the installed package, or in the checkout beside it."""
    package = Path(gitops.__file__).parent
    shipped = package / "rules"
    return shipped if shipped.is_dir() else package.parent / "docs" / "reference" / "rules"


def rule_page(rule: str) -> str:
    """The Markdown text about a rule."""
    return (rule_pages() / f"{rule}.md").read_text(encoding="utf-8")
