"""`plan --undo`: what it writes and prints, and what it does not go with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository

_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
_FILE: Final = "namespaces/a/b/namespace.yaml"


def _namespace(strategy: str) -> str:
    return f"{_HEAD}Namespace\nnamespace: a/b\nschemaCompatibilityStrategy: {strategy}\n"


@pytest.fixture
def repo(tmp_path: Path, command: CommandLine) -> GitRepository:
    """A policy that was changed, applied from `plan.json` beside the repository."""
    found = GitRepository(tmp_path / "repo")
    registries = "{one: {kind: embedded, path: 1.db}, other: {kind: embedded, path: 2.db}}"
    settings = f"{_HEAD}Config\nregistries: {registries}\ndefaultRegistry: one\n"
    found.commit({"gitops.yaml": settings, ".gitignore": "*.db*\n", _FILE: _namespace("FULL")})
    assert command("apply", "--auto-approve", "--repo", found.root).code == 0
    found.commit({_FILE: _namespace("BACKWARD")})
    plan_file = tmp_path / "plan.json"
    assert command("plan", "--out", plan_file, "--repo", found.root).code == 0
    assert command("apply", plan_file, "--repo", found.root).code == 0
    return found


@pytest.mark.slow
def test_it_names_the_files_and_plans_them(repo: GitRepository, command: CommandLine) -> None:
    done = command("plan", "--undo", "HEAD", "--repo", repo.root)

    assert done.code == 0
    assert done.err == f"changed {_FILE}\nread the changes (git diff), and commit them\n"
    assert "schemaCompatibilityStrategy   BACKWARD → FULL" in done.out
    assert (repo.root / _FILE).read_text("utf-8") == _namespace("FULL")


@pytest.mark.slow
def test_a_plan_file_names_its_registry(
    repo: GitRepository, command: CommandLine, tmp_path: Path
) -> None:
    plan_file = tmp_path / "plan.json"

    other = command("plan", "--undo", plan_file, "--registry", "other", "--repo", repo.root)
    done = command("plan", "--undo", plan_file, "--format", "json", "--repo", repo.root)

    assert (other.code, other.err) == (2, "error: this plan is for one, not for other\n")
    assert json.loads(done.out)["registry"]["name"] == "one"
    assert (repo.root / _FILE).read_text("utf-8") == _namespace("FULL")


@pytest.mark.slow
def test_of_a_file_with_several_plans_one_is_undone_after_the_other(
    repo: GitRepository, command: CommandLine, tmp_path: Path
) -> None:
    assert command("apply", "--auto-approve", "--registry", "other", "--repo", repo.root).code == 0
    repo.commit({_FILE: _namespace("FORWARD")})
    plans, both = tmp_path / "plans.json", ("--registry", "one", "--registry", "other")
    assert command("plan", "--out", plans, *both, "--repo", repo.root).code == 0
    assert command("apply", plans, "--repo", repo.root).code == 0

    unnamed = command("plan", "--undo", plans, "--repo", repo.root)
    done = [
        command("plan", "--undo", plans, "--registry", name, "--repo", repo.root)
        for name in ("one", "other")
    ]

    assert unnamed.code == 2
    assert "has plans for several registries: one, other" in unnamed.err
    assert "--registry NAME" in unnamed.err
    assert ["FORWARD → BACKWARD" in each.out for each in done] == [True, True]
    assert done[1].err == "no file has to change\n"
    assert (repo.root / _FILE).read_text("utf-8") == _namespace("BACKWARD")


@pytest.mark.slow
def test_what_is_undone_already_changes_no_file(repo: GitRepository, command: CommandLine) -> None:
    assert command("plan", "--undo", "HEAD", "--repo", repo.root).code == 0

    again = command("plan", "--undo", "HEAD", "--repo", repo.root)

    assert again.err == "no file has to change\n"
    assert "BACKWARD → FULL" in again.out


@pytest.mark.slow
def test_a_file_with_changes_is_left_alone(repo: GitRepository, command: CommandLine) -> None:
    (repo.root / _FILE).write_text(f"{_namespace('BACKWARD')}# mine\n", "utf-8")

    done = command("plan", "--undo", "HEAD", "--repo", repo.root)

    assert done.code == 0
    assert f"not undone: {_FILE} has changes that are not committed" in " ".join(done.out.split())
    assert "# mine" in (repo.root / _FILE).read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fix",), "--undo and --fix cannot be used together"),
        (("--prune",), "--undo and --prune cannot be used together"),
        (("--registry", "one", "--registry", "other"), "--undo is about one registry"),
    ],
)
def test_what_it_does_not_go_with(
    options: tuple[str, ...], said: str, repo: GitRepository, command: CommandLine
) -> None:
    done = command("plan", "--undo", "HEAD", *options, "--repo", repo.root)

    assert done.code == 2
    assert said in done.err
    assert (repo.root / _FILE).read_text("utf-8") == _namespace("BACKWARD")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("no-such", "this clone has no commit 'no-such'"),
        ("HEAD~1", "the first commit of the history has nothing before it"),
    ],
)
def test_a_commit_that_cannot_be_undone(
    change: str, said: str, repo: GitRepository, command: CommandLine
) -> None:
    done = command("plan", "--undo", change, "--repo", repo.root)

    assert done.code == 2
    assert done.err.startswith(f"error: {said}")


@pytest.mark.slow
def test_a_commit_whose_files_had_errors_is_not_guessed_at(
    repo: GitRepository, command: CommandLine
) -> None:
    repo.commit({_FILE: f"{_namespace('FULL')}wrong: key\n"})
    repo.commit({_FILE: _namespace("FORWARD")})

    done = command("plan", "--undo", "HEAD", "--repo", repo.root)

    assert done.code == 2
    assert "the files of the commit, or of the one before it, have an error" in done.err
    assert (repo.root / _FILE).read_text("utf-8") == _namespace("FORWARD")


@pytest.mark.slow
def test_a_merge_is_undone_as_a_whole(repo: GitRepository, command: CommandLine) -> None:
    repo.git("checkout", "--quiet", "-b", "branch")
    repo.commit({_FILE: _namespace("FORWARD")})
    repo.commit({_FILE: _namespace("FORWARD_TRANSITIVE")})
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "--no-edit", "branch")

    assert command("plan", "--undo", "HEAD", "--repo", repo.root).code == 0

    assert (repo.root / _FILE).read_text("utf-8") == _namespace("BACKWARD")


@pytest.mark.slow
def test_files_outside_of_git_have_no_commits(
    repo: GitRepository, command: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "plain"
    (folder / _FILE).parent.mkdir(parents=True)
    for path in ("gitops.yaml", _FILE):
        (folder / path).write_bytes((repo.root / path).read_bytes())

    done = command("plan", "--undo", "HEAD", "--repo", folder)

    assert done.code == 2
