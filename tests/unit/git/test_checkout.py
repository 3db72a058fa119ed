"""Clones of all kinds, and folders that are none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from gitops.git.checkout import Checkout, GitFailedError, open_checkout
from gitops.git.references import commit_of
from gitops.model.errors import UsageError
from tests.support.git_repos import GitRepository


def test_the_top_of_a_clone_has_no_prefix(repo: GitRepository) -> None:
    with open_checkout(repo.root) as checkout:
        assert not checkout.prefix


def test_a_folder_of_a_clone_is_its_prefix(checkout: Checkout) -> None:
    assert checkout.prefix == "s/"


@pytest.mark.slow
def test_a_linked_worktree(repo: GitRepository, tmp_path: Path) -> None:
    head = repo.commit({"s/a": "1"})
    repo.git("worktree", "add", "--quiet", str(tmp_path / "side"))
    with open_checkout(tmp_path / "side" / "s") as checkout:
        assert checkout.prefix == "s/"
        assert commit_of(checkout, "HEAD") == head


def test_a_folder_that_a_symbolic_link_leads_to(repo: GitRepository, tmp_path: Path) -> None:
    repo.write({"s/a": "1"})
    (tmp_path / "link").symlink_to(repo.root / "s")
    with open_checkout(tmp_path / "link") as checkout:
        assert checkout.prefix == "s/"


def test_a_folder_outside_of_git(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not in a git repository"), open_checkout(tmp_path):
        pass


@pytest.mark.slow
def test_a_hooks_variables_do_not_lead_elsewhere(
    repo: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = repo.commit({"a": "1"})
    other = GitRepository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    with open_checkout(repo.root) as checkout:
        assert commit_of(checkout, "HEAD") == head


def test_what_git_does_not_do_is_an_error_with_its_words(checkout: Checkout) -> None:
    with pytest.raises(GitFailedError, match="not-a-command"):
        checkout.ask("not-a-command")


def test_an_answer_that_is_no_failure(checkout: Checkout) -> None:
    assert not checkout.ask("rev-parse", "--verify", "--quiet", "nothing", answers=(1,))


def test_a_content_that_the_clone_lacks(checkout: Checkout) -> None:
    with pytest.raises(GitFailedError, match="lacks the content") as raised:
        checkout.blob("1" * 40, "s/a")
    assert raised.value.where == "s/a"


@pytest.mark.slow
def test_a_partial_clone_fetches_nothing_and_says_what_to_do(
    repo: GitRepository, tmp_path: Path
) -> None:
    repo.commit({"a": "1"})
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    url = repo.root.as_uri()
    repo.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", url, str(clone))
    with open_checkout(clone) as checkout:
        blob = checkout.line("rev-parse", "HEAD:a")
        with pytest.raises(GitFailedError, match="lacks the content") as raised:
            checkout.blob(blob, "a")
    command = raised.value.hint.partition("fetch it: ")[2].partition(",")[0]
    repo.git("-C", str(clone), *command.split()[1:])
    with open_checkout(clone) as checkout:
        assert checkout.blob(blob, "a") == b"1"


@pytest.mark.slow
def test_a_bare_repository_is_one(repo: GitRepository, tmp_path: Path) -> None:
    head = repo.commit({"a": "1"})
    repo.git("clone", "--quiet", "--bare", str(repo.root), str(tmp_path / "bare"))
    with open_checkout(tmp_path / "bare") as checkout:
        assert (checkout.prefix, commit_of(checkout, "main")) == ("", head)


@pytest.mark.slow
@pytest.mark.parametrize("settings", ["bare = true", "bare = false\n\tworktree = .."])
def test_a_bare_repository_among_the_files_of_a_clone_is_none(
    settings: str, repo: GitRepository, tmp_path: Path
) -> None:
    """Whoever proposes these files would choose the history that they are checked against."""
    other = GitRepository(tmp_path / "other")
    other.commit({"a": "1"})
    (other.root / ".git").rename(repo.root / "s")
    repo.write({"s/config": f"[core]\n\t{settings}\n"})
    with (
        pytest.raises(UsageError, match="not among the files"),
        open_checkout(repo.root / "s"),
    ):
        pass


def test_the_folder_of_git_itself_is_none(repo: GitRepository) -> None:
    for folder in (".git", ".git/objects"):
        with (
            pytest.raises(UsageError, match="not among the files"),
            open_checkout(repo.root / folder),
        ):
            pass


def test_what_somebody_set_for_all_clones_holds(
    repo: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`safe.directory` is given in this way where there is no home folder."""
    for name, value in {"COUNT": "1", "KEY_0": "core.quotePath", "VALUE_0": "false"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    with open_checkout(repo.root) as checkout:
        assert checkout.line("config", "core.quotePath") == "false"
        assert checkout.line("config", "core.fsmonitor") == "false"


def test_a_git_that_takes_no_settings_by_variables_is_refused(
    repo: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("git")
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text(f'#!/bin/sh\nunset GIT_CONFIG_COUNT\nexec {real} "$@"\n', "utf-8")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(GitFailedError, match="cannot be kept from"), open_checkout(repo.root):
        pass


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder to somebody else")
def test_a_clone_of_somebody_else_is_refused_until_it_is_trusted(
    repo: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = repo.commit({"a": "1"})
    for path in (repo.root, repo.root / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(GitFailedError, match="dubious") as raised, open_checkout(repo.root):
        pass
    assert f"safe.directory {repo.root}" in raised.value.hint
    for name, value in {"COUNT": "1", "KEY_0": "safe.directory", "VALUE_0": "*"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    with open_checkout(repo.root) as checkout:
        assert commit_of(checkout, "HEAD") == head
