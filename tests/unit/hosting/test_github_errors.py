"""A refusal says what is missing."""

from __future__ import annotations

import logging

import pytest

from gitops.hosting.github import GitHubRepository
from gitops.model.errors import OutsideError
from tests.support.github_stand_in import GitHubStandIn

NOT_ACCESSIBLE = "Resource not accessible by integration"


def refused_comment(repository: GitHubRepository) -> OutsideError:
    with pytest.raises(OutsideError) as stopped:
        repository.add_comment(7, "text")
    return stopped.value


def test_a_missing_permission_is_named_as_github_names_it(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    named = {"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write,contents=read"}
    github.refuse("POST", "/issues/7/comments", 403, NOT_ACCESSIBLE, named)

    error = refused_comment(repository)

    assert error.what == (
        f"GitHub did not write a comment on pull request #7: {NOT_ACCESSIBLE} (HTTP 403)"
    )
    assert error.where.startswith("acme/schemas at http://127.0.0.1:")
    assert error.hint.startswith(
        "the token lacks `issues: write` or `pull-requests: write` and `contents: read`:"
    )


def test_a_missing_permission_is_named_where_github_is_silent(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    github.refuse("POST", "/issues/7/comments", 403, NOT_ACCESSIBLE)

    assert "lacks `pull-requests: write`:" in refused_comment(repository).hint


def test_a_missing_permission_to_read_is_named_too(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    github.refuse("GET", "/issues/7/comments", 403, NOT_ACCESSIBLE)

    with pytest.raises(OutsideError) as stopped:
        list(repository.comments(7))
    assert "lacks `pull-requests: read`:" in stopped.value.hint


@pytest.mark.usefixtures("repository")
def test_what_a_server_answers_is_in_no_log() -> None:
    """PyGithub logs the reason phrase of a 403, in which a server may repeat the token."""
    for name in ("github.GithubRetry", "github.Requester"):
        assert not logging.getLogger(name).isEnabledFor(logging.ERROR)


@pytest.mark.parametrize(
    ("status", "message", "hint"),
    [
        (401, "Bad credentials", "the token is wrong or has expired"),
        (404, "Not Found", "it does not exist, or the token may not see it"),
        (410, "Issues has been disabled in this repository.", "switch them on"),
        (429, "You have exceeded a secondary rate limit.", "run this again later"),
        (422, "Validation Failed", ""),
        (403, "Unable to create comment because issue is locked.", "unlock it"),
        (500, "Server Error", "GitHub itself has a problem"),
    ],
)
def test_other_refusals_say_what_to_do(
    github: GitHubStandIn,
    repository: GitHubRepository,
    status: int,
    message: str,
    hint: str,
) -> None:
    github.refuse("POST", "/issues/7/comments", status, message)

    error = refused_comment(repository)

    assert f"{message} (HTTP {status})" in error.what
    assert hint in error.hint
