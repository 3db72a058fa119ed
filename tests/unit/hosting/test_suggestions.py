"""Edits of a report as suggestions: which are made, and which lines they replace."""

from __future__ import annotations

import json

import pytest

from gitops.hosting.suggestions import placed, suggestion_text, suggestions_of

PATH = "namespaces/shop/orders/a.avsc"
HUNK = (
    '@@ -3,3 +3,3 @@\n   "fields": [\n-    {"name": "a"}\n+    {"name": "a", "default": 1}\n   ]\n'
)
PATCH = f"--- a/{PATH}\n+++ b/{PATH}\n{HUNK}"
DIFF = '@@ -2,3 +2,4 @@\n   "name": "A",\n   "fields": [\n+    {"name": "a"}\n   ]'


def report(*patches: object) -> str:
    findings = [{"patch": patch} for patch in patches]
    return json.dumps({"registries": [{"plan": {"findings": findings}}]})


def test_an_edit_replaces_exactly_the_lines_that_it_changes() -> None:
    (found,) = suggestions_of(report(PATCH, "", PATCH), ".")

    assert (found.path, found.first) == (PATH, 4)
    assert (found.old, found.new) == (('    {"name": "a"}',), ('    {"name": "a", "default": 1}',))
    assert '```suggestion\n    {"name": "a", "default": 1}\n```\n' in suggestion_text(found, ".")
    assert suggestions_of(report(PATCH), "teams/orders")[0].path == f"teams/orders/{PATH}"


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[" * 100_000,
        "[]",
        '{"registries": {}}',
        '{"registries": [{"plan": 1}]}',
        report(7, "text"),
        report(PATCH + HUNK),
        report(PATCH.replace("default", "```")),
        report(PATCH.replace("a.avsc", "a" * 5000)),
        report(PATCH.replace('-    {"name": "a"}\n', "")),
    ],
)
def test_what_is_odd_is_left_out(text: str) -> None:
    assert suggestions_of(text, ".") == []


@pytest.mark.parametrize(
    ("diff", "count"),
    [
        (DIFF, 1),
        ("", 0),
        (DIFF.replace('"a"', '"b"'), 0),  # the base has moved, or somebody lies
        (DIFF.replace("+2,4", "+3,4"), 0),
        (DIFF.replace('+    {"name', '     {"name'), 0),  # not a line that the change adds
    ],
)
def test_only_lines_that_the_pull_request_changes_have_one(diff: str, count: int) -> None:
    assert len(placed(suggestions_of(report(PATCH), "."), {PATH: diff})) == count
