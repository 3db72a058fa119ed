"""What is checked out, however git was left."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitops.git.references import describe


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of the person who runs the tests, and none of the git that may run them."""
    for name in [key for key in os.environ if key.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


def _git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """One commit on `main`."""
    folder = tmp_path / "repo"
    (folder / "schemas").mkdir(parents=True)
    (folder / "schemas" / "gitops.yaml").write_text("a", encoding="utf-8")
    (folder / "other.txt").write_text("a", encoding="utf-8")
    _git(folder, "init", "--initial-branch", "main")
    _git(folder, "add", ".")
    _git(folder, "commit", "--message", "first")
    return folder


def _head(repo: Path) -> str:
    return _git(repo, "rev-parse", "--short=7", "HEAD")


def test_clean(repo: Path) -> None:
    assert describe(repo) == f"{_head(repo)} main, clean"


@pytest.mark.slow
def test_a_changed_file(repo: Path) -> None:
    (repo / "schemas" / "gitops.yaml").write_text("b", encoding="utf-8")

    assert describe(repo) == f"{_head(repo)} main, with local changes"


@pytest.mark.slow
def test_a_staged_change(repo: Path) -> None:
    (repo / "other.txt").write_text("b", encoding="utf-8")
    _git(repo, "add", ".")

    assert describe(repo) == f"{_head(repo)} main, with local changes"


def test_a_deleted_file(repo: Path) -> None:
    (repo / "other.txt").unlink()

    assert describe(repo) == f"{_head(repo)} main, with local changes"


@pytest.mark.slow
def test_an_untracked_file(repo: Path) -> None:
    (repo / "new.yaml").write_text("b", encoding="utf-8")

    assert describe(repo) == f"{_head(repo)} main, with local changes"


@pytest.mark.slow
def test_an_ignored_file_is_no_change(repo: Path) -> None:
    (repo / ".git" / "info" / "exclude").write_text("*.db\n", encoding="utf-8")
    (repo / "registry.db").write_text("b", encoding="utf-8")

    assert describe(repo) == f"{_head(repo)} main, clean"


@pytest.mark.slow
def test_a_detached_head(repo: Path) -> None:
    _git(repo, "checkout", "--detach")

    assert describe(repo) == f"{_head(repo)} detached, clean"


@pytest.mark.slow
def test_a_branch_with_a_slash(repo: Path) -> None:
    _git(repo, "switch", "--create", "topic/orders")

    assert describe(repo) == f"{_head(repo)} topic/orders, clean"


def test_before_the_first_commit(tmp_path: Path) -> None:
    _git(tmp_path, "init")

    assert describe(tmp_path) is None


def test_outside_of_git(tmp_path: Path) -> None:
    assert describe(tmp_path) is None


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert describe(tmp_path / "none") is None


@pytest.mark.slow
def test_a_sub_directory_tells_only_its_own_changes(repo: Path) -> None:
    schemas = repo / "schemas"
    (repo / "other.txt").write_text("b", encoding="utf-8")
    (repo / "untracked.txt").write_text("b", encoding="utf-8")

    assert describe(schemas) == f"{_head(repo)} main, clean"

    (schemas / "gitops.yaml").write_text("b", encoding="utf-8")

    assert describe(schemas) == f"{_head(repo)} main, with local changes"


@pytest.mark.slow
def test_a_linked_worktree(repo: Path, tmp_path: Path) -> None:
    _git(repo, "worktree", "add", "-b", "side", str(tmp_path / "side"))

    assert describe(tmp_path / "side") == f"{_head(repo)} side, clean"


@pytest.mark.slow
def test_a_hooks_variables_do_not_lead_elsewhere(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    _git(other, "init", "--initial-branch", "elsewhere")
    expected = f"{_head(repo)} main, clean"
    for name, value in {"GIT_DIR": other / ".git", "GIT_INDEX_FILE": other / "index"}.items():
        monkeypatch.setenv(name, str(value))

    assert describe(repo) == expected


@pytest.mark.slow
def test_a_path_through_a_symbolic_link(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo, target_is_directory=True)

    assert describe(tmp_path / "link") == f"{_head(repo)} main, clean"


@pytest.mark.slow
def test_line_ends_that_git_converts_are_no_change(repo: Path) -> None:
    (repo / ".gitattributes").write_text("*.yaml text eol=crlf\n", encoding="utf-8")
    (repo / "schemas" / "gitops.yaml").write_bytes(b"a: 1\nb: 2\n")
    _git(repo, "add", ".")
    _git(repo, "commit", "--message", "second")
    (repo / "schemas" / "gitops.yaml").unlink()
    _git(repo, "checkout", ".")
    (repo / "schemas" / "gitops.yaml").touch()

    assert b"\r\n" in (repo / "schemas" / "gitops.yaml").read_bytes()
    assert describe(repo) == f"{_head(repo)} main, clean"


@pytest.mark.slow
def test_a_file_of_a_filter_program_is_a_change_once_its_time_is_another(repo: Path) -> None:
    """The program is not run: what git stored of the file does not help."""
    (repo / ".gitattributes").write_text("*.bin filter=upper\n", encoding="utf-8")
    _git(repo, "config", "filter.upper.clean", "tr a-z A-Z")
    _git(repo, "config", "filter.upper.required", "true")
    (repo / "x.bin").write_text("abc", encoding="utf-8")
    os.utime(repo / "x.bin", (1_000_000_000, 1_000_000_000))
    _git(repo, "add", ".")
    _git(repo, "commit", "--message", "second")

    assert describe(repo) == f"{_head(repo)} main, clean"

    os.utime(repo / "x.bin", (1_000_000_001, 1_000_000_001))

    assert _git(repo, "status", "--porcelain") == ""
    os.utime(repo / "x.bin", (1_000_000_002, 1_000_000_002))
    assert describe(repo) == f"{_head(repo)} main, with local changes"


@pytest.mark.slow
def test_a_folder_whose_name_looks_like_a_variable(repo: Path) -> None:
    odd = repo / "$HOME" / "~"
    odd.mkdir(parents=True)
    (odd / "a").write_text("a", encoding="utf-8")

    assert describe(odd) == f"{_head(repo)} main, with local changes"
