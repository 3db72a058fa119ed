"""Files that the package ships: pages of rules and of terms, the template, JSON Schemas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import gitops
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rules import RULES
from gitops.model.schema import SchemaType
from gitops.repository.suggestions import closest

# Files that people read in the repository and that the package carries, too.

SHIPPED: Final = {
    "template": "schemas_repo_template",
    "rules": "docs/reference/rules",
    "terms": "docs/reference/terms",
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
    match = _ID.fullmatch(word.strip().upper().replace("_", "-"))
    padded = f"{match[1]}{int(match[2]):03}" if match else ""
    return padded if padded in RULES else closest(word, RULES)


def rule_pages() -> Path:
    """The folder of the pages: inside the installed package, or in the checkout beside it."""
    return shipped_folder("rules")


def rule_page(rule: str) -> str:
    """The Markdown text about a rule, without links to pages that a package does not carry."""
    text = (rule_pages() / f"{rule}.md").read_text(encoding="utf-8")
    return _RELATIVE_LINK.sub(r"\1", text)


# Strategies, schema types and exit codes, each a section or a row of a page.


TERMS: Final = {
    **{strategy.value: "strategies" for strategy in SchemaCompatibilityStrategy},
    **{schema_type.value: "schema-types" for schema_type in SchemaType},
}
"""The page of each strategy and schema type."""

_ROW: Final = re.compile(r"\| (\d+) \| ([^|]+) \| ([^|]+) \|")


PAGES: Final = ("strategies", "schema-types", "exit-codes")
"""The pages of terms, each a word that is explained."""

_PAGE_WORDS: Final = {
    **dict.fromkeys(("strategy", "compatibility"), "strategies"),
    **dict.fromkeys(("type", "types", "schema", "schemas"), "schema-types"),
    **dict.fromkeys(("exit", "code", "codes"), "exit-codes"),
}


def guess_term(word: str) -> str | None:
    """The rule, strategy, schema type or page that a word seems to mean."""
    asked = word.lower().replace("_", "-")
    if page := _PAGE_WORDS.get(asked) or closest(asked, PAGES):
        return page
    return guess_rule(word) or closest(word.upper().replace("-", "_"), TERMS)


def term_page(term: str) -> str | None:
    """The Markdown text about a strategy or a schema type, as Pulsar spells it; or a whole page."""
    words = term.lower().replace("_", "-")
    if words in PAGES:
        return _term_text(words)
    if page := TERMS.get(term):
        return _section(_term_text(page), term)
    rows = map(_ROW.fullmatch, _term_text("exit-codes").splitlines())
    match = next((row for row in rows if row and row[1] == term), None)
    return match and f"# Exit code {match[1]}\n\n{match[2]}\n\nFor example: {match[3]}\n"


def _term_text(page: str) -> str:
    text = (shipped_folder("terms") / f"{page}.md").read_text(encoding="utf-8")
    return _RELATIVE_LINK.sub(r"\1", text)


def _section(text: str, title: str) -> str:
    value = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return f"# {title}\n{value}"
