"""Runs the `run` steps of a composite action or of a workflow's job, as GitHub's runner does.

The runner's part that matters to a script: its shell, its environment, the files that GITHUB_OUTPUT
and its kind name, and the expressions in `env`, which a test answers by their text. Steps that use
an action are not run: a test does what they would do.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tests.support.prepared_command import prepared_program

_EXPRESSION: Final = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_SHELL: Final = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c")
_KEPT: Final = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR")
_ASSIGNMENT: Final = re.compile(
    r"^(?P<key>[\w-]+)(?:=(?P<value>.*)|<<(?P<end>.+)\n(?P<lines>(?:.*\n)*?)(?P=end))$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a step ended: its code, its output, what it set, and what it added to the summary."""

    code: int
    printed: str
    outputs: Mapping[str, str]
    summary: str


@dataclass(slots=True, kw_only=True)
class Runner:
    """A runner's folders below `root`; `workspace` is where the repository is checked out.

    `expressions` answers `${{ … }}` by what stands between the braces. An expression that is not
    there is a mistake of the test.
    """

    root: Path
    workspace: Path
    expressions: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    path: list[str] = field(default_factory=lambda: [str(prepared_program().parent)])

    def __post_init__(self) -> None:
        self.temp.mkdir(parents=True)

    @property
    def temp(self) -> Path:
        """RUNNER_TEMP."""
        return self.root / "temp"

    def stub(self, script: str) -> None:
        """Put a `pulsar-gitops` of this shell script before the real one."""
        program = self.root / "stub" / "pulsar-gitops"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        self.path.insert(0, str(program.parent))

    def run(self, step: Mapping[str, Any], env: Mapping[str, Any] | None = None) -> Ran:
        """Run one step; `env` is that of its job. Its outputs can be had by later ones."""
        files = {name: self.root / name.lower() for name in ("OUTPUT", "STEP_SUMMARY", "PATH")}
        for file in files.values():
            file.write_bytes(b"")
        done = subprocess.run(
            [*_SHELL, step["run"]],
            cwd=self.workspace,
            env=self._environment({**(env or {}), **step.get("env", {})}, files),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        outputs = assignments(files["OUTPUT"].read_text("utf-8"))
        self.expressions |= {
            f"steps.{step.get('id')}.outputs.{key}": value for key, value in outputs.items()
        }
        self.path[:0] = files["PATH"].read_text("utf-8").splitlines()
        return Ran(
            code=done.returncode,
            printed=done.stdout,
            outputs=outputs,
            summary=files["STEP_SUMMARY"].read_text("utf-8"),
        )

    def _environment(self, env: Mapping[str, Any], files: Mapping[str, Path]) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        path = os.pathsep.join([*self.path, str(Path(sys.executable).parent), os.environ["PATH"]])
        given = {name: self.evaluated(str(value)) for name, value in env.items()}
        runner = {"RUNNER_TEMP": str(self.temp), "HOME": str(self.root), "CI": "true"}
        github = {f"GITHUB_{name}": str(file) for name, file in files.items()}
        return kept | runner | github | self.environment | given | {"PATH": path}

    def evaluated(self, text: str) -> str:
        """The text with the values of its expressions."""
        return _EXPRESSION.sub(lambda found: self.expressions[found[1]], text)


def handed_over(runner: Runner, planned: Ran) -> None:
    """What GitHub does between the two jobs: the artifact and the outputs of the first."""
    runner.expressions["needs.plan.outputs.digest"] = planned.outputs["digest"]


def steps_of(path: Path, job: str = "") -> dict[str, dict[str, Any]]:
    """The `run` steps of a workflow's job, or of a composite action, by name and in order."""
    content = yaml.safe_load(path.read_text("utf-8"))
    steps = content["jobs"][job]["steps"] if job else content["runs"]["steps"]
    return {step.get("name", step["run"]): step for step in steps if "run" in step}


def defaults_of(action: Path) -> dict[str, str]:
    """The inputs of an action as expressions, with their defaults."""
    inputs = yaml.safe_load(action.read_text("utf-8"))["inputs"]
    return {f"inputs.{name}": str(each["default"]) for name, each in inputs.items()}


def assignments(text: str) -> dict[str, str]:
    """What a file of GITHUB_OUTPUT's kind says: `key=value`, or lines up to a delimiter."""
    return {
        found["key"]: found["value"]
        if found["value"] is not None
        else found["lines"].removesuffix("\n")
        for found in _ASSIGNMENT.finditer(text)
    }
