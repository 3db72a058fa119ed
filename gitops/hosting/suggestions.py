"""Edits of a report as suggestions on the lines that a pull request changes. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import quote

from gitops.model.posts import Suggestion

MOST_SUGGESTIONS: Final = 10
_MOST_LINES: Final = 20
_MOST_CHARACTERS: Final = 4000
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_PATCH: Final = re.compile(r"--- a/[^\n]+\n\+\+\+ b/(?P<file>[^\n]+)\n(?P<hunks>@@ .+)", re.DOTALL)
_FENCE: Final = "```"


def suggestions_of(report: str, folder: str) -> list[Suggestion]:
    """The one-place edits of a report in JSON; whatever is odd in it is left out.

    `folder` is where the schemas repository is in its git repository.
    """
    try:
        suggestions = [_suggestion(patch, folder) for patch in _patches(json.loads(report))]
    except (ValueError, RecursionError):
        return []
    return list(dict.fromkeys(suggestion for suggestion in suggestions if suggestion is not None))


def placed(wanted: list[Suggestion], diffs: Mapping[str, str]) -> list[Suggestion]:
    """Those that replace lines which a pull request's own diff has, word by word, and adds one of.

    GitHub accepts no other line. A check reads the merge with the base, whose lines may have moved,
    and an artifact may say anything: the text of the lines decides about both.
    """
    return [
        suggestion for suggestion in wanted if _fits(suggestion, diffs.get(suggestion.path, ""))
    ]


def marker_start(folder: str) -> str:
    """What the comments of all suggestions for a schemas repository begin with."""
    return f"<!-- pulsar-gitops: fix of {quote(folder)} "


def suggestion_marker(suggestion: Suggestion, folder: str) -> str:
    """The first line of its comment, by which it is found again; nobody sees it."""
    text = json.dumps([suggestion.path, suggestion.first, suggestion.old, suggestion.new])
    return f"{marker_start(folder)}{hashlib.sha256(text.encode()).hexdigest()[:16]} -->"


def suggestion_text(suggestion: Suggestion, folder: str) -> str:
    """Its comment."""
    new = "".join(f"{line}\n" for line in suggestion.new)
    lead = "The smallest edit that the check accepts:"
    return f"{suggestion_marker(suggestion, folder)}\n{lead}\n{_FENCE}suggestion\n{new}{_FENCE}\n"


def _patches(report: object) -> Iterator[str]:
    """The patches of all findings in the plans of a check."""
    for registry in _items(report, "registries"):
        plan = registry.get("plan")
        for finding in _items(plan, "findings"):
            if isinstance(patch := finding.get("patch"), str):
                yield patch


def _items(value: object, key: str) -> Iterator[dict[str, object]]:
    listed = value.get(key) if isinstance(value, dict) else None
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict):
            yield item


def _suggestion(patch: str, folder: str) -> Suggestion | None:
    """The lines that a patch of one hunk changes; None for another, and where none is removed."""
    match = _PATCH.fullmatch(patch)
    if not match or _FENCE in patch or "\r" in patch or len(patch) > _MOST_CHARACTERS:
        return None
    head, *lines = match["hunks"].removesuffix("\n").split("\n")
    start = _HUNK.fullmatch(head)
    if not start or any(line[:1] not in (" ", "+", "-") for line in lines):
        return None
    changed = [number for number, line in enumerate(lines) if line[0] != " "]
    body = lines[changed[0] : changed[-1] + 1] if changed else []
    old = tuple(line[1:] for line in body if line[0] != "+")
    new = tuple(line[1:] for line in body if line[0] != "-")
    if not 0 < len(old) <= _MOST_LINES:
        return None
    path = match["file"] if folder in ("", ".") else f"{folder.strip('/')}/{match['file']}"
    return Suggestion(path=path, first=int(start[1]) + changed[0], old=old, new=new)


def _fits(suggestion: Suggestion, diff: str) -> bool:
    lines = dict(_new_lines(diff))
    numbers = range(suggestion.first, suggestion.first + len(suggestion.old))
    there = [lines.get(number, ("", "")) for number in numbers]
    texts = tuple(text for _, text in there)
    return texts == suggestion.old and any(sign == "+" for sign, _ in there)


def _new_lines(diff: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """The lines of the new side of a diff, by number: `+` or blank, and the text."""
    number = 0
    for line in diff.split("\n"):
        if match := _HUNK.match(line):
            number = int(match[2])
        elif line[:1] in ("+", " ") and number:
            yield number, (line[0], line[1:])
            number += 1
