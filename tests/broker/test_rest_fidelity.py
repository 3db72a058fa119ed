"""`serve` answers what a real broker answers: the same raw requests to both, in the same order."""

from __future__ import annotations

import http.client
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve_in_thread
from tests.broker import rest_place_requests, rest_schema_requests
from tests.broker.rest_requests import CLUSTERS, RawRequest, compared, put

pytestmark = pytest.mark.broker

_PAGE = "a page"
_STANDARD = frozenset({"Server Error", "Not Found", "Conflict", "Unprocessable Entity"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is compared of a response: `content` is a JSON value, or which kind of text it is.

    `phrase` is the reason phrase, or that it is a message in each one's own words.
    """

    status: int
    phrase: str
    content: Any


@pytest.fixture
def serve_url(tmp_path: Path) -> Iterator[str]:
    registry = EmbeddedRegistry("local", tmp_path / "registry.db")
    with serve_in_thread(registry) as url:
        yield url
    registry.close()


def send(url: str, request: RawRequest) -> Answer:
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc, timeout=30)
    try:
        named = {"Content-Type": request.content_type, "Accept": request.accept}
        headers = {name: value for name, value in named.items() if value}
        connection.request(request.method, f"/admin/v2{request.path}", request.body, headers)
        response = connection.getresponse()
        content_type = response.getheader("Content-Type", "").split(";")[0]
        found = content(response.status, content_type, response.read())
        return Answer(
            status=response.status,
            phrase=phrase(response.status, response.reason, found),
            content=found,
        )
    finally:
        connection.close()


def phrase(status: int, reason: str, found: object) -> str:
    """The reason phrase; Java's words of a refusal or a failure are not compared."""
    in_own_words = _PAGE in str(found) or (status == 500 and found != {"reason": reason})
    if in_own_words and reason not in _STANDARD:
        return "a message"
    return reason


def content(status: int, content_type: str, body: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """The part of an answer's body that means something to a client."""
    if status in (405, 415):
        return "a refusal of the server, in one form or another"
    if status == 400:
        return "a complaint about the body"
    if content_type == "text/html":
        return _PAGE
    value = json.loads(body) if body else None
    if isinstance(value, dict) and {"message", "url", "status"} <= value.keys():
        return (f"{_PAGE} in JSON", value["url"], value["status"])
    return compared(value)


GROUPS = {
    each.__name__: each() for each in (*rest_place_requests.GROUPS, *rest_schema_requests.GROUPS)
}


@pytest.mark.parametrize("group", GROUPS)
def test_both_answer_the_same(group: str, pulsar_admin_url: str, serve_url: str) -> None:
    tenant = f"rest-{uuid.uuid4().hex[:10]}"
    prepare = [put("/tenants/{t}", CLUSTERS), put("/namespaces/{t}/n", {})]
    differences = []
    for number, template in enumerate([*prepare, *GROUPS[group]]):
        request = replace(template, path=template.path.replace("{t}", tenant))
        broker, ours = send(pulsar_admin_url, request), send(serve_url, request)
        if broker != ours:
            asked = f"{number}: {request.method} {request.path} {request.body!r}"
            differences.append(f"{asked}\n  broker {broker}\n  serve  {ours}")
    assert not differences, "\n".join(differences)
