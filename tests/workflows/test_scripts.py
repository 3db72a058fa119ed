"""Scripts inside of actions, at which actionlint does not look, and that the linters do look."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.project_files import ROOT, project_files
from tests.support.workflow_steps import steps_of

BIN: Final = Path(sys.executable).parent
SCRIPTS: Final = {
    f"{path.parent.relative_to(ROOT)}: {name}": step["run"]
    for path in project_files("**action.yml")
    for name, step in steps_of(path).items()
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_of_an_action_has_no_pitfall(name: str) -> None:
    done = subprocess.run(
        [BIN / "shellcheck", "--shell=bash", "-"],
        input=SCRIPTS[name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def linted(tmp_path: Path, before: str, after: str) -> subprocess.CompletedProcess[str]:
    """Lint a copy of the project's part that counts, with a change to the template's apply.yml."""
    for name in (".github", "schemas_repo_template"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "lint-workflows", tmp_path / "scripts")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "bin").symlink_to(BIN)
    workflow = tmp_path / "schemas_repo_template" / ".github" / "workflows" / "apply.yml"
    text = workflow.read_text("utf-8")
    assert before in text
    workflow.write_text(text.replace(before, after), "utf-8")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    return subprocess.run(
        [tmp_path / "scripts" / "lint-workflows"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_the_workflows_are_good(tmp_path: Path) -> None:
    done = linted(tmp_path, "name: apply", "name: apply it")

    assert done.returncode == 0, done.stdout


def test_an_expression_in_a_script_is_found(tmp_path: Path) -> None:
    done = linted(tmp_path, 'echo "$said"', 'echo "${{ github.event.head_commit.message }}"')

    assert done.returncode == 1
    assert "template-injection" in done.stdout


def test_a_job_that_needs_no_job_is_found(tmp_path: Path) -> None:
    if not (BIN / "actionlint").is_file():
        pytest.skip("actionlint could not be built: see scripts/setup-actionlint")

    done = linted(tmp_path, "needs: plan", "needs: plans")

    assert done.returncode == 1
    assert "plans" in done.stdout
