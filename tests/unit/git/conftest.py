"""Git as nobody has configured it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitops.git.checkout import Checkout, open_checkout
from tests.support.git_repos import GitRepository


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of the person who runs the tests, and none of the git that may run them."""
    for name in [key for key in os.environ if key.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path / "repo")


@pytest.fixture
def checkout(repo: GitRepository) -> Iterator[Checkout]:
    """The schemas are the folder `s` of the clone."""
    repo.write({"s/gitops.yaml": "x"})
    with open_checkout(repo.root / "s") as opened:
        yield opened
