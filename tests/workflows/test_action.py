"""The steps of the action, run for real."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.support.prepared_command import prepared_program
from tests.support.project_files import ROOT
from tests.support.pull_requests import HAS_CHECK, pull_request
from tests.support.workflow_steps import Runner, defaults_of, steps_of

ACTION: Final = ROOT / "action.yml"
STEPS: Final = steps_of(ACTION)
BASE: Final = (
    "inputs.base || github.event.pull_request.base.sha || github.event.merge_group.base_sha"
)

STUB: Final = """#!{python}
import json, os, pathlib, sys

with open(os.environ["CALLS"], "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
if "--format=github" in sys.argv:
    with open(os.environ["GITHUB_OUTPUT"], "a") as outputs:
        outputs.write("verdict<<END\\ngood\\nEND\\nerrors=0\\nwarnings=2\\n")
for given in sys.argv:
    if given.startswith("--report=") and os.environ["CODE"] in "014":
        pathlib.Path(given.removeprefix("--report=").partition("=")[2]).write_text("report")
sys.exit(int(os.environ["CODE"]))
"""


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A runner, on a pull request, with an empty repository checked out."""
    (tmp_path / "workspace").mkdir()
    expressions = defaults_of(ACTION) | {
        BASE: "b" * 40,
        "steps.python.outputs.python-path": sys.executable,
    }
    return Runner(
        root=tmp_path / "runner",
        workspace=tmp_path / "workspace",
        expressions=expressions,
        environment={"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_ACTIONS": "true"},
    )


@pytest.fixture
def calls(runner: Runner) -> Path:
    """The command lines that come, one a line, of a program in the place of the installed one."""
    program = runner.temp / "pulsar-gitops" / "bin" / "pulsar-gitops"
    program.parent.mkdir(parents=True)
    program.write_text(STUB.format(python=sys.executable), "utf-8")
    program.chmod(0o755)
    runner.environment |= {"CALLS": str(runner.root / "calls"), "CODE": "0"}
    return runner.root / "calls"


def called(calls: Path) -> list[list[str]]:
    return [json.loads(line) for line in calls.read_text("utf-8").splitlines()]


def test_it_checks_with_the_defaults_and_writes_each_report(runner: Runner, calls: Path) -> None:
    ran = runner.run(STEPS["Check"])

    common = ["check", "--repo=.", f"--base={'b' * 40}", "--history=auto", "--fail-on=error"]
    reports = runner.temp / "pulsar-gitops-reports"
    assert ran.code == 0, ran.printed
    assert called(calls) == [
        [
            *common,
            f"--report=markdown={reports}/report.md",
            f"--report=json={reports}/report.json",
            f"--report=sarif={reports}/report.sarif",
            "--format=github",
        ]
    ]
    assert ran.outputs == {
        "exit-code": "0",
        "verdict": "good",
        "errors": "0",
        "warnings": "2",
        "markdown": f"{reports}/report.md",
        "json": f"{reports}/report.json",
        "sarif": f"{reports}/report.sarif",
    }


def test_without_a_base_it_says_which_input_to_set(runner: Runner, calls: Path) -> None:
    runner.expressions[BASE] = ""

    ran = runner.run(STEPS["Check"])

    assert ran.code == 2
    assert "::set the input base" in ran.printed
    assert not calls.exists()


def test_inputs_reach_the_command_line_as_they_are(runner: Runner, calls: Path) -> None:
    hostile = "a; touch pwned $(touch pwned) `touch pwned` \"'"
    runner.expressions |= {
        "inputs.repo": hostile,
        "inputs.head": "--output=pwned",
        "inputs.registry": f"production\n\n  {hostile}",
        "inputs.history": "snapshot",
        "inputs.drift": "true",
        "inputs.fail-on": "warning",
        "inputs.reports": str(runner.workspace / "my reports"),
    }

    ran = runner.run(STEPS["Check"])

    assert ran.code == 0, ran.printed
    (words,) = called(calls)
    assert [word for word in words if not word.startswith("--report=")] == [
        "check",
        f"--repo={hostile}",
        f"--base={'b' * 40}",
        "--history=snapshot",
        "--fail-on=warning",
        "--head=--output=pwned",
        "--drift",
        "--registry=production",
        f"--registry={hostile}",
        "--format=github",
    ]
    assert ran.outputs["markdown"] == str(runner.workspace / "my reports" / "report.md")
    assert [path.name for path in runner.workspace.iterdir()] == ["my reports"]


def test_findings_fail_the_step_and_are_reported_all_the_same(runner: Runner, calls: Path) -> None:
    runner.environment["CODE"] = "1"

    ran = runner.run(STEPS["Check"])

    assert ran.code == 1
    assert len(called(calls)) == 1
    assert ran.outputs["exit-code"] == "1"
    assert Path(ran.outputs["sarif"]).is_file()


def test_a_registry_without_an_answer_fails_the_step_with_what_is_known(
    runner: Runner, calls: Path
) -> None:
    runner.environment["CODE"] = "4"

    ran = runner.run(STEPS["Check"])

    assert ran.code == 4
    assert len(called(calls)) == 1
    assert Path(ran.outputs["markdown"]).is_file()


@pytest.mark.parametrize("code", [2, 70, 130])
def test_an_error_ends_the_step_with_its_code(runner: Runner, calls: Path, code: int) -> None:
    runner.environment["CODE"] = str(code)

    ran = runner.run(STEPS["Check"])

    assert ran.code == code
    assert len(called(calls)) == 1
    assert ran.outputs["exit-code"] == str(code)
    assert "markdown" not in ran.outputs


def test_every_output_is_one_that_the_step_sets(runner: Runner, calls: Path) -> None:
    declared = yaml.safe_load(ACTION.read_text("utf-8"))["outputs"]
    ran = runner.run(STEPS["Check"])

    assert called(calls)
    assert {name: runner.evaluated(each["value"]) for name, each in declared.items()} == ran.outputs


@pytest.mark.xdist_group("install")
def test_it_installs_itself_with_the_template(runner: Runner) -> None:
    installed = runner.run(STEPS["Install pulsar-schema-gitops"])
    if installed.code and "No matching distribution" in installed.printed:
        pytest.skip(f"no package index can be reached: {installed.printed[-300:]}")
    assert installed.code == 0, installed.printed

    program = runner.temp / "pulsar-gitops" / "bin" / "pulsar-gitops"
    for args in (["init", "schemas"], ["validate", "--repo", "schemas"]):
        subprocess.run([program, *args], cwd=runner.workspace, check=True)
    assert (runner.workspace / "schemas" / ".github" / "workflows" / "check.yml").is_file()
    freeze = subprocess.run(
        [program.parent / "python", "-m", "pip", "freeze"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    pins = set((ROOT / "constraints.txt").read_text("utf-8").splitlines())
    assert not {line for line in freeze.splitlines() if "pulsar-schema-gitops" not in line} - pins


@pytest.mark.skipif(not HAS_CHECK, reason="there is no `check --format github` yet")
def test_it_checks_a_pull_request_for_real(runner: Runner) -> None:
    """A breaking change: refused, reported in every format, and in the summary."""
    installed = runner.temp / "pulsar-gitops" / "bin" / "pulsar-gitops"
    installed.parent.mkdir(parents=True)
    installed.symlink_to(prepared_program())
    runner.expressions[BASE] = pull_request(runner.workspace)

    ran = runner.run(STEPS["Check"])

    assert ran.code == 1, ran.printed
    assert "::error " in ran.printed
    assert "AVRO-R002" in ran.summary
    assert "AVRO-R002" in Path(ran.outputs["markdown"]).read_text("utf-8")
    assert json.loads(Path(ran.outputs["json"]).read_text("utf-8"))
    assert json.loads(Path(ran.outputs["sarif"]).read_text("utf-8"))["version"] == "2.1.0"
