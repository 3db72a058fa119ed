"""A stand-in for GitLab's API on the loopback: one project with the notes of merge requests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.support.http_server import OneTestServer

BOT: Final = "project_42_bot_0a1b"
TOKEN: Final = "glpat-0123456789abcdef"
PROJECT: Final = "42"
PAGE: Final = "https://gitlab.example/acme/schemas"
_PREFIX: Final = "/api/v4"
_NOTES: Final = re.compile(rf"{_PREFIX}/projects/{PROJECT}/merge_requests/(\d+)/notes(?:/(\d+))?")


@dataclass(slots=True)
class Note:
    """A note as the stand-in keeps it; `system` is what GitLab says itself."""

    number: int
    author: str | None
    body: str
    system: bool = False


@dataclass(slots=True, kw_only=True)
class GitLabStandIn:
    """What it holds, what was asked of it, and how it answers.

    `refusals` come once each before all others; `page` is how many notes it puts on a page.
    """

    server: HTTPServer
    notes: dict[int, list[Note]] = field(default_factory=lambda: {7: []})
    writes: list[tuple[str, str]] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    refusals: dict[str, list[Response]] = field(default_factory=dict)
    page: int = 2

    @property
    def environment(self) -> dict[str, str]:
        """What a job's environment says of it."""
        return {
            "CI_API_V4_URL": self.server.url_for(_PREFIX),
            "CI_PROJECT_ID": PROJECT,
            "CI_PROJECT_URL": PAGE,
            "GITLAB_TOKEN": TOKEN,
        }

    def refuse(self, method: str, status: int, answer: object, location: str = "") -> None:
        """Answer the next such request with an error."""
        response = _json(answer, status)
        if location:
            response.headers["Location"] = location
        self.refusals.setdefault(method, []).append(response)

    def answer(self, request: Request) -> Response:
        """What GitLab would say."""
        if request.headers.get("PRIVATE-TOKEN") != TOKEN:
            return _json({"message": "401 Unauthorized"}, 401)
        if request.path == f"{_PREFIX}/user":
            return _json({"username": BOT})
        listed = self.reads if request.method == "GET" else None
        if listed is not None:
            listed.append(request.full_path)
        if self.refusals.get(request.method):
            return self.refusals[request.method].pop(0)
        found = _NOTES.fullmatch(request.path)
        if not found or int(found[1]) not in self.notes:
            return _json({"message": "404 Not found"}, 404)
        return self._notes(request, self.notes[int(found[1])], found[2])

    def _notes(self, request: Request, notes: list[Note], number: str | None) -> Response:
        if request.method == "GET":
            return self._page(request, notes)
        self.writes.append((request.method, request.path.removeprefix(_PREFIX)))
        body = json.loads(request.get_data())["body"]
        if request.method == "POST":
            notes.append(Note(100 + len(notes), BOT, body))
            return _json(_shown(notes[-1]), 201)
        (note,) = (each for each in notes if str(each.number) == number)
        note.body = body
        return _json(_shown(note))

    def _page(self, request: Request, notes: list[Note]) -> Response:
        assert request.args["sort"] == "asc"  # GitLab begins with the newest otherwise
        number = int(request.args.get("page", "1"))
        shown = notes[(number - 1) * self.page : number * self.page]
        answer = _json([_shown(each) for each in shown])
        more = number * self.page < len(notes)
        answer.headers["X-Next-Page"] = str(number + 1) if more else ""
        return answer


@contextmanager
def gitlab_stand_in() -> Iterator[GitLabStandIn]:
    """Start one on a free port of the loopback."""
    with OneTestServer(host="127.0.0.1") as server:
        stand_in = GitLabStandIn(server=server)
        server.expect_request(re.compile(".*")).respond_with_handler(stand_in.answer)
        yield stand_in


def _shown(note: Note) -> dict[str, Any]:
    author = {"username": note.author} if note.author else None
    return {"id": note.number, "body": note.body, "system": note.system, "author": author}


def _json(content: object, status: int = 200) -> Response:
    return Response(json.dumps(content), status, content_type="application/json")
