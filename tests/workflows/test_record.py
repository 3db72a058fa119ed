"""The steps of the template's apply.yml that propose a cluster's history, run for real."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from gitops.repository.template import template_root
from tests.support.pull_requests import git_repository
from tests.support.workflow_steps import Runner, handed_over, steps_of

WORKFLOW: Final = template_root() / ".github" / "workflows" / "apply.yml"
PLAN: Final = steps_of(WORKFLOW, "plan")["Plan"]
APPLY: Final = steps_of(WORKFLOW, "apply")["Apply"]
RECORD: Final = steps_of(WORKFLOW, "apply")["Record"]
PROPOSE: Final = steps_of(WORKFLOW, "record")["Propose"]

GH: Final = """#!/bin/sh
echo "$@" >>"$CALLS"
if [ "$2" = list ]; then cat "$OPEN"; else echo 1 >"$OPEN"; fi
"""


def test_the_history_after_an_apply_becomes_one_pull_request(
    runner: Runner, tmp_path: Path
) -> None:
    calls, opened = tmp_path / "calls", tmp_path / "open"
    opened.write_text("0\n")
    stub = runner.root / "stub" / "gh"
    stub.parent.mkdir()
    stub.write_text(GH)
    stub.chmod(0o755)
    runner.path.insert(0, str(stub.parent))
    runner.environment |= {"CALLS": str(calls), "OPEN": str(opened)}
    runner.expressions["github.ref_name"] = "main"
    remote = tmp_path / "remote.git"
    git_repository(runner.workspace)
    for words in (["init", "--quiet", "--bare", str(remote)], ["remote", "add", "origin", remote]):
        subprocess.run(["git", *words], cwd=runner.workspace, check=True)
    handed_over(runner, runner.run(PLAN))

    ran = [runner.run(step) for step in (APPLY, RECORD, PROPOSE, PROPOSE)]
    (runner.workspace / "snapshots" / "more.json").write_text("{}")
    ran.append(runner.run(PROPOSE))

    assert [each.code for each in ran] == [0] * 5, [each.printed for each in ran]
    assert "is up to date" in ran[3].summary
    pushed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "pulsar-gitops/snapshot-local"],
        cwd=remote,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert "snapshots/local/shop/payments/captured.json" in pushed
    assert "snapshots/more.json" in pushed
    verbs = [line.split()[1] for line in calls.read_text().splitlines() if line.startswith("pr ")]
    assert verbs == ["list", "create", "list"]
