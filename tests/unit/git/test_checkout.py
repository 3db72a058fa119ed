"""Clones of all kinds, and folders that are none."""

from __future__ import annotations

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
