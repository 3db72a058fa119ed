"""A change over hundreds of topics fits GitHub's limits, with every distinct cause shown."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Final

import pytest

from tests.support.command_line import captured
from tests.support.many_topics import CAUSES, build
from tests.support.runner import commands

COMMENT: Final = 65_536
"""Characters of a comment."""
SUMMARY: Final = 1024 * 1024
"""Bytes of a step's summary."""
ANNOTATIONS: Final = 10
"""Of each level, for one step."""
RESULTS: Final = 5_000
"""Results that code scanning shows of a run; the file has at most 10 MB, packed."""


@pytest.mark.slow
@pytest.mark.parametrize("topics", [300, 1000])
def test_every_cause_is_shown_within_the_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topics: int
) -> None:
    repo = build(tmp_path / "repo", topics)
    summary, markdown, sarif = (tmp_path / name for name in ("summary", "markdown", "sarif"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    reports = (f"--report=markdown={markdown}", f"--report=sarif={sarif}")

    done = captured("check", "--base=HEAD^", "--repo", repo.root, "--format=github", *reports)

    assert done.code == 1, done.err
    shown = commands(done.out)
    for level in {one.name for one in shown}:
        assert sum(one.name == level for one in shown) <= ANNOTATIONS
    errors = [one for one in shown if one.name == "error"]
    assert not [one for one in errors if "held back" in one.properties["title"]]
    runs = json.loads(sarif.read_text("utf-8"))["runs"]
    assert len(gzip.compress(sarif.read_bytes())) < 10_000_000
    assert all(len(run["results"]) < RESULTS for run in runs)
    results = [one for run in runs for one in run["results"] if one["level"] == "error"]
    assert len(results) == len(errors) == len(CAUSES), "one cause, told once"
    text = markdown.read_text("utf-8")
    assert len(text) <= COMMENT
    assert len(summary.read_bytes()) <= SUMMARY
    for file, word in CAUSES:
        assert [one for one in errors if one.properties["file"] == file and word in one.data]
        for report in (text, summary.read_text("utf-8")):
            assert file in report, file
            assert word.strip("'") in report, word
