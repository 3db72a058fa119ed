"""GitHub Actions for one repository: events start runs, runs have jobs, jobs have tokens.

What decides whether a workflow works is as GitHub has it: the payload of the event, `if` and
`needs`, the commit that is checked out, a token with the job's permissions and no more (and of a
fork's pull request only to read), artifacts that stay with their run and whose names are taken,
environments that wait for a reviewer, and attempts. The `run` steps are run for real. The action
that installs the program is not: tests of its own run it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tests.support.github_stand_in import REPOSITORY, GitHubStandIn
from tests.support.workflow_expressions import as_text, filled, is_met
from tests.support.workflow_steps import Ran, Runner

_INSTALL: Final = "./.github/actions/pulsar-gitops"
_DEFAULT_BRANCH: Final = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened: its payload, and the ref and commit that a run of it is about.

    `is_foreign`: a pull request of a fork, whose runs see neither secrets nor variables and may
    only read.
    """

    name: str
    payload: Mapping[str, Any]
    ref: str
    sha: str
    is_foreign: bool = False


@dataclass(slots=True, kw_only=True)
class Job:
    """How a job ended: `success`, `failure`, `skipped`, or that it is `waiting` for a review."""

    result: str = "waiting"
    outputs: dict[str, str] = field(default_factory=dict)
    ran: dict[str, Ran] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Run:
    """One run of a workflow; a re-run is another attempt of it, with its artifacts still there."""

    number: int
    workflow: str
    event: Event
    attempt: int = 1
    jobs: dict[str, Job] = field(default_factory=dict)
    artifacts: dict[str, Path] = field(default_factory=dict)

    @property
    def conclusion(self) -> str:
        """What the whole run ended with; empty while a job waits."""
        results = {job.result for job in self.jobs.values()}
        if "waiting" in results:
            return ""
        return "failure" if "failure" in results else "success" if "success" in results else ""


@dataclass(slots=True, kw_only=True)
class Actions:
    """The repository `origin` on GitHub, with its variables; `root` has the runners' folders."""

    root: Path
    origin: Path
    github: GitHubStandIn
    variables: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    _jobs: int = 0

    def start(self, workflow: str, event: Event) -> Run:
        """Start a workflow that such an event starts, and wait for it."""
        run = Run(number=len(self.runs) + 1, workflow=workflow, event=event)
        self.runs[run.number] = run
        assert event.name in _events(self._definition(run)), f"{event.name} does not start it"
        self._continue(run, frozenset())
        return run

    def repeat(self, run: Run) -> None:
        """Re-run all jobs, as somebody presses the button."""
        run.attempt += 1
        run.jobs.clear()
        self._continue(run, frozenset())

    def approve(self, run: Run, environment: str) -> None:
        """Let the jobs of an environment begin, and all that comes after them."""
        run.jobs = {name: job for name, job in run.jobs.items() if job.result != "waiting"}
        self._continue(run, frozenset({environment}))

    def completed(self, run: Run, head_branch: str, head_sha: str) -> Event:
        """The event that a workflow of `workflow_run` gets once a run has ended."""
        owner = "stranger/schemas" if run.event.is_foreign else REPOSITORY
        about = {
            "id": run.number,
            "run_attempt": run.attempt,
            "name": run.workflow,
            "event": run.event.name,
            "conclusion": run.conclusion,
            "head_branch": head_branch,
            "head_sha": head_sha,
            "head_repository": {"full_name": owner},
        }
        payload = {"action": "completed", "workflow_run": about, **_repository()}
        ref, sha = f"refs/heads/{_DEFAULT_BRANCH}", self._git("rev-parse", _DEFAULT_BRANCH)
        return Event(name="workflow_run", payload=payload, ref=ref, sha=sha)

    # Jobs.

    def _continue(self, run: Run, approved: frozenset[str]) -> None:
        """Each job whose needs have ended, in the order of the file."""
        for name, job in self._definition(run)["jobs"].items():
            if name in run.jobs:
                continue
            needed = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
            results = [run.jobs[each].result for each in needed if each in run.jobs]
            if len(results) < len(needed) or "waiting" in results:
                continue
            failed = any(each != "success" for each in results)
            if not is_met(job.get("if", ""), self._context(run, job), failed=failed):
                run.jobs[name] = Job(result="skipped")
            elif "apply" in job.get("environment", "") and job["environment"] not in approved:
                run.jobs[name] = Job()
            else:
                run.jobs[name] = self._run_job(run, name, job)

    def _run_job(self, run: Run, name: str, job: Mapping[str, Any]) -> Job:
        self._jobs += 1
        permissions = dict(job["permissions"])
        if run.event.is_foreign:
            permissions = dict.fromkeys(permissions, "read")
        token = f"ghs_{run.number}_{run.attempt}_{name}_{self._jobs}"
        self.github.tokens[token] = permissions
        started = _Started(
            actions=self,
            run=run,
            job=job,
            token=token,
            permissions=permissions,
            root=self.root / f"job-{self._jobs}",
        )
        return started.finish()

    def _definition(self, run: Run) -> dict[str, Any]:
        """The file as the commit of the run has it; `on` is a boolean in YAML 1.1."""
        text = self._git("show", f"{run.event.sha}:.github/workflows/{run.workflow}.yml")
        found: dict[str, Any] = yaml.safe_load(text)
        return found

    def _context(self, run: Run, job: Mapping[str, Any], token: str = "") -> dict[str, Any]:
        event = run.event
        github = {
            "event": event.payload,
            "event_name": event.name,
            "ref": event.ref,
            "ref_name": event.ref.removeprefix("refs/heads/"),
            "sha": event.sha,
            "repository": REPOSITORY,
            "run_id": run.number,
            "run_attempt": run.attempt,
            "token": token,
        }
        needs = {
            name: {"result": each.result, "outputs": each.outputs}
            for name, each in run.jobs.items()
        }
        return {
            "github": github,
            "vars": {} if event.is_foreign else self.variables,
            "secrets": {} if event.is_foreign else self.secrets,
            "needs": needs,
            "env": job.get("env", {}),
        }

    def _git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.origin, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()


