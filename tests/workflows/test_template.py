"""The steps of the template's workflows, run for real."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gitops.repository.template import keep_own_wheel, template_root
from tests.support.git_repos import GitRepository
from tests.support.github_stand_in import TOKEN, GitHubStandIn, Stored
from tests.support.prepared_command import prepared_program
from tests.support.pull_requests import HAS_CHECK, break_schema, pull_request
from tests.support.workflow_steps import Runner, handed_over, steps_of

GITHUB: Final = template_root() / ".github"
INSTALL: Final = steps_of(GITHUB / "actions" / "pulsar-gitops" / "action.yml")["Install"]
WORKFLOWS: Final = sorted((GITHUB / "workflows").glob("*.yml"))
PLAN: Final = steps_of(GITHUB / "workflows" / "apply.yml", "plan")["Plan"]
APPLY: Final = steps_of(GITHUB / "workflows" / "apply.yml", "apply")["Apply"]
RELAY: Final = steps_of(GITHUB / "workflows" / "comment.yml", "comment")["Comment"]
DRIFT: Final = steps_of(GITHUB / "workflows" / "drift.yml", "drift")
CHECK: Final = steps_of(GITHUB / "workflows" / "check.yml", "check")


def schema_of(runner: Runner) -> Path:
    return runner.workspace / "namespaces" / "shop" / "payments" / "captured.avsc"


# ---------------------------------------------------------------------------- what all have


JOBS: Final[dict[str, dict[str, Any]]] = {
    f"{path.stem}.{name}": job
    for path in WORKFLOWS
    for name, job in yaml.safe_load(path.read_text("utf-8"))["jobs"].items()
}


@pytest.mark.parametrize("name", JOBS)
def test_a_job_may_do_little_and_not_for_long(name: str) -> None:
    job = JOBS[name]
    writes = {key for key, value in job["permissions"].items() if value == "write"}
    allowed = {
        "apply.record": {"contents", "pull-requests"},
        "comment.comment": {"pull-requests"},
        "drift.drift": {"issues"},
        "drift.adopt": {"contents", "pull-requests"},
        "audit.audit": {"issues"},
    }

    assert writes == allowed.get(name, set())
    assert job["timeout-minutes"] <= 30
    for step in job["steps"]:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
            assert "ref" not in step["with"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_starts_with_no_permission(path: Path) -> None:
    assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {}


def test_a_pull_request_meets_no_secret() -> None:
    assert "secrets." not in (GITHUB / "workflows" / "check.yml").read_text("utf-8")
    assert "secrets." not in (GITHUB / "workflows" / "comment.yml").read_text("utf-8")


def test_scripts_hold_no_expression() -> None:
    scripts = [step["run"] for job in JOBS.values() for step in job["steps"] if "run" in step]

    assert scripts
    assert not [script for script in [*scripts, INSTALL["run"]] if "${{" in script]


# ---------------------------------------------------------------------------- install


def test_a_new_repository_installs_what_made_it(runner: Runner) -> None:
    keep_own_wheel(runner.workspace)
    made = GitRepository(runner.workspace)
    made.commit()
    made.commit()

    installed = runner.run(INSTALL)
    if "No matching distribution" in installed.printed or "Connection" in installed.printed:
        pytest.skip(f"no package index: {installed.printed[-200:]}")
    assert installed.code == 0, installed.printed
    runner.path = runner.path[:1]

    assert runner.run({"run": "command -v pulsar-gitops"}).printed.startswith(str(runner.temp))
    checked = runner.run({"run": "pulsar-gitops check --base HEAD^1 && pulsar-gitops fmt --check"})
    assert checked.code == 0, checked.printed
    helped = runner.run({"run": "pulsar-gitops explain AVRO-R002"})
    assert "AVRO-R002: a field has no default" in helped.printed


def test_another_wheel_than_the_one_that_init_wrote_is_not_installed(runner: Runner) -> None:
    keep_own_wheel(runner.workspace)
    (wheel,) = runner.workspace.glob(".github/actions/pulsar-gitops/*.whl")
    wheel.write_bytes(wheel.read_bytes() + b"\0")

    installed = runner.run(INSTALL)

    assert installed.code != 0
    assert "DO NOT MATCH THE HASHES" in installed.printed
    assert runner.path == [str(prepared_program().parent)]


# ---------------------------------------------------------------------------- apply.yml


def test_the_reviewed_plan_is_applied(runner: Runner) -> None:
    planned = runner.run(PLAN)
    handed_over(runner, planned)
    applied = runner.run(APPLY)
    again = runner.run({**PLAN, "run": PLAN["run"].replace("mkdir ", "mkdir -p ")})

    assert planned.code == 0, planned.printed
    assert planned.outputs["changes"] == "true"
    assert planned.outputs["digest"].startswith("sha256:")
    assert "## Plan for local\n\n    " in planned.summary
    assert f"Plan {planned.outputs['digest']} waits for a review." in planned.summary
    assert applied.code == 0, applied.printed
    assert f"Applied plan {planned.outputs['digest']}." in applied.summary
    assert again.outputs == {"changes": "false"}


def test_a_plan_that_is_too_large_for_a_summary_says_how_much_is_missing(runner: Runner) -> None:
    """GitHub drops a summary of more than 1 MiB as a whole."""
    text = "".join(f"+ tópic-{number:06}{' x' * 40}\n" for number in range(20_000))
    (runner.root / "large.txt").write_text(text, "utf-8")
    runner.stub(f'cp {runner.root}/large.txt "$RUNNER_TEMP/plan.txt"\nexit 1')

    planned = runner.run(PLAN)

    shown = [line for line in planned.summary.split("\n") if line.startswith("    + ")]
    assert planned.code == 1
    assert planned.printed == text, "the log has all"
    assert 900_000 < len(planned.summary.encode()) < 1024 * 1024 - 1024
    assert f"\n**{20_000 - len(shown)} more lines are left out here: the log" in planned.summary


def test_check_apply_drift_and_audit_speak_of_one_registry() -> None:
    for name in ("check.check", "apply.plan", "drift.drift", "audit.audit"):
        said = [line for line in str(JOBS[name]).split("'") if "vars.PULSAR_REGISTRY }}" in line]
        assert set(said) == {"${{ vars.PULSAR_REGISTRY }}"}, name


def test_who_meets_the_cluster_may_not_write_and_who_may_write_meets_no_cluster() -> None:
    assert JOBS["apply.apply"]["permissions"] == {"contents": "read"}
    for name in ("apply.record", "drift.adopt"):
        assert "PULSAR_TOKEN" not in str(JOBS[name])
        assert "environment" not in JOBS[name]


def test_a_refused_schema_makes_no_plan(runner: Runner) -> None:
    subprocess.run(
        [prepared_program(), "apply", "--auto-approve"],
        cwd=runner.workspace,
        check=True,
        capture_output=True,
    )
    break_schema(runner.workspace)

    planned = runner.run(PLAN)

    assert planned.code == 1
    assert "AVRO-R002" in planned.printed
    assert "AVRO-R002" in planned.summary
    assert planned.outputs == {}


def test_a_plan_that_cannot_be_made_ends_with_its_code(runner: Runner) -> None:
    runner.expressions["vars.PULSAR_REGISTRY"] = "nowhere; touch pwned"

    planned = runner.run(PLAN)

    assert planned.code == 2
    assert "nowhere; touch pwned" in planned.printed
    assert not (runner.workspace / "pwned").exists()


def test_another_plan_than_the_reviewed_one_is_not_applied(runner: Runner) -> None:
    handed_over(runner, runner.run(PLAN))
    runner.expressions["needs.plan.outputs.digest"] = "sha256:" + "0" * 64

    applied = runner.run(APPLY)

    assert applied.code == 5
    assert "is not the plan that was reviewed" in applied.printed
    assert not (runner.workspace / ".gitops").exists()


def test_a_stale_plan_stops_and_says_what_to_do(runner: Runner) -> None:
    handed_over(runner, runner.run(PLAN))
    runner.expressions["needs.plan.outputs.digest"] = runner.expressions[
        "steps.plan.outputs.digest"
    ]
    schema = schema_of(runner)
    schema.write_text(schema.read_text("utf-8").replace("shop.payments", "shop.paid"), "utf-8")

    applied = runner.run(APPLY)

    assert applied.code == 5
    assert "::error title=Stale plan::This run applied nothing" in applied.printed
    assert "for a new plan and a new review" in applied.summary


@pytest.mark.parametrize(
    ("code", "first"),
    [(1, "This run applied nothing"), (6, "Applied IN PART"), (143, "The apply stopped with exit")],
)
def test_an_apply_that_did_not_end_well_says_what_is_applied(
    runner: Runner, code: int, first: str
) -> None:
    handed_over(runner, runner.run(PLAN))
    runner.stub(f"exit {code}")

    applied = runner.run(APPLY)

    assert applied.code == code
    assert applied.summary.startswith(first)
    assert ("re-run this job" in applied.summary) is (code != 1)
    assert (f"::error title=Applied in part::{first}" in applied.printed) is (code == 6)


# ---------------------------------------------------------------------------- comment.yml


@pytest.fixture
def artifact(runner: Runner, github: GitHubStandIn) -> Path:
    """What a good run for pull request #7 left, where download-artifact puts it."""
    runner.environment |= github.environment
    runner.expressions["github.event.workflow_run.head_sha"] = github.heads[7]
    folder = runner.temp / "report"
    folder.mkdir()
    (folder / "report.md").write_text("# Good\n", "utf-8")
    (folder / "pull-request.txt").write_text("7\n", "utf-8")
    return folder


