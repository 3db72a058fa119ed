"""The repository whose rollout is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.git_repos import GitRepository
from tests.support.rollout_repository import FILES


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.commit(FILES)
    return made
