"""Suggestions on a pull request: once each, and none for what is mended."""

from __future__ import annotations

import json

from gitops.usecases.github import keep_suggestions
from tests.support.fake_code_host import FakeCodeHost, post

PATH = "namespaces/shop/orders/a.avsc"


def report(*lines: int) -> str:
    """A report with an edit of each of these lines."""
    head = f"--- a/{PATH}\n+++ b/{PATH}\n"
    patches = [f"{head}@@ -{n},1 +{n},1 @@\n-line {n}\n+better {n}\n" for n in lines]
    findings = [{"patch": each} for each in patches]
    return json.dumps({"registries": [{"plan": {"findings": findings}}]})


def host(count: int = 20) -> FakeCodeHost:
    added = "".join(f"\n+line {n}" for n in range(1, count + 1))
    return FakeCodeHost(patches={PATH: f"@@ -0,0 +1,{count} @@{added}"})


def test_an_edit_is_suggested_once_and_goes_when_it_is_not_needed() -> None:
    found = host()
    planted = post(90, "<!-- pulsar-gitops: fix of . 0 -->", author="mallory")
    found.on_lines.append(planted)

    counts = [keep_suggestions(found, 7, report(*lines), ".") for lines in ((2,), (2,), (2, 5), ())]

    assert counts == [1, 0, 1, 0]
    assert found.on_lines == [planted]
    first, second = found.writes[:2]
    assert (first, second) == (f"suggest on 7 {PATH}:2", f"suggest on 7 {PATH}:5")


def test_another_schemas_repository_of_the_same_git_repository_keeps_its_own() -> None:
    found = host()
    there = post(91, "<!-- pulsar-gitops: fix of other 0 -->")
    found.on_lines.append(there)

    keep_suggestions(found, 7, report(), ".")

    assert found.on_lines == [there]


def test_more_than_ten_edits_are_left_to_the_comment() -> None:
    found = host()

    assert keep_suggestions(found, 7, report(*range(1, 11)), ".") == 10
    assert keep_suggestions(found, 7, report(*range(1, 12)), ".") == 0
    assert not found.on_lines


def test_a_line_that_github_refuses_is_left_to_the_comment() -> None:
    found = host()
    found.refused = True

    assert keep_suggestions(found, 7, report(2), ".") == 0
