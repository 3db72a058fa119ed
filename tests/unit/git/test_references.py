"""Names of commits, and what two of them have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.git.checkout import Checkout, open_checkout
from gitops.git.references import commit_of, merge_base
from gitops.model.errors import OutsideError, UsageError
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


def test_every_way_to_name_a_commit(repo: GitRepository, checkout: Checkout) -> None:
    first = repo.commit({"a": "1"})
    second = repo.commit({"a": "2"})
    repo.git("tag", "--annotate", "v1", "--message", "x", first)
    assert commit_of(checkout, "main") == second
    assert commit_of(checkout, "HEAD~1") == first
    assert commit_of(checkout, "v1") == first
    assert commit_of(checkout, first[:9]) == first


@pytest.mark.parametrize("name", ["--all", "-h", "", " ", "main:a", "no such", "ma\nin", "\x00"])
def test_what_is_no_commit(name: str, repo: GitRepository, checkout: Checkout) -> None:
    repo.commit({"a": "1"})
    with pytest.raises(UsageError):
        commit_of(checkout, name)


def test_a_misspelt_branch_is_met_with_the_one_that_was_meant(
    repo: GitRepository, checkout: Checkout
) -> None:
    repo.commit({"a": "1"})
    with pytest.raises(UsageError) as raised:
        commit_of(checkout, "mian")
    assert "did you mean main?" in raised.value.hint


def test_a_branch_that_only_the_remote_has(repo: GitRepository, tmp_path: Path) -> None:
    repo.commit({"a": "1"})
    repo.git("branch", "work")
    repo.git("switch", "--quiet", "work")
    repo.git("clone", "--quiet", str(repo.root), str(tmp_path / "clone"))
    with open_checkout(tmp_path / "clone") as checkout:
        with pytest.raises(UsageError) as raised:
            commit_of(checkout, "main")
        assert raised.value.hint == "did you mean origin/main?"
        with pytest.raises(UsageError) as raised:
            commit_of(checkout, "origin/elsewhere")
        assert "git fetch origin elsewhere:refs/remotes/origin/elsewhere" in raised.value.hint
        assert "fetch-depth: 0" in raised.value.hint


def test_a_branch_of_another_name_is_named(repo: GitRepository, checkout: Checkout) -> None:
    """Git before 3.0 begins with `master` where nobody says otherwise."""
    repo.commit({"a": "1"})
    repo.git("branch", "--move", "trunk")
    repo.git("tag", "--annotate", "v1", "--message", "x")

    with pytest.raises(UsageError) as raised:
        commit_of(checkout, "main")

    assert raised.value.hint.startswith("the branches here: trunk; if it is on the remote: ")


def test_before_the_first_commit(checkout: Checkout) -> None:
    with pytest.raises(UsageError, match="no commit 'HEAD'"):
        commit_of(checkout, "HEAD")


def test_the_commit_that_two_branches_have_in_common(
    repo: GitRepository, checkout: Checkout
) -> None:
    common = repo.commit({"a": "1"})
    repo.git("branch", "pr")
    main = repo.commit({"a": "2"})
    repo.git("switch", "--quiet", "pr")
    assert merge_base(checkout, main, repo.commit({"b": "1"}), "main") == common
    assert merge_base(checkout, main, main, "main") == main


def test_histories_that_have_nothing_in_common(repo: GitRepository, checkout: Checkout) -> None:
    main = repo.commit({"a": "1"})
    repo.git("switch", "--quiet", "--orphan", "other")
    other = repo.commit({"b": "1"})
    with pytest.raises(UsageError, match="no commit in common"):
        merge_base(checkout, main, other, "main")


def test_a_clone_that_is_too_shallow_says_what_to_fetch(
    repo: GitRepository, tmp_path: Path
) -> None:
    repo.commit({"a": "1"})
    repo.git("branch", "pr")
    repo.commit({"a": "2"})
    repo.git("switch", "--quiet", "pr")
    repo.commit({"b": "1"})
    clone = tmp_path / "clone"
    url = repo.root.as_uri()
    repo.git("clone", "--quiet", "--depth=1", "--no-single-branch", url, str(clone))
    with open_checkout(clone) as checkout:
        base, head = commit_of(checkout, "origin/main"), commit_of(checkout, "HEAD")
        with pytest.raises(OutsideError, match="too shallow") as raised:
            merge_base(checkout, base, head, "origin/main")
        assert "git fetch --deepen=200 origin" in raised.value.hint
        assert "git fetch --unshallow origin" in raised.value.hint
        assert "fetch-depth: 0" in raised.value.hint
        repo.git("-C", str(clone), "fetch", "--quiet", "--unshallow", "origin")
        assert merge_base(checkout, base, head, "origin/main")


@pytest.mark.parametrize("name", ["", "HEAD^1"])
def test_a_commit_that_a_shallow_clone_lacks(
    name: str, repo: GitRepository, tmp_path: Path
) -> None:
    first = repo.commit({"a": "1"})
    repo.commit({"a": "2"})
    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", "--depth=1", repo.root.as_uri(), str(clone))
    with open_checkout(clone) as checkout:
        with pytest.raises(OutsideError, match="too shallow") as raised:
            commit_of(checkout, name or first)
        assert "fetch-depth: 0" in raised.value.hint
        with pytest.raises(UsageError):
            commit_of(checkout, "mian")