@dataclass(slots=True, kw_only=True)
class _JobRunner(Runner):
    """Evaluates expressions in the context of a job."""

    context: dict[str, Any]

    def evaluated(self, text: str) -> str:
        return filled(text, self.context)


@dataclass(slots=True, kw_only=True)
class _Started:
    """A job on its runner."""

    actions: Actions
    run: Run
    job: Mapping[str, Any]
    token: str
    permissions: Mapping[str, str]
    root: Path

    def finish(self) -> Job:
        found, failed = Job(), False
        runner = self._runner()
        steps: dict[str, Any] = {}
        runner.context["steps"] = steps
        for step in self.job["steps"]:
            if not is_met(str(step.get("if", "")), runner.context, failed=failed):
                continue
            code, ran = self._step(step, runner)
            if ran:
                found.ran[step.get("name", step["run"])] = ran
            if "id" in step:
                outcome = "failure" if code else "success"
                steps[step["id"]] = {"outcome": outcome, "outputs": ran.outputs if ran else {}}
            failed = failed or (bool(code) and not step.get("continue-on-error", False))
        found.result = "failure" if failed else "success"
        found.outputs = {
            key: runner.evaluated(value) for key, value in self.job.get("outputs", {}).items()
        }
        return found

    def _runner(self) -> _JobRunner:
        payload = self.root / "event.json"
        self.root.mkdir(parents=True)
        payload.write_text(json.dumps(self.run.event.payload), "utf-8")
        api = {k: v for k, v in self.actions.github.environment.items() if k != "GITHUB_TOKEN"}
        runner = _JobRunner(
            root=self.root / "runner",
            workspace=self.root / "workspace",
            context=self.actions._context(self.run, self.job, self.token),  # noqa: SLF001
            environment=api
            | {
                "GITHUB_ACTIONS": "true",
                "GITHUB_EVENT_NAME": self.run.event.name,
                "GITHUB_EVENT_PATH": str(payload),
                "GITHUB_REF": self.run.event.ref,
                "GITHUB_SHA": self.run.event.sha,
                "GITHUB_RUN_ID": str(self.run.number),
                "GITHUB_RUN_ATTEMPT": str(self.run.attempt),
            },
        )
        runner.context["runner"] = {"temp": str(runner.temp)}
        return runner

    def _step(self, step: Mapping[str, Any], runner: _JobRunner) -> tuple[int, Ran | None]:
        """The exit code, and of a `run` step what it did."""
        uses = step.get("uses", "")
        given = {k: runner.evaluated(as_text(v)) for k, v in step.get("with", {}).items()}
        if not uses:
            ran = runner.run(step, self.job.get("env"))
            return ran.code, ran
        if uses == _INSTALL:
            return int(not (runner.workspace / _INSTALL / "action.yml").is_file()), None
        action = {
            "actions/checkout": self._check_out,
            "actions/upload-artifact": self._upload,
            "actions/download-artifact": self._download,
        }[uses.partition("@")[0]]
        return int(not action(runner, given)), None

    def _check_out(self, runner: _JobRunner, given: Mapping[str, str]) -> bool:
        assert self.permissions.get("contents") in ("read", "write")
        depth = ["--depth=1"] if given.get("fetch-depth", "1") != "0" else []
        git = ("git", "-c", "advice.detachedHead=false")
        subprocess.run([*git, "init", "--quiet", str(runner.workspace)], check=True)
        for words in (
            ["remote", "add", "origin", self.actions.origin.as_uri()],
            ["fetch", "--quiet", *depth, "origin", self.run.event.sha],
            ["checkout", "--quiet", "FETCH_HEAD"],
        ):
            subprocess.run([*git, *words], cwd=runner.workspace, check=True, capture_output=True)
        return True

    def _upload(self, runner: _JobRunner, given: Mapping[str, str]) -> bool:
        """A name that the run has already is refused, from an earlier attempt too."""
        name, source = given["name"], runner.workspace / given["path"]
        if not source.exists():
            return given.get("if-no-files-found") == "ignore"
        if name in self.run.artifacts and given.get("overwrite") != "true":
            return False
        kept = self.root / "artifacts" / name
        if source.is_dir():
            shutil.copytree(source, kept)
        else:
            kept.mkdir(parents=True)
            shutil.copy(source, kept)
        self.run.artifacts[name] = kept
        return True

    def _download(self, runner: _JobRunner, given: Mapping[str, str]) -> bool:
        """Of another run only with a token that may read it."""
        artifacts = self.run.artifacts
        if "run-id" in given:
            token = given["github-token"]
            assert self.actions.github.tokens[token].get("actions") in ("read", "write")
            artifacts = self.actions.runs[int(given["run-id"])].artifacts
        if given["name"] not in artifacts:
            return False
        target = runner.workspace / given["path"]
        shutil.copytree(artifacts[given["name"]], target, symlinks=True, dirs_exist_ok=True)
        return True


def _events(definition: Mapping[Any, Any]) -> Iterator[str]:
    yield from definition[True]


def _repository() -> dict[str, Any]:
    return {"repository": {"full_name": REPOSITORY, "default_branch": _DEFAULT_BRANCH}}
