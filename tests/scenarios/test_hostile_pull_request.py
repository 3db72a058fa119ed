"""A hostile pull request gets a clear and bounded report in every format, and does nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from gitops.reports.markdown.document import COMMENT_LIMIT
from gitops.repository.template import copy_template
from tests.scenarios.hostile_pull_request import BRANCH, FINDINGS, REFUSED, make
from tests.support.command_line import CommandLine, Outcome, captured
from tests.support.git_repos import GitRepository
from tests.support.hostile_texts import assert_inert
from tests.support.runner import commands

SECRET: Final = "do not show this"
CONTROLS: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\ud800-\udfff]")
REFUSAL: Final = "the new schema cannot read messages of v0 at"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    made = GitRepository(tmp_path_factory.mktemp("hostile") / "repo")
    copy_template(made.root / "schemas")
    made.commit({"secret.avsc": json.dumps(SECRET)})
    make(made)
    return made


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture(scope="module")
def reports(repo: GitRepository, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """One check of the branch that is not checked out, in each format."""
    folder = tmp_path_factory.mktemp("reports")
    formats = ("json", "markdown", "github", "sarif")
    where = ("--repo", repo.root / "schemas", "--base", "main", "--head", BRANCH)
    files = [f"{name}={folder / name}" for name in formats]
    outcome = captured("check", *where, *(word for file in files for word in ("--report", file)))
    _is_harmless(repo, outcome)
    texts = {name: (folder / name).read_text("utf-8") for name in formats}
    for text in texts.values():
        _hides_secrets(text)
    return texts


def _is_harmless(repo: GitRepository, said: Outcome) -> None:
    """What holds whatever the format."""
    assert said.code == 1, said.err
    assert "Traceback" not in said.err
    assert not CONTROLS.search(said.err)
    _hides_secrets(said.out)
    assert list(repo.root.rglob("pwned")) == []


def _hides_secrets(text: str) -> None:
    assert SECRET not in text
    assert "root:" not in text, "what /etc/passwd holds"


pytestmark = pytest.mark.xdist_group("hostile pull request")


def test_in_a_terminal(repo: GitRepository, command: CommandLine, tmp_path: Path) -> None:
    """The branch is checked out: a folder on disk has links that the system would follow."""
    there = tmp_path / "there"
    repo.git("worktree", "add", "--quiet", str(there), BRANCH)
    said = command("check", "--repo", there / "schemas", "--base", "main")

    _is_harmless(repo, said)
    assert not CONTROLS.search(said.out)
    assert len(said.out) < 1_000_000
    assert f"✗ shop/orders/{REFUSED}" in said.out
    assert REFUSAL in " ".join(said.out.split())
    assert re.search(r"… [\d,]+ more findings, none worse", said.out)


def test_as_json(reports: Mapping[str, str]) -> None:
    document = json.loads(reports["json"])

    rules = [each["rule"] for each in document["findings"]]
    assert rules.count("REPO-R002") > FINDINGS
    assert {"REPO-R007", "REPO-R018"} <= set(rules), "links, and what is too large"
    (registry,) = document["registries"]
    (refused,) = [n for n in registry["plan"]["notices"] if n["topic"] == f"shop/orders/{REFUSED}"]
    assert refused["notice"] == "Refused"


def test_as_markdown(reports: Mapping[str, str]) -> None:
    text = reports["markdown"]

    assert len(text.encode()) <= COMMENT_LIMIT
    assert text.startswith("### ✗ ")
    assert "would be refused by Pulsar" in text.split("\n", 1)[0]
    assert REFUSAL in text
    assert re.search(r"_… and \d+,\d{3} more findings, left out for GitHub's limit", text)
    notes = ("_… and ", "_The details of ")
    assert_inert("\n".join(line for line in text.split("\n") if not line.startswith(notes)))


def test_as_workflow_commands(reports: Mapping[str, str]) -> None:
    text = reports["github"]

    shown = commands(text)
    assert len(shown) == text.count("\n") <= 30
    assert {each.name for each in shown} <= {"error", "warning", "notice"}
    assert [each.name for each in shown].count("error") == 10
    assert shown[0].data.startswith(REFUSAL)
    assert shown[9].properties["title"].endswith("more errors held back")
    assert len(text) < 100_000


def test_as_sarif(reports: Mapping[str, str]) -> None:
    text = reports["sarif"]

    runs = json.loads(text)["runs"]
    assert len(text.encode()) < 10_000_000, "what code scanning takes"
    assert max(len(run["results"]) for run in runs) == 5000
    (note,) = runs[0]["invocations"][0]["toolExecutionNotifications"]
    assert "held back" in note["message"]["text"]
    assert any(result["ruleId"] == "AVRO-R002" for run in runs for result in run["results"])
