"""A stand-in for GitHub's API on the loopback, with pull requests, comments and issues."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.support.http_server import OneTestServer

BOT: Final = "github-actions[bot]"
TOKEN: Final = "ghs_0123456789abcdef"
REPOSITORY: Final = "acme/schemas"
_EVERYTHING: Final = {"issues": "write", "pull-requests": "write"}
_PREFIX: Final = "/api/v3"
_REPO: Final = f"{_PREFIX}/repos/{REPOSITORY}"


@dataclass(slots=True)
class Stored:
    """A comment or an issue as the stand-in keeps it; `pull` is set where an issue is one."""

    number: int
    author: str | None
    body: str
    title: str = ""
    state: str = "open"
    pull: bool = False


@dataclass(slots=True, kw_only=True)
class GitHubStandIn:
    """What it holds, what was asked of it, and how it answers.

    `refusals` are answers (status, message, headers) that come once each before all others;
    `page` is how many entries it puts on a page. `tokens` are those of jobs, each with what its
    `permissions:` say; TOKEN may do everything.
    """

    server: HTTPServer
    heads: dict[int, str] = field(default_factory=lambda: {7: "a" * 40})
    files: dict[int, list[str]] = field(default_factory=dict)
    comments: dict[int, list[Stored]] = field(default_factory=dict)
    issues: list[Stored] = field(default_factory=list)
    writes: list[tuple[str, str]] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    refusals: dict[tuple[str, str], list[Response]] = field(default_factory=dict)
    page: int = 2
    login: str = BOT
    patches: dict[int, dict[str, str]] = field(default_factory=dict)
    on_lines: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    tokens: dict[str, Mapping[str, str]] = field(default_factory=lambda: {TOKEN: _EVERYTHING})

    @property
    def url(self) -> str:
        """The base URL of the API, as a GitHub Enterprise Server has it."""
        return self.server.url_for(_PREFIX)

    @property
    def environment(self) -> dict[str, str]:
        """What a workflow's environment says of it."""
        return {
            "GITHUB_API_URL": self.url,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_TOKEN": TOKEN,
        }

    def refuse(
        self,
        method: str,
        path: str,
        status: int,
        message: str,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Answer the next such request with an error; `path` is what follows the repository."""
        answer = _json({"message": message}, status)
        answer.headers.update(headers or {})
        self.refusals.setdefault((method, path), []).append(answer)

    def answer(self, request: Request) -> Response:
        """What GitHub would say."""
        # A GitHub Enterprise Server has GraphQL beside `v3`.
        if request.path == "/api/graphql":
            return _json({"data": {"viewer": {"login": self.login}}})
        token = request.headers.get("Authorization", "").partition(" ")[2]
        if token not in self.tokens:
            return _json({"message": "Bad credentials"}, 401)
        path = request.path.removeprefix(_REPO)
        if needed := _lacking(self.tokens[token], request.method, path):
            answer = _json({"message": "Resource not accessible by integration"}, 403)
            answer.headers["X-Accepted-GitHub-Permissions"] = needed
            return answer
        if request.method == "GET":
            self.reads.append(path)
        waiting = self.refusals.get((request.method, path))
        if waiting:
            return waiting.pop(0)
        if request.method != "GET":
            self.writes.append((request.method, path))
        return self._route(request, path) or _json({"message": "Not Found"}, 404)

    def _route(self, request: Request, path: str) -> Response | None:
        for pattern, route in _ROUTES:
            found = re.fullmatch(pattern, f"{request.method} {path}")
            if found:
                answer: Response | None = route(self, request, *map(int, found.groups()))
                return answer
        return None

    def pull(self, _request: Request, number: int) -> Response | None:
        """A pull request."""
        if number not in self.heads:
            return None
        url = f"{self.url}/repos/{REPOSITORY}/pulls/{number}"
        return _json({"number": number, "url": url, "head": {"sha": self.heads[number]}})

    def pull_files(self, request: Request, number: int) -> Response:
        """The files that it changes; `new < old` is a renamed one."""
        names = [name.split(" < ") for name in self.files.get(number, [])]
        keys = ("filename", "previous_filename")
        shown = [dict(zip(keys, each, strict=False)) for each in names]
        patches = self.patches.get(number, {})
        return self._page(
            request, [{**each, "patch": patches.get(each["filename"])} for each in shown]
        )

    def list_line_comments(self, request: Request, number: int) -> Response:
        """The comments on lines of a pull request."""
        return self._page(request, self.on_lines.get(number, []))

    def add_line_comment(self, request: Request, number: int) -> Response:
        """A new one; GitHub refuses a line that is not in the diff."""
        asked = _body(request)
        if asked["path"] not in self.patches.get(number, {}):
            return _json({"message": "Validation Failed"}, 422)
        there = self.on_lines.setdefault(number, [])
        shown = self._shown(Stored(5000 + len(self.writes), self.login, asked["body"]))
        there.append({**asked, **shown})
        return _json(there[-1], 201)

    def line_comment(self, _request: Request, number: int) -> Response:
        """One of them."""
        return _json(next(e for each in self.on_lines.values() for e in each if e["id"] == number))

    def delete_line_comment(self, _request: Request, number: int) -> Response:
        """One less."""
        for each in self.on_lines.values():
            each[:] = [one for one in each if one["id"] != number]
        return Response(status=204)

    def list_comments(self, request: Request, number: int) -> Response | None:
        """The comments of a pull request."""
        if number not in self.heads:
            return None
        return self._page(request, [self._shown(each) for each in self.comments.get(number, [])])

    def add_comment(self, request: Request, number: int) -> Response:
        """A new comment."""
        there = self.comments.setdefault(number, [])
        comment = Stored(100 * number + len(there), self.login, _body(request)["body"])
        there.append(comment)
        return _json(self._shown(comment), 201)

    def edit_comment(self, request: Request, number: int) -> Response:
        """A comment with another text."""
        (comment,) = (e for each in self.comments.values() for e in each if e.number == number)
        comment.body = _body(request)["body"]
        return _json(self._shown(comment))

    def list_issues(self, request: Request) -> Response:
        """The issues in a state, pull requests among them."""
        state = request.args["state"]
        return self._page(request, [self._shown(e) for e in self.issues if e.state == state])

    def add_issue(self, request: Request) -> Response:
        """A new issue."""
        asked = _body(request)
        issue = Stored(1000 + len(self.issues), self.login, asked["body"], asked["title"])
        self.issues.append(issue)
        return _json(self._shown(issue), 201)

    def edit_issue(self, request: Request, number: int) -> Response:
        """An issue with other values."""
        (issue,) = (each for each in self.issues if each.number == number)
        for key, value in _body(request).items():
            if key != "state_reason":
                setattr(issue, key, value)
        return _json(self._shown(issue))

    def _shown(self, stored: Stored) -> dict[str, Any]:
        kind = "pull" if stored.pull else "issues"
        shown: dict[str, Any] = {
            "id": stored.number,
            "number": stored.number,
            "title": stored.title,
            "state": stored.state,
            "body": stored.body,
            "user": {"login": stored.author} if stored.author else None,
            "url": f"{self.url}/repos/{REPOSITORY}/pulls/comments/{stored.number}",
            "html_url": f"https://github.example/{REPOSITORY}/{kind}/{stored.number}",
        }
        return shown | ({"pull_request": {"url": f"{self.url}/pulls"}} if stored.pull else {})

    def _page(self, request: Request, entries: list[dict[str, Any]]) -> Response:
        number = int(request.args.get("page", "1"))
        answer = _json(entries[(number - 1) * self.page : number * self.page])
        if number * self.page < len(entries):
            following = f"{request.base_url}?{_with_page(request, number + 1)}"
            answer.headers["Link"] = f'<{following}>; rel="next"'
        return answer


_ROUTES: Final = (
    (r"GET /pulls/(\d+)", GitHubStandIn.pull),
    (r"GET /pulls/(\d+)/files", GitHubStandIn.pull_files),
    (r"GET /pulls/(\d+)/comments", GitHubStandIn.list_line_comments),
    (r"POST /pulls/(\d+)/comments", GitHubStandIn.add_line_comment),
    (r"GET /pulls/comments/(\d+)", GitHubStandIn.line_comment),
    (r"DELETE /pulls/comments/(\d+)", GitHubStandIn.delete_line_comment),
    (r"GET /issues/(\d+)/comments", GitHubStandIn.list_comments),
    (r"POST /issues/(\d+)/comments", GitHubStandIn.add_comment),
    (r"PATCH /issues/comments/(\d+)", GitHubStandIn.edit_comment),
    (r"GET /issues", GitHubStandIn.list_issues),
    (r"POST /issues", GitHubStandIn.add_issue),
    (r"PATCH /issues/(\d+)", GitHubStandIn.edit_issue),
)


_ANY_OF: Final = (
    (r"/pulls/(\d+(/files|/comments)?|comments/\d+)", ("pull-requests",)),
    (r"/issues/(\d+/comments|comments/\d+)", ("issues", "pull-requests")),
    (r"/issues(/\d+)?", ("issues",)),
)
"""The permissions of which each path needs one, as GitHub's reference of its API has them."""


def _lacking(permissions: Mapping[str, str], method: str, path: str) -> str:
    """What a token would need, as GitHub says it in a header; empty where it has it."""
    for pattern, names in _ANY_OF:
        if re.fullmatch(pattern, path):
            level = "read" if method == "GET" else "write"
            if any(permissions.get(name) in (level, "write") for name in names):
                return ""
            return "; ".join(f"{name.replace('-', '_')}={level}" for name in names)
    return ""


@contextmanager
def github_stand_in() -> Iterator[GitHubStandIn]:
    """Start one on a free port of the loopback."""
    with OneTestServer(host="127.0.0.1") as server:
        stand_in = GitHubStandIn(server=server)
        server.expect_request(re.compile(".*")).respond_with_handler(stand_in.answer)
        yield stand_in


def _json(content: object, status: int = 200) -> Response:
    return Response(json.dumps(content), status, content_type="application/json; charset=utf-8")


def _body(request: Request) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(request.get_data())
    return content


def _with_page(request: Request, number: int) -> str:
    others = [f"{key}={value}" for key, value in request.args.items() if key != "page"]
    return "&".join([*others, f"page={number}"])
