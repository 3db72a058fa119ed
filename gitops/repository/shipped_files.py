"""Files that the package ships: rule pages, the template, JSON Schemas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import gitops
from gitops.model.rules import RULES
from gitops.repository.suggestions import closest

# Files that people read in the repository and that the package carries, too.

SHIPPED: Final = {
    "template": "schemas_repo_template",
    "rules": "docs/reference/rules",
    "json": "docs/reference/json",
}
"""A folder inside the installed package, and where a checkout has it: as in `pyproject.toml`."""


def shipped_folder(name: str) -> Path:
    """The folder of that name inside the installed package, else that of the checkout."""
    package = Path(gitops.__file__).parent
    shipped = package / name
    return shipped if shipped.is_dir() else package.parent / SHIPPED[name]


# Rules by the names that people type, and the page that explains each.


_ID: Final = re.compile(r"([A-Z]+-[A-Z])-?([0-9]{1,4})", re.ASCII)
_RELATIVE_LINK: Final = re.compile(r"\[([^\]\n]+)\]\((?![a-z]+:)[^)\n]*\)")


def guess_rule(word: str) -> str | None:
    """The rule that a word seems to mean, whatever its zeros: PLAN-R003 for `plan-r3`."""
    found = _ID.fullmatch(word.strip().upper().replace("_", "-"))
    padded = f"{found[1]}{int(found[2]):03}" if found else ""
    return padded if padded in RULES else closest(word, RULES)


def rule_pages() -> Path:
    """The folder of the pages: inside the installed package, or in the checkout beside it."""
    return shipped_folder("rules")


def rule_page(rule: str) -> str:
    """The Markdown text about a rule, without links to pages that a package does not carry."""
    text = (rule_pages() / f"{rule}.md").read_text(encoding="utf-8")
    return _RELATIVE_LINK.sub(r"\1", text)