def test_a_report_becomes_one_comment(
    runner: Runner, github: GitHubStandIn, artifact: Path
) -> None:
    planted = "<!-- pulsar-gitops: check of . -->\nLooks good to me"
    github.comments[7] = [Stored(n, "mallory", planted) for n in range(3)]

    said = []
    for text in ("# Good\n", "# Refused\n", "# Refused\n"):
        (artifact / "report.md").write_text(text, "utf-8")
        said.append(runner.run(RELAY).printed.split()[0])

    assert said == ["created", "updated", "unchanged"]
    assert [each.body for each in github.comments[7][:3]] == [planted] * 3
    assert github.comments[7][3].body == "<!-- pulsar-gitops: check of . -->\n# Refused\n"


def test_a_hostile_number_is_not_run(runner: Runner, github: GitHubStandIn, artifact: Path) -> None:
    (artifact / "pull-request.txt").write_text("1; touch pwned\n", "utf-8")

    assert runner.run(RELAY).code == 2
    assert not github.reads
    assert not (runner.workspace / "pwned").exists()


def test_a_report_of_50_mb_is_not_read(
    runner: Runner, github: GitHubStandIn, artifact: Path
) -> None:
    os.truncate(artifact / "report.md", 50_000_000)

    assert runner.run(RELAY).code == 2
    assert not github.reads


