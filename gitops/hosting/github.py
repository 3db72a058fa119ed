"""A repository on GitHub or a GitHub Enterprise Server, behind the port `CodeHost`."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TypeVar

from github import (
    Auth,
    BadAttributeException,
    Github,
    GithubException,
    GithubRetry,
    RateLimitExceededException,
)
from github.GithubObject import NotSet
from github.Issue import Issue
from github.IssueComment import IssueComment
from github.PullRequestComment import PullRequestComment
from requests import RequestException

from gitops.hosting.workflow import MOST_CHARACTERS, Access, no_answer_text, without_token
from gitops.interrupts import call_with_timeout
from gitops.model.errors import OutsideError
from gitops.model.posts import Post, Suggestion
from gitops.ports import WAITING

# What GitHub says when it does not do something, in words that tell what to do next.

_NEEDED = "x-accepted-github-permissions"
_FORBIDDEN = 403
_UNPROCESSABLE = 422
_SERVER_ERROR = 500
_UNLOCK = "somebody locked the conversation: unlock it"
_TROUBLE = "GitHub itself has a problem: run this again later"
_LATER = "its limit of requests is used up: run this again later"
_HINTS = {
    401: "the token is wrong or has expired: look at GITHUB_TOKEN or GH_TOKEN",
    404: "it does not exist, or the token may not see it (`{permission}`)",
    410: "the repository has no issues: switch them on in its settings",
    429: _LATER,
}


@contextmanager
def translate_errors(what: str, *, permission: str, where: str) -> Iterator[None]:
    """Turn what goes wrong inside into an OutsideError.

    `what` completes "GitHub did not …", `permission` is the one that a workflow's token needs for
    it, as `issues: write`, and `where` names the repository.
    """
    try:
        yield
    except GithubException as error:
        raise OutsideError(
            f"GitHub did not {what}: {_error_text(error)}",
            where=where,
            hint=_hint(error, permission),
        ) from error
    except RequestException as error:
        raise OutsideError(
            f"GitHub did not {what}: no answer: {no_answer_text(error)}",
            where=where,
            hint="look at the network, and at GITHUB_API_URL",
        ) from error
    except TimeoutError as error:
        raise OutsideError(
            f"GitHub did not {what}: no answer ({error})",
            where=where,
            hint="run this again later: it looks at what is there before it writes",
        ) from error
    except (BadAttributeException, AssertionError, AttributeError, TypeError, ValueError) as error:
        # The library takes for granted that what answers is GitHub.
        raise OutsideError(
            f"GitHub did not {what}: the answer is not valid",
            where=where,
            hint="does GITHUB_API_URL lead to GitHub's API, and is there a proxy between?",
        ) from error


def _error_text(error: GithubException) -> str:
    data: object = error.data
    message = data.get("message") if isinstance(data, dict) else None
    return f"{message or 'no reason given'} (HTTP {error.status})"


def _hint(error: GithubException, permission: str) -> str:
    if isinstance(error, RateLimitExceededException):
        return _LATER
    if error.status == _FORBIDDEN:
        locked = "locked" in _error_text(error)
        return _UNLOCK if locked else _missing_permission(error.headers or {}, permission)
    if error.status >= _SERVER_ERROR:
        return _TROUBLE
    return _HINTS.get(error.status, "").format(permission=permission)


def _missing_permission(headers: Mapping[str, str | int], permission: str) -> str:
    """The permissions that GitHub itself names, `;` between sets that would each do."""
    named = {name.lower(): str(value) for name, value in headers.items()}.get(_NEEDED, "")
    sets = [
        " and ".join(f"`{_workflow_key(word)}`" for word in text.split(","))
        for text in named.split(";")
    ]
    needed = " or ".join(sets) if named else f"`{permission}`"
    return (
        f"the token lacks {needed}: add it to the job's `permissions:` (the token of a run for a "
        "pull request from a fork can only read: comment from a workflow_run instead)"
    )


def _workflow_key(text: str) -> str:
    """`pull_requests=write` as a workflow has it: `pull-requests: write`."""
    return text.strip().replace("_", "-").replace("=", ": ")


_T = TypeVar("_T")

_TIMEOUT = 30
_LONGEST_WAIT = 60
"""Seconds. A limit that lasts longer ends the run: a job that sleeps for an hour helps nobody."""

DEADLINE_SECONDS: Final = 180.0
"""How long one answer is waited for, with all its tries and pauses."""

_PULL_REQUEST = re.compile(r"/pull/\d+$")

_WRITE_COMMENTS = "pull-requests: write"
_READ_PULLS = "pull-requests: read"
_WRITE_ISSUES = "issues: write"


class GitHubRepository:
    """One repository, with one token. Only reads are retried: a write could be done twice."""

    name: Final = "GitHub"
    most_characters: Final = MOST_CHARACTERS

    def __init__(
        self, access: Access, *, retries: int = 3, deadline: float = DEADLINE_SECONDS
    ) -> None:
        self._deadline = deadline
        self._token = access.token
        self._waiting = WAITING.get()
        self._where = f"{access.repository} at {access.api}"
        # It logs what a server answered, which may repeat the token.
        logging.getLogger(Github.__module__.partition(".")[0]).setLevel(logging.CRITICAL)
        self._github = Github(
            base_url=access.api,
            auth=Auth.Token(access.token),
            timeout=_TIMEOUT,
            per_page=100,
            lazy=True,
            seconds_between_requests=None,
            seconds_between_writes=None,
            retry=GithubRetry(
                total=retries,
                backoff_factor=1,
                raise_on_status=False,  # the last answer says more than that there were several
                allowed_methods=frozenset({"GET"}),
                max_rate_limit_wait=_LONGEST_WAIT,
                secondary_rate_wait=_LONGEST_WAIT,
            ),
        )
        self._repository = self._github.get_repo(access.repository)

    def login(self) -> str:
        """Ask GraphQL, which also answers the token of a workflow; REST's `/user` refuses it."""

        def ask() -> str:
            _, answer = self._github.requester.graphql_query("query { viewer { login } }", {})
            return str(answer["data"]["viewer"]["login"])

        return self._ask("say whose token this is", _READ_PULLS, ask)

    def head_of(self, pull_request: int) -> str:
        """The commit that a pull request proposes."""
        what = f"show pull request #{pull_request}"
        return self._ask(
            what, _READ_PULLS, lambda: str(self._repository.get_pull(pull_request).head.sha)
        )

    def changed_paths(self, pull_request: int) -> Iterator[str]:
        """The files that a pull request changes, with the old names of those that it renames."""

        def names() -> Iterator[str]:
            for file in self._repository.get_pull(pull_request).get_files():
                yield file.filename
                if file.previous_filename:
                    yield file.previous_filename

        return self._list(f"list the files of pull request #{pull_request}", _READ_PULLS, names())

    def comments(self, pull_request: int) -> Iterator[Post]:
        """The comments below a pull request, oldest first."""

        def posts() -> Iterator[Post]:
            yield from map(_comment, self._repository.get_issue(pull_request).get_comments())

        what = f"list the comments of pull request #{pull_request}"
        return self._list(what, _READ_PULLS, posts())

    def add_comment(self, pull_request: int, body: str) -> Post:
        """Write a new comment."""
        return self._ask(
            f"write a comment on pull request #{pull_request}",
            _WRITE_COMMENTS,
            lambda: _comment(self._repository.get_issue(pull_request).create_comment(body)),
        )

    def edit_comment(self, pull_request: int, comment: Post, body: str) -> None:
        """Give a comment another text."""
        self._ask(
            f"update the comment {comment.url}",
            _WRITE_COMMENTS,
            lambda: self._repository.get_issue(pull_request).get_comment(comment.number).edit(body),
        )

    def diffs(self, pull_request: int) -> Iterator[tuple[str, str]]:
        """The files that a pull request changes, each with its hunks; empty for a large one."""

        def files() -> Iterator[tuple[str, str]]:
            for file in self._repository.get_pull(pull_request).get_files():
                yield file.filename, file.patch or ""

        return self._list(f"list the files of pull request #{pull_request}", _READ_PULLS, files())

    def line_comments(self, pull_request: int) -> Iterator[Post]:
        """The comments on lines of a pull request, oldest first."""

        def posts() -> Iterator[Post]:
            yield from map(_comment, self._repository.get_pull(pull_request).get_review_comments())

        what = f"list the comments on lines of pull request #{pull_request}"
        return self._list(what, _READ_PULLS, posts())

    def add_line_comment(
        self, pull_request: int, head: str, suggestion: Suggestion, body: str
    ) -> bool:
        """Write one on the lines that a suggestion replaces; False where they are not accepted."""
        last = suggestion.first + len(suggestion.old) - 1
        several = last > suggestion.first

        def write() -> bool:
            try:
                self._repository.get_pull(pull_request).create_review_comment(
                    body,
                    head,
                    suggestion.path,
                    line=last,
                    side="RIGHT",
                    start_line=suggestion.first if several else NotSet,
                    start_side="RIGHT" if several else NotSet,
                )
            except GithubException as error:
                if error.status != _UNPROCESSABLE:
                    raise
                return False
            return True

        return self._ask(f"write on lines of pull request #{pull_request}", _WRITE_COMMENTS, write)

    def delete_line_comment(self, pull_request: int, comment: Post) -> None:
        """Take one away."""
        pull = self._repository.get_pull(pull_request)
        self._ask(
            f"delete the comment {comment.url}",
            _WRITE_COMMENTS,
            lambda: pull.get_review_comment(comment.number).delete(),
        )

    def open_issues(self) -> Iterator[Post]:
        """The open issues; GitHub lists pull requests among them, which are left out.

        Their address tells: the library would ask once more for each issue that has no key
        `pull_request`.
        """

        def posts() -> Iterator[Post]:
            listed = self._repository.get_issues(state="open", sort="created", direction="asc")
            for issue in listed:
                if not _PULL_REQUEST.search(issue.html_url):
                    yield _issue(issue)

        return self._list("list the issues", "issues: read", posts())

    def add_issue(self, title: str, body: str) -> Post:
        """Open an issue."""
        return self._ask(
            "open an issue",
            _WRITE_ISSUES,
            lambda: _issue(self._repository.create_issue(title, body)),
        )

    def edit_issue(self, issue: Post, title: str, body: str) -> None:
        """Give an issue another title and text."""
        self._ask(
            f"update issue #{issue.number}",
            _WRITE_ISSUES,
            lambda: self._repository.get_issue(issue.number).edit(title=title, body=body),
        )

    def close_issue(self, issue: Post) -> None:
        """Close an issue as completed."""
        self._ask(
            f"close issue #{issue.number}",
            _WRITE_ISSUES,
            lambda: self._repository.get_issue(issue.number).edit(
                state="closed", state_reason="completed"
            ),
        )

    def close(self) -> None:
        """Give back connections."""
        self._github.close()

    def _ask(self, what: str, permission: str, call: Callable[[], _T]) -> _T:
        """What the library answers, within the deadline; raises OutsideError."""
        try:
            with (
                translate_errors(what, permission=permission, where=self._where),
                self._waiting(f"GitHub ({self._where}) to {what}"),
            ):
                return call_with_timeout(self._deadline, call)
        except OutsideError as error:
            raise without_token(error, self._token) from error.__cause__

    def _list(self, what: str, permission: str, listed: Iterator[_T]) -> Iterator[_T]:
        """One entry after the other, each within the deadline: some of them need another page."""
        while True:
            items = self._ask(what, permission, lambda: next(((t,) for t in listed), None))
            if items is None:
                return
            yield items[0]


def _comment(comment: IssueComment | PullRequestComment) -> Post:
    return Post(
        number=comment.id,
        author=_login(comment.user),
        body=comment.body or "",
        url=comment.html_url,
    )


def _issue(issue: Issue) -> Post:
    return Post(
        number=issue.number,
        author=_login(issue.user),
        body=issue.body or "",
        url=issue.html_url,
        title=issue.title,
    )


def _login(user: object) -> str:
    """The login of an author; GitHub has none for an account that is gone."""
    return str(getattr(user, "login", None) or "")
