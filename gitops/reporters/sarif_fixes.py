"""A unified diff as the `fixes` of a SARIF result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


def fix(patch: str, artifact: dict[str, Any]) -> list[dict[str, Any]]:
    """One fix that replaces the lines of each hunk.

    None for a patch of a last line without a line end: a region ends where a line starts.
    """
    replacements = list(_replacements(patch))
    if not replacements or "\n\\ No newline" in patch:
        return []
    change = {"artifactLocation": artifact, "replacements": replacements}
    return [{"artifactChanges": [change]}]


def _replacements(patch: str) -> Iterator[dict[str, Any]]:
    lines = patch.split("\n")
    heads = [number for number, line in enumerate(lines) if _HUNK.match(line)]
    for start, end in pairwise([*heads, len(lines)]):
        found = _HUNK.match(lines[start])
        if found is not None:
            body = lines[start + 1 : end]
            yield _replacement(int(found[1]), int(found[2] or 1), body)


def _replacement(first: int, count: int, body: list[str]) -> dict[str, Any]:
    """The lines of one hunk, from the start of the first to the start of the line behind."""
    text = "".join(f"{line[1:]}\n" for line in body if line[:1] in (" ", "+"))
    region = {"startLine": first, "startColumn": 1, "endLine": first + count, "endColumn": 1}
    return {"deletedRegion": region, "insertedContent": {"text": text}}
