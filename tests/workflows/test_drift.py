"""The workflow that looks each morning for drift, its issue and its pull request."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from gitops.repository.template import template_root
from tests.support.github_stand_in import GitHubStandIn
from tests.support.prepared_command import prepared_program
from tests.support.pull_requests import git_repository
from tests.support.workflow_steps import Ran, Runner, steps_of

WORKFLOW: Final = template_root() / ".github" / "workflows" / "drift.yml"
DRIFT: Final = steps_of(WORKFLOW, "drift")
ADOPT: Final = steps_of(WORKFLOW, "adopt")
JOB: Final = {"REGISTRY": "local", "INTO": "main", "GH_TOKEN": "ghs"}
BRANCH: Final = "pulsar-gitops/drift-local"
CAPTURED: Final = "namespaces/shop/payments/captured"
GH: Final = """#!/bin/sh
echo "$@" >>"$CALLS"
case "$1 $2" in
  "pr list") cat "$OPEN" ;;
  "pr create") echo 1 >"$OPEN" ;;
  "pr close") : >"$OPEN" ;;
esac
"""


@dataclass(slots=True, kw_only=True)
class _Project:
    """A checked-out repository with its `origin`, a `gh`, and a registry that drifted."""

    runner: Runner
    remote: Path
    open: Path
    calls: Path

    def program(self, *words: str) -> str:
        return self._run(str(prepared_program()), *words)

    def git(self, *words: str) -> str:
        return self._run("git", *words)

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            words, cwd=self.runner.workspace, check=True, capture_output=True, text=True
        )
        return done.stdout

    def plant(self, name: str) -> None:
        """Register a version with one more field."""
        said = self.program("schemas", "get", "shop/payments/captured", "--format", "json")
        content = json.loads(json.loads(said)["schema"])
        content["fields"].append({"name": name, "type": ["null", "string"], "default": None})
        by_hand = self.runner.root / "by-hand.avsc"
        by_hand.write_text(json.dumps(content), "utf-8")
        self.program("schemas", "upload", "shop/payments/captured", str(by_hand), "--type", "AVRO")

    def morning(self) -> Ran:
        """Both jobs; the checkout of the second one is that of main again."""
        found = self.runner.run(DRIFT["Adopt"], JOB)
        assert found.code == 0, found.printed
        self.git("reset", "--quiet", "--hard", "main")
        self.git("clean", "--quiet", "--force", "-d")
        proposed = self.runner.run(ADOPT["Propose"], JOB)
        assert proposed.code == 0, proposed.printed
        self.git("reset", "--quiet", "--hard", "HEAD~1" if self._is_ahead() else "HEAD")
        subprocess.run(["rm", "-r", self.runner.temp / "adoption"], check=True)
        return proposed

    def _is_ahead(self) -> bool:
        return self.git("rev-parse", "HEAD") != self.git("rev-parse", "refs/remotes/origin/main")

    def verbs(self) -> list[str]:
        words = [line.split() for line in self.calls.read_text("utf-8").splitlines()]
        return [each[1] if each[0] == "pr" else each[0] for each in words if each[1:] != ["list"]]


@pytest.fixture
def project(runner: Runner, tmp_path: Path) -> _Project:
    """The template, applied; nothing has drifted yet."""
    stub, remote = runner.root / "stub" / "gh", tmp_path / "remote.git"
    stub.parent.mkdir()
    stub.write_text(GH)
    stub.chmod(0o755)
    runner.path.insert(0, str(stub.parent))
    found = _Project(runner=runner, remote=remote, open=tmp_path / "open", calls=tmp_path / "calls")
    found.open.write_text("")
    found.calls.write_text("")
    runner.environment |= {"CALLS": str(found.calls), "OPEN": str(found.open)}
    git_repository(runner.workspace)
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", remote], check=True)
    found.git("branch", "--move", "--force", "main")
    found.git("remote", "add", "origin", str(remote))
    found.git("push", "--quiet", "origin", "main")
    found.git("fetch", "--quiet", "origin")
    found.program("apply", "--auto-approve")
    return found


def test_drift_is_one_issue_from_the_first_day_to_the_last(
    project: _Project, github: GitHubStandIn
) -> None:
    runner = project.runner
    runner.environment |= github.environment
    project.plant("channel")

    for _ in range(2):
        compared = runner.run(DRIFT["Compare"], JOB)
        reported = runner.run(DRIFT["Report"], JOB)
        assert compared.outputs == {"drift": "true"}
        assert "1 version outside git" in compared.summary
        assert reported.code == 0, reported.printed
    project.program("drift", "--adopt")
    gone = runner.run(DRIFT["Compare"], JOB)
    closed = runner.run(DRIFT["Close"], JOB)

    assert gone.outputs == {"drift": "false"}
    assert closed.code == 0, closed.printed
    assert [method for method, _ in github.writes] == ["POST", "PATCH"]
    (issue,) = github.issues
    assert issue.title == "Drift of local"
    assert "\n+ channel " in issue.body
    assert issue.state == "closed"


def test_a_cluster_that_cannot_be_read_is_no_drift(runner: Runner) -> None:
    compared = runner.run(DRIFT["Compare"], {"REGISTRY": "nowhere"})

    assert compared.code == 2
    assert compared.outputs == {}


def test_the_adoption_is_one_pull_request_that_follows_the_drift(project: _Project) -> None:
    project.plant("channel")
    project.morning()
    again = project.morning()
    project.plant("colour")
    project.morning()

    assert "proposed already" in again.summary
    assert project.verbs() == ["list", "create", "list", "api"]
    proposed = project.git("show", f"origin/{BRANCH}:{CAPTURED}.avsc")
    assert "colour" in proposed
    (created,) = [line for line in project.calls.read_text().splitlines() if "create" in line]
    assert "--base main --title Adopt the drift of local" in created


def test_a_closed_proposal_is_not_made_again_for_the_same_change(project: _Project) -> None:
    project.plant("channel")
    project.morning()
    project.open.write_text("")

    project.morning()

    assert project.verbs() == ["list", "create"]


def test_a_proposal_is_withdrawn_once_the_drift_is_gone(project: _Project) -> None:
    project.plant("channel")
    project.morning()

    ran = [project.runner.run(ADOPT["Withdraw"], JOB) for _ in range(2)]

    assert [each.code for each in ran] == [0, 0], [each.printed for each in ran]
    assert project.verbs() == ["list", "create", "list", "close", "list"]
    assert BRANCH not in project.git("ls-remote", "origin")
