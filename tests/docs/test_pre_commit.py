"""The hooks that this project offers to pre-commit do what their page says.

pre-commit itself picks the files and runs the hooks, on the command of this environment: an
installation into an environment of pre-commit's own takes a minute, and tests nothing more of ours.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gitops.repository.template import copy_template
from tests.docs.pages import ROOT, blocks

HOOKS: Final[list[dict[str, Any]]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
PAGE: Final = ROOT / "docs" / "how-to" / "format-and-pre-commit.md"
MANIFEST: Final = "namespaces/shop/orders/order-status.yaml"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a program in a git repository that is the template, with the hooks set up."""
    copy_template(tmp_path / "repo")
    bin_folder = str(Path(sys.executable).parent)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "HOME": str(tmp_path),
        "PRE_COMMIT_HOME": str(tmp_path / "cache"),
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }

    def call(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            args,
            cwd=tmp_path / "repo",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    hooks = [{**hook, "language": "system"} for hook in HOOKS]
    config = yaml.safe_dump({"repos": [{"repo": "local", "hooks": hooks}]})
    (tmp_path / "repo" / ".pre-commit-config.yaml").write_text(config)
    workflow = tmp_path / "repo" / ".github" / "workflows" / "ci.yaml"
    workflow.write_text("on:   push\n")
    assert call("git", "init", "--quiet").returncode == 0
    assert call("git", "add", "--all").returncode == 0
    return call


def test_the_template_passes(run: Run) -> None:
    done = run("pre-commit", "run")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("Passed") == len(HOOKS)


def test_a_staged_file_is_laid_out_and_the_commit_stopped(run: Run, tmp_path: Path) -> None:
    manifest = tmp_path / "repo" / MANIFEST
    tidy = manifest.read_text()
    manifest.write_text(tidy.replace("kind: Topic", "kind:   Topic"))
    other = tmp_path / "repo" / "types" / "money.avsc"
    other.write_text(f"  {other.read_text()}")
    run("git", "add", MANIFEST)

    # Only what is staged: pre-commit puts the change of the other file aside meanwhile.
    done = run("pre-commit", "run", "pulsar-gitops-fmt")

    assert (done.returncode, f"changed {MANIFEST}" in done.stdout) == (1, True)
    assert (manifest.read_text(), other.read_text()[:2]) == (tidy, "  ")
    run("git", "add", MANIFEST)
    assert run("pre-commit", "run", "pulsar-gitops-fmt").returncode == 0


def test_files_of_others_are_not_passed(run: Run, tmp_path: Path) -> None:
    workflow = tmp_path / "repo" / ".github" / "workflows" / "ci.yaml"
    files = (".github/workflows/ci.yaml", "README.md")
    done = run("pre-commit", "run", "pulsar-gitops-fmt", "--files", *files)
    assert (done.returncode, "no files to check" in done.stdout) == (0, True)
    assert workflow.read_text() == "on:   push\n"


def test_a_removed_file_is_noticed_by_what_needed_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "repo" / "types" / "money.avsc").unlink()
    run("git", "add", "--all")
    done = run("pre-commit", "run", "pulsar-gitops-validate")
    assert (done.returncode, "shop.types.Money" in done.stdout) == (1, True)


def test_the_page_names_the_hooks_that_there_are() -> None:
    ids = {hook["id"] for hook in HOOKS}
    assert {hook["language"] for hook in HOOKS} == {"python"}
    shown = [yaml.safe_load(each.text) for each in blocks(PAGE.read_text("utf-8")) if not each.file
             and each.language == "yaml"]  # fmt: skip
    assert {hook["id"] for hook in shown[0]["repos"][0]["hooks"]} == ids
    assert {hook["id"] for hook in shown[1]} == ids
