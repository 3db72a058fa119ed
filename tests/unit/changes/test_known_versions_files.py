"""A registry is asked with the base's secrets only while its files are the base's, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.check_repository import FILES, FOLDER, avro, report
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow

_SETTINGS = """\
apiVersion: pulsar-gitops/v1
kind: Config
registries:
  live:
    kind: pulsar
    url: http://127.0.0.1:1
    tls: {caFile: certs/ca.pem}
    authentication: {token: "${NO_SUCH_TOKEN}"}
"""
_CHANGED = {f"{FOLDER}/created.avsc": avro("Created", "a", "b")}
_SAID = "egistry 'live' is reached with certs/ca.pem, which is not the base's"
_OPENED = "NO_SUCH_TOKEN is not set"
"""What stops it only once the file was good."""


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.commit({**FILES, "gitops.yaml": _SETTINGS, "certs/ca.pem": "the base's"})
    return made


def _why_not_asked(repo: GitRepository) -> str:
    (one,) = report(repo).registries
    return one.history.limits[0]


def test_an_unchanged_file_is_used(repo: GitRepository) -> None:
    repo.write(_CHANGED)
    assert _OPENED in _why_not_asked(repo)


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_changed_file_is_not_used(repo: GitRepository, *, is_committed: bool) -> None:
    repo.git("checkout", "--quiet", "-b", "change")
    repo.write({**_CHANGED, "certs/ca.pem": "another one"})
    if is_committed:
        repo.commit()
    assert _SAID in _why_not_asked(repo)


def test_a_changed_link_to_another_file_is_not_used(repo: GitRepository) -> None:
    repo.commit({"other/ca.pem": "another one"})
    repo.git("checkout", "--quiet", "-b", "change")
    repo.write({**_CHANGED, "certs/ca.pem": None})
    (repo.root / "certs").rmdir()
    (repo.root / "certs").symlink_to("other")
    repo.commit()
    assert _SAID in _why_not_asked(repo)


def test_a_link_out_of_the_repository_is_not_used(repo: GitRepository, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("another one")
    repo.git("checkout", "--quiet", "-b", "change")
    repo.write({**_CHANGED, "certs/ca.pem": None})
    (repo.root / "certs").rmdir()
    (repo.root / "certs").symlink_to(tmp_path)
    repo.commit()
    assert _SAID in _why_not_asked(repo)


def test_a_file_that_git_does_not_know_is_used(repo: GitRepository) -> None:
    repo.commit({".gitignore": "certs/\n", "certs/ca.pem": None})
    repo.write({**_CHANGED, "certs/ca.pem": "from a secret of CI"})
    assert _OPENED in _why_not_asked(repo)


def test_a_file_that_the_change_adds_is_not_used(repo: GitRepository) -> None:
    repo.commit({"certs/ca.pem": None})
    repo.git("checkout", "--quiet", "-b", "change")
    repo.commit({**_CHANGED, "certs/ca.pem": "another one"})
    assert _SAID in _why_not_asked(repo)
