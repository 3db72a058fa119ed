"""What is asked of GitHub, and what its answers become."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pytest_httpserver import HTTPServer

from gitops.hosting.github import GitHubRepository
from gitops.hosting.workflow import Access, access
from gitops.model.errors import OutsideError
from gitops.model.posts import Suggestion
from gitops.ports import WAITING
from tests.support.github_stand_in import BOT, REPOSITORY, TOKEN, GitHubStandIn, Stored
from tests.support.http_server import OneTestServer
from tests.support.slow_server import DRIPS, slow_server


def test_the_login_is_that_of_the_token(repository: GitHubRepository) -> None:
    assert repository.login() == BOT


def test_a_pull_request_has_a_head(repository: GitHubRepository) -> None:
    assert repository.head_of(7) == "a" * 40


def test_comments_of_all_pages_come_oldest_first(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    github.comments[7] = [Stored(n, "ada", f"text {n}") for n in range(1, 6)]

    found = list(repository.comments(7))

    assert [each.number for each in found] == [1, 2, 3, 4, 5]
    assert found[0].body == "text 1"
    assert found[0].author == "ada"


def test_a_page_is_only_read_when_it_is_needed(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    github.comments[7] = [Stored(n, "ada", "") for n in range(1, 6)]

    assert next(iter(repository.comments(7))).number == 1
    assert github.reads == ["/issues/7/comments"]


def test_a_comment_of_an_account_that_is_gone_has_no_author(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    github.comments[7] = [Stored(1, None, "hello")]

    assert [each.author for each in repository.comments(7)] == [""]


def test_a_comment_is_written_and_edited(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    comment = repository.add_comment(7, "one")
    repository.edit_comment(7, comment, "two")

    assert comment.author == BOT
    assert [each.body for each in github.comments[7]] == ["two"]


def test_the_files_of_a_pull_request_have_their_old_names_too(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    github.files[7] = ["b.avsc < a.avsc", "c.avsc", "d.avsc"]

    assert list(repository.changed_paths(7)) == ["b.avsc", "a.avsc", "c.avsc", "d.avsc"]


def test_issues_are_listed_without_pull_requests(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    github.issues = [
        Stored(1, "ada", "a pull request", pull=True),
        Stored(2, "ada", "an issue", "Title"),
        Stored(3, "ada", "closed", state="closed"),
        Stored(4, "ada", "another"),
    ]

    assert [each.number for each in repository.open_issues()] == [2, 4]


def test_an_issue_is_opened_edited_and_closed(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    issue = repository.add_issue("Drift", "one")
    repository.edit_issue(issue, "Drift!", "two")
    repository.close_issue(issue)

    (stored,) = github.issues
    assert (stored.title, stored.body, stored.state) == ("Drift!", "two", "closed")


def test_a_read_is_tried_again(github: GitHubStandIn, repository: GitHubRepository) -> None:
    github.refuse("GET", "/pulls/7", 502, "Bad gateway")

    assert repository.head_of(7) == "a" * 40
    assert github.reads == ["/pulls/7", "/pulls/7"]


def test_a_read_that_fails_again_and_again_says_how(github: GitHubStandIn) -> None:
    for _ in range(2):
        github.refuse("GET", "/pulls/7", 502, "Bad gateway")

    with pytest.raises(OutsideError, match=r"show pull request #7: Bad gateway \(HTTP 502\)"):
        GitHubRepository(access(github.environment), retries=1).head_of(7)


def test_a_write_is_not_tried_again(github: GitHubStandIn, repository: GitHubRepository) -> None:
    github.refuse("POST", "/issues/7/comments", 502, "Bad gateway")

    with pytest.raises(OutsideError, match=r"write a comment on pull request #7.*HTTP 502"):
        repository.add_comment(7, "text")
    assert not github.writes


def test_a_limit_that_lasts_ends_the_run(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    far = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}
    github.refuse("GET", "/pulls/7", 403, "API rate limit exceeded for installation ID 1.", far)

    with pytest.raises(OutsideError) as stopped:
        repository.head_of(7)
    assert "limit of requests" in stopped.value.hint


def test_what_is_no_github_is_said(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/repos/acme/schemas/pulls/7").respond_with_data(
        "<html>Log in</html>"
    )
    found = Access(repository=REPOSITORY, api=httpserver.url_for("").rstrip("/"), token=TOKEN)
    with pytest.raises(OutsideError, match="is not valid"):
        GitHubRepository(found).head_of(7)


def test_nobody_there_is_said_without_the_token() -> None:
    with OneTestServer(host="127.0.0.1") as server:
        url = server.url_for("")
    found = Access(repository=REPOSITORY, api=url.rstrip("/"), token=TOKEN)
    repository = GitHubRepository(found, retries=0)

    with pytest.raises(OutsideError) as stopped:
        repository.add_comment(7, "text")

    assert "no answer: nothing listens there (connection refused)" in stopped.value.what
    assert TOKEN not in f"{stopped.value.what}{stopped.value.hint}{found!r}"


@pytest.mark.slow
@pytest.mark.parametrize("drip", ["body", "headers"])
def test_an_answer_that_never_ends_is_given_up(drip: str) -> None:
    with slow_server(DRIPS[drip]) as url:
        found = Access(repository=REPOSITORY, api=url, token=TOKEN)
        repository = GitHubRepository(found, retries=0, deadline=0.3)
        with pytest.raises(OutsideError, match=r"show pull request #7: .*not done within 0\.3 s"):
            repository.head_of(7)
        with pytest.raises(OutsideError, match=r"list the comments .*not done within 0\.3 s"):
            next(repository.comments(7))
        with pytest.raises(OutsideError, match=r"write a comment .*within 0\.3 s") as write:
            repository.add_comment(7, "text")
    assert "run this again" in write.value.hint


def test_github_is_named_while_it_is_waited_for(github: GitHubStandIn) -> None:
    waits: list[str] = []

    @contextmanager
    def note(what: str) -> Iterator[None]:
        waits.append(what)
        yield

    token = WAITING.set(note)
    try:
        GitHubRepository(access(github.environment)).head_of(7)
    finally:
        WAITING.reset(token)
    assert waits == [f"GitHub ({REPOSITORY} at {github.url}) to show pull request #7"]


def test_a_line_that_is_not_in_the_diff_is_not_written_on(
    github: GitHubStandIn, repository: GitHubRepository
) -> None:
    edit = Suggestion(path="a.avsc", first=4, old=("a", "b"), new=("c",))
    github.refuse("POST", "/pulls/7/comments", 422, "Validation Failed")
    github.patches[7] = {"a.avsc": ""}

    written = [repository.add_line_comment(7, "a" * 40, edit, "text") for _ in range(2)]

    assert written == [False, True]
    (comment,) = github.on_lines[7]
    assert (comment["start_line"], comment["line"]) == (4, 5)
