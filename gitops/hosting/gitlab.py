"""Merge requests of a project on GitLab, behind the port `CommentHost`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import urllib3
from urllib3.exceptions import HTTPError

from gitops.hosting.workflow import api_url, checked_token, no_answer_text, without_token
from gitops.interrupts import call_with_timeout
from gitops.model.errors import OutsideError, UsageError
from gitops.model.posts import Post
from gitops.ports import WAITING

# What the environment of a job says: which project, where its API is, and with which token.

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,18}")
_JOB_TOKEN: Final = "glcbt-"  # noqa: S105 - how such a token begins
_HOW_TO_MAKE_ONE: Final = (
    "make a project access token with the scope `api` and the role Reporter, and save it as the "
    "masked CI/CD variable GITLAB_TOKEN"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project by its number, the base URL of the API, its page, and the token, not shown."""

    number: str
    api: str
    page: str
    token: str = field(repr=False)


def project_of(environ: Mapping[str, str]) -> Project:
    """Read CI_API_V4_URL, CI_PROJECT_ID and GITLAB_TOKEN; raises UsageError.

    A merge request's number counts in the project that it goes into; a pipeline of a fork has
    another CI_PROJECT_ID.
    """
    token = environ.get("GITLAB_TOKEN", "")
    if not token:
        raise UsageError("GITLAB_TOKEN is not set", hint=_HOW_TO_MAKE_ONE)
    if token == environ.get("CI_JOB_TOKEN") or token.startswith(_JOB_TOKEN):
        text = "GITLAB_TOKEN is the token of a job, which GitLab does not let write notes"
        raise UsageError(text, hint=_HOW_TO_MAKE_ONE)
    number = environ.get("CI_MERGE_REQUEST_PROJECT_ID") or environ.get("CI_PROJECT_ID", "")
    if not _NUMBER.fullmatch(number):
        text = "CI_PROJECT_ID is not the number of a project"
        raise UsageError(text, hint="outside of a job: export CI_PROJECT_ID=…")
    page = environ.get("CI_MERGE_REQUEST_PROJECT_URL") or environ.get("CI_PROJECT_URL", "")
    return Project(
        number=number,
        api=api_url(environ, "CI_API_V4_URL", "https://gitlab.com/api/v4"),
        page=page.rstrip("/"),
        token=checked_token(token, "GITLAB_TOKEN"),
    )


def merge_request_of(environ: Mapping[str, str]) -> int:
    """The merge request that the job is for, by CI_MERGE_REQUEST_IID; raises UsageError."""
    number = environ.get("CI_MERGE_REQUEST_IID", "")
    if not _NUMBER.fullmatch(number):
        raise UsageError(
            "this job is not for a merge request", hint="name the merge request: --mr NUMBER"
        )
    return int(number)


_QUICK_ACTION: Final = re.compile(r"^([^\S\n]*)/(?=[A-Za-z])", re.MULTILINE)


def without_quick_actions(text: str) -> str:
    r"""The text with `\/` where a line begins with `/`: as `/merge` GitLab would carry it out."""
    return _QUICK_ACTION.sub(r"\1\/", text)


# What is asked, and what to do where GitLab refuses.

_T = TypeVar("_T")

_TIMEOUT: Final = 30.0
_DEADLINE_SECONDS: Final = 180.0
"""How long one answer is waited for, with all its tries and pauses."""

_PAGE: Final = 50
_GOOD: Final = range(200, 300)
_SERVER_ERROR: Final = 500
_HINTS: Final = {
    401: "the token is wrong or has expired: look at GITLAB_TOKEN",
    403: "the token needs the scope `api` and the role Reporter",
    404: "the merge request does not exist, or the token may not see it",
    429: "its limit of requests is used up: run this again later",
}


