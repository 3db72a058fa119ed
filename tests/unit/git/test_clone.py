"""A remote repository is cloned without running anything that it contains."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.git.checkout import GitFailedError
from gitops.git.clone import clone, is_git_url
from gitops.model.errors import UsageError
from tests.support.git_repos import GitRepository
from tests.support.hostile_clone import HostileClone


@pytest.mark.slow
def test_the_latest_commit_is_there_for_the_time_of_the_command(tmp_path: Path) -> None:
    repo = GitRepository(tmp_path / "remote")
    repo.commit({"a.txt": "1"})
    repo.commit({"a.txt": "2"})
    with clone(f"file://{repo.root}") as folder:
        assert (folder / "a.txt").read_text() == "2"
        assert (folder / ".git" / "shallow").exists()
    assert not folder.exists()


@pytest.mark.slow
def test_nothing_that_a_repository_names_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = GitRepository(tmp_path / "remote")
    repo.commit({"a.yaml": "1"})
    hostile = HostileClone(repo, tmp_path / "hostile")
    hostile.plant()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    with clone(f"file://{repo.root}") as folder:
        assert (folder / "a.yaml").exists()
    assert not hostile.ran()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.com/schemas.git", True),
        ("ssh://git@example.com/schemas", True),
        ("git@example.com:acme/schemas.git", True),
        ("file:///srv/schemas", True),
        ("http://example.com/schemas.git", False),
        ("ext::sh -c touch% /tmp/x", False),
        ("--upload-pack=touch", False),
        ("schemas", False),
        ("../schemas", False),
    ],
)
def test_what_is_cloned(url: str, *, expected: bool) -> None:
    assert is_git_url(url) is expected


@pytest.mark.parametrize("secret", ["https://token@example.com/x", "https://ada:pw@example.com/x"])
def test_a_secret_in_a_url_is_refused_and_not_repeated(secret: str) -> None:
    with pytest.raises(UsageError) as raised, clone(secret):
        pass
    assert "example" not in raised.value.what + raised.value.where + raised.value.hint


def test_a_repository_that_is_not_there_is_an_error_of_git(tmp_path: Path) -> None:
    with pytest.raises(GitFailedError), clone(f"file://{tmp_path}/missing"):
        pass
