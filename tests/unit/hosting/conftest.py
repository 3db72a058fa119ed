"""GitHub's stand-in, and a repository on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gitops.hosting.github import GitHubRepository
from gitops.hosting.workflow import access
from tests.support.github_stand_in import GitHubStandIn, github_stand_in


@pytest.fixture
def github() -> Iterator[GitHubStandIn]:
    """A repository with pull request #7."""
    with github_stand_in() as stand_in:
        yield stand_in


@pytest.fixture
def repository(github: GitHubStandIn) -> Iterator[GitHubRepository]:
    """The adapter, on that repository."""
    opened = GitHubRepository(access(github.environment))
    yield opened
    opened.close()