class GitLabProject:
    """One project, with one token. Only reads are retried: a write could be done twice."""

    name: Final = "GitLab"
    most_characters: Final = 1_000_000

    def __init__(
        self, project: Project, *, retries: int = 3, deadline: float = _DEADLINE_SECONDS
    ) -> None:
        self._deadline = deadline
        self._token = project.token
        self._page = project.page
        self._waiting = WAITING.get()
        self._where = f"project {project.number} at {project.api}"
        self._api = project.api
        self._notes = f"/projects/{project.number}/merge_requests/{{}}/notes"
        # `no` redirects: the token would go where the answer says.
        retry = urllib3.Retry(
            total=retries,
            redirect=False,
            backoff_factor=1,
            allowed_methods=frozenset({"GET"}),
            status_forcelist=(429, 502, 503, 504),
            raise_on_status=False,
        )
        self._pool = urllib3.PoolManager(
            headers={"PRIVATE-TOKEN": project.token, "Content-Type": "application/json"},
            timeout=_TIMEOUT,
            retries=retry,
        )

    def login(self) -> str:
        """Whom the token belongs to; a project access token has a user of its own."""
        what = "say whose token this is"
        return self._ask(what, "GET", "/user", lambda answer, _: str(answer["username"]))

    def comments(self, pull_request: int) -> Iterator[Post]:
        """The notes of a merge request, oldest first, without what GitLab says itself."""
        path, page = self._notes.format(pull_request), "1"
        what = f"list the notes of merge request !{pull_request}"

        def read(answer: Any, headers: Mapping[str, str]) -> tuple[list[Post], str]:  # noqa: ANN401
            posts = [self._post(pull_request, note) for note in answer if not note["system"]]
            return posts, headers.get("X-Next-Page", "")

        while page:
            asked = f"{path}?sort=asc&order_by=created_at&per_page={_PAGE}&page={page}"
            posts, page = self._ask(what, "GET", asked, read)
            yield from posts

    def add_comment(self, pull_request: int, body: str) -> Post:
        """Write a new note."""
        return self._ask(
            f"write a note on merge request !{pull_request}",
            "POST",
            self._notes.format(pull_request),
            lambda answer, _: self._post(pull_request, answer),
            body,
        )

    def edit_comment(self, pull_request: int, comment: Post, body: str) -> None:
        """Give a note another text."""
        self._ask(
            f"update note {comment.number} of merge request !{pull_request}",
            "PUT",
            f"{self._notes.format(pull_request)}/{comment.number}",
            lambda answer, _: self._post(pull_request, answer),
            body,
        )

    def close(self) -> None:
        """Give back connections."""
        self._pool.clear()

    def _post(self, merge_request: int, note: Mapping[str, Any]) -> Post:
        number = int(note["id"])
        url = f"{self._page}/-/merge_requests/{merge_request}#note_{number}" if self._page else ""
        author = str((note["author"] or {}).get("username") or "")
        return Post(number=number, author=author, body=str(note["body"] or ""), url=url)

    def _ask(
        self,
        what: str,
        method: str,
        path: str,
        read: Callable[[Any, Mapping[str, str]], _T],
        body: str | None = None,
    ) -> _T:
        """What `read` makes of the answer, within the deadline; raises OutsideError."""
        sent = None if body is None else json.dumps({"body": body}).encode()

        def call() -> urllib3.BaseHTTPResponse:
            return self._pool.request(method, self._api + path, body=sent, redirect=False)

        try:
            with self._waiting(f"GitLab ({self._where}) to {what}"):
                response = call_with_timeout(self._deadline, call)
            if response.status not in _GOOD:
                raise self._refusal(what, response)
            return read(json.loads(response.data), response.headers)
        except (HTTPError, TimeoutError) as error:
            raise OutsideError(
                f"GitLab did not {what}: no answer: {no_answer_text(error)}",
                where=self._where,
                hint="look at the network, and at CI_API_V4_URL",
            ) from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise OutsideError(
                f"GitLab did not {what}: the answer is not valid",
                where=self._where,
                hint="does CI_API_V4_URL lead to GitLab's API, and is there a proxy between?",
            ) from error

    def _refusal(self, what: str, response: urllib3.BaseHTTPResponse) -> OutsideError:
        hint = "GitLab itself has a problem: run this again later"
        if response.status < _SERVER_ERROR:
            hint = _HINTS.get(response.status, "look at CI_API_V4_URL")
        text = f"GitLab did not {what}: {_reason(response.data)} (HTTP {response.status})"
        return without_token(OutsideError(text, where=self._where, hint=hint), self._token)


def _reason(content: bytes) -> str:
    """What GitLab says of its refusal."""
    try:
        answer = json.loads(content)
        return str(answer.get("message") or answer.get("error") or "no reason given")
    except (ValueError, AttributeError):
        return "no reason given"
