"""The component for GitLab: its inputs, its jobs, and their scripts run for real."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.support.gitlab_stand_in import gitlab_stand_in
from tests.support.prepared_command import prepared_program
from tests.support.project_files import ROOT
from tests.support.pull_requests import pull_request

COMPONENT: Final = ROOT / "templates" / "check.yml"
_INPUT: Final = re.compile(r"\$\[\[ inputs\.([\w-]+) \]\]")
_KEPT: Final = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TMPDIR")


def head_and_jobs() -> tuple[dict[str, Any], str]:
    head, _, jobs = COMPONENT.read_text("utf-8").partition("\n---\n")
    return yaml.safe_load(head)["spec"]["inputs"], jobs


@dataclass(slots=True, kw_only=True)
class Pipeline:
    """Runs the script of a job as GitLab's runner does, with inputs and variables."""

    project: Path
    inputs: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    def job(self, name: str) -> dict[str, Any]:
        """A job with what it extends."""
        inputs, text = head_and_jobs()
        given = {key: each["default"] for key, each in inputs.items()} | self.inputs
        jobs = yaml.safe_load(_INPUT.sub(lambda found: given[found[1]], text))
        job: dict[str, Any] = jobs[name]
        base: dict[str, Any] = jobs[job["extends"]]
        return base | job | {"variables": base["variables"] | job.get("variables", {})}

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """The script of a job, without what installs the command."""
        job = self.job(name)
        kept = {key: os.environ[key] for key in _KEPT if key in os.environ}
        project = {"CI_PROJECT_DIR": str(self.project), "HOME": str(self.project.parent)}
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", "\n".join(job["script"])],
            cwd=self.project,
            env=kept | project | self.variables | job["variables"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    """A merge request that breaks a schema, with the command where the jobs install it."""
    project = tmp_path / "project"
    project.mkdir()
    program = tmp_path / "project.tmp" / "pulsar-gitops" / "bin" / "pulsar-gitops"
    program.parent.mkdir(parents=True)
    program.symlink_to(prepared_program())
    return Pipeline(
        project=project,
        variables={
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": pull_request(project),
            "CI_MERGE_REQUEST_IID": "7",
        },
    )


def test_each_input_is_used_and_each_that_is_used_is_declared() -> None:
    inputs, jobs = head_and_jobs()
    assert set(inputs) == set(_INPUT.findall(jobs))
    assert all(set(each) >= {"description", "default"} for each in inputs.values())


def test_no_input_stands_in_a_script() -> None:
    """There a shell would carry out what it says."""
    _, jobs = head_and_jobs()
    texts = [
        "\n".join(job[key])
        for job in yaml.safe_load(jobs).values()
        for key in ("before_script", "script")
        if key in job
    ]
    assert len(texts) == 3
    assert not [text for text in texts if _INPUT.search(text)]


@pytest.mark.slow
def test_a_merge_request_is_checked_and_gets_one_note(pipeline: Pipeline) -> None:
    checked = pipeline.run("pulsar-gitops-check")

    assert checked.returncode == 1, checked.stdout
    report = pipeline.job("pulsar-gitops-check")["artifacts"]["reports"]["codequality"]
    entries = json.loads((pipeline.project / report).read_text("utf-8"))
    place = "namespaces/shop/payments/captured.avsc"
    assert place in {entry["location"]["path"] for entry in entries}

    with gitlab_stand_in() as gitlab:
        pipeline.variables |= gitlab.environment
        noted = [pipeline.run("pulsar-gitops-note") for _ in range(2)]

        assert [each.returncode for each in noted] == [0, 0], noted[0].stdout
        (note,) = gitlab.notes[7]
    assert "captured" in note.body
    assert noted[1].stdout.startswith("unchanged ")


@pytest.mark.slow
def test_a_pipeline_for_the_merged_result_compares_with_the_target(pipeline: Pipeline) -> None:
    pipeline.variables["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] = "HEAD"

    assert pipeline.run("pulsar-gitops-check").returncode == 0


@pytest.mark.slow
def test_inputs_reach_the_command_line_as_they_are(pipeline: Pipeline) -> None:
    program = pipeline.project.parent / "project.tmp" / "pulsar-gitops" / "bin" / "pulsar-gitops"
    program.unlink()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    hostile = "a; touch pwned $(touch pwned) `touch pwned` '"
    pipeline.inputs = {"repo": hostile, "registry": hostile, "base": "main", "replay": "local"}

    printed = pipeline.run("pulsar-gitops-check").stdout.splitlines()

    assert printed[:3] == ["check", f"--repo={hostile}", "--base=main"]
    assert [f"--registry={hostile}", "--replay", "--engine=local"] == printed[5:8]
    assert not list(pipeline.project.glob("pwned"))


@pytest.mark.slow
def test_without_a_report_there_is_no_note(pipeline: Pipeline) -> None:
    assert pipeline.run("pulsar-gitops-note").returncode == 0
