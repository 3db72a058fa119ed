"""Requests to an ASGI application, without a socket."""

from __future__ import annotations

import asyncio
from typing import Any


def send(app: Any, method: str, path: str, body: bytes) -> int:  # noqa: ANN401 - ASGI
    """The status that admin REST answers to one request for `/admin/v2{path}`."""
    sent: list[Any] = []
    headers = {"host": "localhost:8080", "content-type": "application/json"}

    async def receive() -> Any:  # noqa: ANN401 - ASGI
        return {"type": "http.request", "body": body, "more_body": False}

    async def answer(message: Any) -> None:  # noqa: ANN401 - ASGI
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": f"/admin/v2{path}",
        "raw_path": f"/admin/v2{path}".encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "server": ("localhost", 8080),
        "client": ("localhost", 1),
    }
    asyncio.run(app(scope, receive, answer))
    return int(sent[0]["status"])