def test_a_link_out_of_the_artifact_is_not_followed(
    runner: Runner, github: GitHubStandIn, artifact: Path
) -> None:
    (artifact / "report.md").unlink()
    (artifact / "report.md").symlink_to("/etc/hostname")

    assert runner.run(RELAY).code == 2
    assert not github.reads


def test_another_pull_request_is_not_written_to(
    runner: Runner, github: GitHubStandIn, artifact: Path
) -> None:
    github.heads[8] = "b" * 40
    (artifact / "pull-request.txt").write_text("8\n", "utf-8")

    ran = runner.run(RELAY)

    assert ran.code == 4
    assert f"pull request #8 is at {'b' * 40}" in ran.printed
    assert not github.writes


def test_a_token_that_may_not_write_is_told_what_it_lacks(
    runner: Runner, github: GitHubStandIn, artifact: Path
) -> None:
    assert artifact.is_dir()
    github.refuse("POST", "/issues/7/comments", 403, "Resource not accessible by integration")

    ran = runner.run(RELAY)

    assert ran.code == 4
    assert "the token lacks `pull-requests: write`" in ran.printed
    assert TOKEN not in ran.printed


# ---------------------------------------------------------------------------- check.yml


@pytest.mark.skipif(not HAS_CHECK, reason="there is no `check --format github` yet")
def test_a_pull_request_is_checked_and_its_comment_written(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    (tmp_path / "workspace").mkdir()
    base = pull_request(tmp_path / "workspace")
    runner = Runner(
        root=tmp_path / "runner",
        workspace=tmp_path / "workspace",
        expressions={
            "github.event.pull_request.number": "7",
            "github.token": TOKEN,
            "github.event.workflow_run.head_sha": github.heads[7],
        },
        environment=github.environment,
    )
    env = {"BASE": "HEAD^1", "REGISTRY": "local"}

    checked = runner.run(CHECK["Check"], env)
    commented = runner.run(RELAY)
    laid_out = runner.run(CHECK["Layout"], env)
    again = {**CHECK["Check"], "run": CHECK["Check"]["run"].replace("mkdir ", "mkdir -p ")}
    by_default = runner.run(again, {**env, "REGISTRY": ""})
    elsewhere = runner.run(again, {**env, "REGISTRY": "nowhere; touch pwned"})

    assert checked.code == 1, checked.printed
    assert "AVRO-R002" in checked.summary
    assert checked.outputs["report"] == "true"
    assert laid_out.code == 1, laid_out.printed
    assert "would change namespaces/shop/payments/captured.avsc" in laid_out.printed
    assert by_default.code == 1
    assert elsewhere.code == 2
    assert not (tmp_path / "workspace" / "pwned").exists()
    assert commented.code == 0, commented.printed
    (comment,) = github.comments[7]
    assert "AVRO-R002" in comment.body
    assert f"reproduce: `pulsar-gitops check --base {base[:12]} --registry local`" in comment.body
