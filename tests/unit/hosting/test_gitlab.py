"""What is asked of GitLab, and what its answers become."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gitops.hosting.gitlab import (
    GitLabProject,
    merge_request_of,
    project_of,
    without_quick_actions,
)
from gitops.model.errors import OutsideError, UsageError
from tests.support.gitlab_stand_in import PAGE, TOKEN, GitLabStandIn, Note, gitlab_stand_in

JOB = {
    "CI_API_V4_URL": "https://gitlab.example/api/v4",
    "CI_PROJECT_ID": "42",
    "GITLAB_TOKEN": TOKEN,
}


@pytest.fixture
def gitlab() -> Iterator[GitLabStandIn]:
    with gitlab_stand_in() as stand_in:
        yield stand_in


@pytest.fixture
def project(gitlab: GitLabStandIn) -> Iterator[GitLabProject]:
    opened = GitLabProject(project_of(gitlab.environment), retries=0)
    yield opened
    opened.close()


def test_what_gitlab_says_itself_is_no_comment(
    gitlab: GitLabStandIn, project: GitLabProject
) -> None:
    gitlab.notes[7] = [Note(1, "ada", "added 1 commit", system=True), Note(2, "ada", "hello")]

    assert [each.number for each in project.comments(7)] == [2]


def test_a_page_is_only_read_when_it_is_needed(
    gitlab: GitLabStandIn, project: GitLabProject
) -> None:
    gitlab.notes[7] = [Note(n, "ada", "") for n in range(1, 6)]

    assert next(iter(project.comments(7))).url == f"{PAGE}/-/merge_requests/7#note_1"
    assert len(gitlab.reads) == 1
    assert [each.number for each in project.comments(7)] == [1, 2, 3, 4, 5]


def test_a_token_does_not_follow_a_redirect(gitlab: GitLabStandIn, project: GitLabProject) -> None:
    gitlab.refuse("GET", 302, {}, location=gitlab.server.url_for("/elsewhere"))

    with pytest.raises(OutsideError, match="HTTP 302"):
        list(project.comments(7))
    assert len(gitlab.reads) == 1


def test_a_read_is_tried_again(gitlab: GitLabStandIn) -> None:
    gitlab.refuse("GET", 503, {})

    assert list(GitLabProject(project_of(gitlab.environment)).comments(7)) == []
    assert len(gitlab.reads) == 2


@pytest.mark.parametrize("answer", [{"message": "hello"}, [{"id": 1}], ["text"], 7])
def test_an_answer_that_is_not_gitlabs_is_an_error(
    gitlab: GitLabStandIn, project: GitLabProject, answer: object
) -> None:
    gitlab.refuse("GET", 200, answer)

    with pytest.raises(OutsideError, match="not valid"):
        list(project.comments(7))


def test_nobody_there_is_an_error_without_the_token() -> None:
    nowhere = project_of(JOB | {"CI_API_V4_URL": "http://127.0.0.1:1/api/v4"})

    with pytest.raises(OutsideError, match=r"no answer: nothing listens there") as refused:
        GitLabProject(nowhere, retries=0).login()
    assert TOKEN not in f"{refused.value!r}{refused.value.where}{refused.value.hint}{nowhere!r}"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"GITLAB_TOKEN": ""}, "not set"),
        ({"GITLAB_TOKEN": "glcbt-64_abc"}, "token of a job"),
        ({"CI_JOB_TOKEN": TOKEN}, "token of a job"),
        ({"GITLAB_TOKEN": f"{TOKEN}\n"}, "no token has"),
        ({"CI_PROJECT_ID": ""}, "not the number"),
        ({"CI_PROJECT_ID": "42/../7"}, "not the number"),
        ({"CI_API_V4_URL": "http://gitlab.example/api/v4"}, "overheard"),
        ({"CI_API_V4_URL": "https://"}, "not the URL"),
    ],
)
def test_a_job_that_cannot_write_says_why(changed: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        project_of(JOB | changed)
    assert refused.value.hint
    assert TOKEN not in f"{refused.value!r}{refused.value.hint}"


def test_a_merge_request_counts_in_the_project_that_it_goes_into() -> None:
    """In a fork's pipeline CI_PROJECT_ID is the fork: its merge request 7 is another one."""
    assert project_of(JOB | {"CI_MERGE_REQUEST_PROJECT_ID": "1"}).number == "1"


def test_the_job_says_which_merge_request() -> None:
    assert merge_request_of({"CI_MERGE_REQUEST_IID": "7"}) == 7
    for wrong in ("", "0", "-7", "7/../8"):
        with pytest.raises(UsageError, match="not for a merge request"):
            merge_request_of({"CI_MERGE_REQUEST_IID": wrong})


def test_a_report_cannot_give_gitlab_an_order() -> None:
    text = "/merge\n  /approve\nsee /docs\n// comment\n/2026\r\n/close"

    made = without_quick_actions(text)
    assert made == "\\/merge\n  \\/approve\nsee /docs\n// comment\n/2026\r\n\\/close"
    assert without_quick_actions(made) == made
