"""A cluster's admin REST with given answers, which keeps what is written."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from werkzeug import Request, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_httpserver import HTTPServer


class Cluster:
    """Answers by method and path, and keeps what is written."""

    def __init__(self, server: HTTPServer, answers: Mapping[str, object]) -> None:
        self.url = server.url_for("")
        self._answers = answers
        self.written: list[tuple[str, object]] = []
        server.expect_request(re.compile("/admin/v2/.*")).respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        path = request.environ["REQUEST_URI"].removeprefix("/admin/v2/")
        if request.method != "GET":
            self.written.append((f"{request.method} {path}", json.loads(request.data)))
            return Response(status=204)
        found = self._answers.get(path, 404)
        if isinstance(found, int):
            return Response(json.dumps({"reason": "no"}), status=found)
        return Response(json.dumps(found))
