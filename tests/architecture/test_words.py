"""Messages and pages keep out of phrases that a stranger has to decode."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.project_files import ROOT

_EVERYWHERE: Final = {
    "would take": "would accept",
    "can stay behind": "upgrade optional",
    "in whatever order": "in any order, regardless of order",
    "whoever owns": "get the topic owners' approval",
    "the way to a new topic": "alternative: move to …",
    "speaks against": "is refused by, fails",
    "since before v": "only after v… is registered",
    "since with v": "once v… is registered",
    "of the kind": "like this",
    "this is no ": "this is not a",
    "it stands in": "it is in",
    "1 actions": "1 action",
    "infos": "notes",
    "say how many may fail": "or allow some to fail: maxFailures",
    "files e3960af": "files digest …",
    "begins it": "it begins with …",
    # A thing does not speak, stand, hold on to or grasp anything.
    "says": "has, shows, reports, names, describes",
    "tells": "shows, reports, names",
    "told": "reported, recognised, distinguished",
    "speak": "are about, decide",
    "speaks": "is about, is documented in",
    "stands": "is at, is in, means",
    "knows": "has, is known to",
    "takes": "accepts, reads, uses, needs",
    "reaches": "affects, gets to",
    "copes": "reads both versions",
}
_MESSAGES: Final = {
    "does not count": "does not prevent a merge, is not used",
    "no longer count": "no longer block the merge",
    "says what helps": "see …",
    "says more": "see …",
    "nothing here": "no file, unmanaged",
    "taken out": "removed",
    "left aside": "skipped",
    "rows fail": "messages fail",
    "makes no sense": "is not valid",
    "stands here": "is here",
    "is of another": "belongs to a different",
    "said": "reported",
    "take no": "have no, accept no",
    "may stand": "may be",
    "of its own": "its own, separate",
    "registry holds": "registry has",
    "messages hold": "messages contain",
    "what the cluster tell": "what the cluster shows",
}
"""In what the program prints: pages may count, and quote."""


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no documentation."""
    tree = ast.parse(path.read_text("utf-8"))
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documentation:
            continue
        if isinstance(node.value, str):
            yield node.lineno, node.value


def _found(text: str, phrases: dict[str, str]) -> list[str]:
    return [
        f"{phrase!r}: write {better}"
        for phrase, better in phrases.items()
        if phrase in text and re.search(rf"(?<![\w-]){re.escape(phrase)}(?!\w)", text)
    ]


@pytest.mark.slow
def test_messages_are_in_plain_words() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {each}"
        for path in sorted((ROOT / "gitops").rglob("*.py"))
        for line, text in _strings(path)
        for each in _found(text, {**_EVERYWHERE, **_MESSAGES})
    ]
    assert not found


_PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_in_plain_words(page: Path) -> None:
    lines = page.read_text("utf-8").splitlines()
    found = [
        f"{number}: {each}"
        for number, line in enumerate(lines, 1)
        for each in _found(line, _EVERYWHERE)
    ]
    assert not found
