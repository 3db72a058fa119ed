"""A repository on GitHub, or on a GitHub Enterprise Server, behind the port `CodeHost`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager

from github import Auth, Github, GithubRetry
from github.Issue import Issue
from github.IssueComment import IssueComment

from gitops.github.environment import Access
from gitops.github.refusals import answering
from gitops.model.posts import Post

_TIMEOUT = 30
_LONGEST_WAIT = 60
"""Seconds. A limit that lasts longer ends the run: a job that sleeps for an hour helps nobody."""

_PULL_REQUEST = re.compile(r"/pull/\d+$")

_WRITE_COMMENTS = "pull-requests: write"
_READ_PULLS = "pull-requests: read"
_WRITE_ISSUES = "issues: write"


class GitHubRepository:
    """One repository, with one token. Only reads are retried: a write could be done twice."""

    def __init__(self, access: Access, *, retries: int = 3) -> None:
        self._where = f"{access.repository} at {access.api}"
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
        with answering("say whose token this is", permission=_READ_PULLS, where=self._where):
            _, answer = self._github.requester.graphql_query("query { viewer { login } }", {})
            return str(answer["data"]["viewer"]["login"])

    def head_of(self, pull_request: int) -> str:
        """The commit that a pull request proposes."""
        with self._reading(f"show pull request #{pull_request}"):
            return str(self._repository.get_pull(pull_request).head.sha)

    def changed_paths(self, pull_request: int) -> Iterator[str]:
        """The files that a pull request changes, with the old names of those that it renames."""
        with self._reading(f"list the files of pull request #{pull_request}"):
            for each in self._repository.get_pull(pull_request).get_files():
                yield each.filename
                if each.previous_filename:
                    yield each.previous_filename

    def comments(self, pull_request: int) -> Iterator[Post]:
        """The comments below a pull request, oldest first."""
        with self._reading(f"list the comments of pull request #{pull_request}"):
            for each in self._repository.get_issue(pull_request).get_comments():
                yield _comment(each)

    def add_comment(self, pull_request: int, body: str) -> Post:
        """Write a new comment."""
        what = f"write a comment on pull request #{pull_request}"
        with answering(what, permission=_WRITE_COMMENTS, where=self._where):
            return _comment(self._repository.get_issue(pull_request).create_comment(body))

    def edit_comment(self, pull_request: int, comment: Post, body: str) -> None:
        """Give a comment another text."""
        what = f"update the comment {comment.url}"
        with answering(what, permission=_WRITE_COMMENTS, where=self._where):
            self._repository.get_issue(pull_request).get_comment(comment.number).edit(body)

    def open_issues(self) -> Iterator[Post]:
        """The open issues; GitHub lists pull requests among them, which are left out.

        Their address tells: the library would ask once more for each issue that has no key
        `pull_request`.
        """
        with answering("list the issues", permission="issues: read", where=self._where):
            listed = self._repository.get_issues(state="open", sort="created", direction="asc")
            for each in listed:
                if not _PULL_REQUEST.search(each.html_url):
                    yield _issue(each)

    def add_issue(self, title: str, body: str) -> Post:
        """Open an issue."""
        with answering("open an issue", permission=_WRITE_ISSUES, where=self._where):
            return _issue(self._repository.create_issue(title, body))

    def edit_issue(self, issue: Post, title: str, body: str) -> None:
        """Give an issue another title and text."""
        with self._writing_issue("update", issue):
            self._repository.get_issue(issue.number).edit(title=title, body=body)

    def close_issue(self, issue: Post) -> None:
        """Close an issue as completed."""
        with self._writing_issue("close", issue):
            self._repository.get_issue(issue.number).edit(state="closed", state_reason="completed")

    def close(self) -> None:
        """Give back connections."""
        self._github.close()

    def _reading(self, what: str) -> AbstractContextManager[None]:
        return answering(what, permission=_READ_PULLS, where=self._where)

    def _writing_issue(self, verb: str, issue: Post) -> AbstractContextManager[None]:
        what = f"{verb} issue #{issue.number}"
        return answering(what, permission=_WRITE_ISSUES, where=self._where)


def _comment(comment: IssueComment) -> Post:
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
