"""Links that are committed in a repository let no command write elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


def _entries(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*")]


@pytest.mark.parametrize("target", ["folder", "nothing"])
def test_a_linked_gitops_folder_is_refused(
    target: str, repo: Path, outside: Path, command: CommandLine
) -> None:
    (repo / ".gitops").symlink_to(outside if target == "folder" else outside / "nothing")
    for words in (["apply", "--auto-approve"], ["plan"], ["drift"], ["policies", "get", "shop/a"]):
        done = command(*words, "--repo", repo)
        assert done.code == 2, done
        assert "leads outside the repository: a symbolic link is on its way" in done.err
    assert _entries(outside) == []


@pytest.mark.parametrize("name", ["local.journal", "registry.db"])
def test_a_linked_file_in_that_folder_is_refused(
    name: str, repo: Path, outside: Path, command: CommandLine
) -> None:
    (repo / ".gitops").mkdir()
    (repo / ".gitops" / name).symlink_to(outside / "written")
    done = command("apply", "--auto-approve", "--repo", repo)
    assert (done.code, "leads outside the repository" in done.err) == (2, True), done
    assert _entries(outside) == []


def test_a_linked_journal_of_a_restore_is_refused(
    applied: Path, outside: Path, command: CommandLine
) -> None:
    assert command("snapshot", "--repo", applied).code == 0
    (applied / ".gitops/registry.db").unlink()
    (applied / ".gitops/local.restore.journal").symlink_to(outside / "written")
    done = command("restore", "--repo", applied)
    assert (done.code, "leads outside the repository" in done.err) == (2, True), done
    assert _entries(outside) == []


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "--out", "{repo}/plans/plan.json"],
        ["plan", "--output", "{repo}/plans/plan.txt"],
        ["apply", "--auto-approve", "--journal", "{repo}/plans/journal"],
        ["validate", "--output", "{repo}/plans/report.txt", "{repo}"],
        ["check", "--base", "HEAD", "--output", "{repo}/plans/report.txt"],
        ["check", "--base", "HEAD", "--report", "json={repo}/plans/report.json"],
    ],
    ids=str,
)
def test_an_answer_is_not_written_through_a_link(
    words: list[str],
    repo: Path,
    outside: Path,
    command: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    GitRepository(repo).commit()
    (repo / "plans").symlink_to(outside)
    monkeypatch.chdir(repo)
    done = command(*(word.format(repo=repo) for word in words))
    assert (done.code, "leads outside the repository" in done.err) == (2, True), done
    assert _entries(outside) == []


def test_snapshots_are_neither_written_nor_removed_through_a_link(
    applied: Path, outside: Path, command: CommandLine
) -> None:
    assert command("snapshot", "--repo", applied).code == 0
    (applied / "snapshots").rename(outside / "snapshots")
    (applied / "snapshots").symlink_to(outside / "snapshots")
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    done = command("snapshot", "--repo", applied)
    assert done.code in (1, 2), done
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before


def test_a_link_that_stays_inside_is_followed(repo: Path, command: CommandLine) -> None:
    (repo / "state").mkdir()
    (repo / ".gitops").symlink_to("state")
    assert command("apply", "--auto-approve", "--repo", repo).code == 0
    assert (repo / "state/registry.db").is_file()
