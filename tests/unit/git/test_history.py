"""The past of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.git.checkout import Checkout, open_checkout
from gitops.git.history import first_parents, last_change, oldest_known
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


def test_commits_that_changed_a_file_along_first_parents(
    repo: GitRepository, checkout: Checkout
) -> None:
    first = repo.commit({"s/a": "1", "s/b": "1"})
    repo.commit({"s/b": "2"})
    repo.git("switch", "--quiet", "--create", "side")
    repo.commit({"s/a": "2"})
    repo.commit({"s/a": "3"})
    repo.git("switch", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "side", "--message", "merge")
    merge = repo.head
    assert first_parents(checkout, merge, ["a"], 9) == [merge, first]
    assert first_parents(checkout, merge, ["a"], 1) == [merge]
    assert first_parents(checkout, merge, [], 9) == []
    assert first_parents(checkout, merge, ["never"], 9) == []


def test_the_day_of_the_last_change(repo: GitRepository, checkout: Checkout) -> None:
    repo.write({"s/snapshots/x": "1"})
    repo.git("add", "--all")
    repo.git("-c", "user.name=Ada", "commit", "--quiet", "--message", "x")
    day = repo.git("log", "-1", "--format=%cs")
    repo.commit({"s/other": "1"})
    assert last_change(checkout, "HEAD", "snapshots") == day
    assert not last_change(checkout, "HEAD", "nothing")


def test_where_a_shallow_clone_ends(repo: GitRepository, tmp_path: Path) -> None:
    repo.commit({"s/a": "1"})
    cut = repo.commit({"s/a": "2"})
    repo.commit({"s/b": "1"})
    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", "--depth=2", repo.root.as_uri(), str(clone))
    with open_checkout(clone / "s") as checkout:
        assert oldest_known(checkout, "HEAD") == cut
        assert first_parents(checkout, "HEAD", ["a"], 9) == [cut]
        # What stands at the cut may be older.
        assert not last_change(checkout, "HEAD", "a")
        assert last_change(checkout, "HEAD", "b")


def test_a_whole_clone_ends_nowhere(repo: GitRepository, checkout: Checkout) -> None:
    repo.commit({"s/a": "1"})
    assert oldest_known(checkout, "HEAD") is None
