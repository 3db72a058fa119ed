"""Where the message of an error is: in the status line up to 4.0, in the body on every line."""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gitops.model.names import NamespaceName
from gitops.model.policy import BrokerSettings
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve_in_thread

SCHEMA = "/admin/v2/schemas/t/n/topic/schema"


def answer(
    folder: Path, release: str, method: str, path: str, body: object = None
) -> tuple[HTTPResponse, bytes]:
    """What `serve` of a release answers to one request; the namespace t/n is there."""
    registry = EmbeddedRegistry("local", folder / "x.db", BrokerSettings(release=release))
    registry.create_namespace(NamespaceName("t", "n"))
    with closing(registry), serve_in_thread(registry) as url:
        address = urlsplit(url).netloc
        with closing(http.client.HTTPConnection(address, timeout=30)) as connection:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, _JSON)
            response = connection.getresponse()
            return response, response.read()


_JSON = {"Content-Type": "application/json"}
_NULL = {"type": "STRING", "schema": "", "properties": {"a": None}}


def payload(kind: str, schema: str = "") -> dict[str, object]:
    return {"type": kind, "schema": schema, "properties": {}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "message", "standard"),
    [
        (("GET", SCHEMA), "Schema not found", "Not Found"),
        (("PUT", "/admin/v2/namespaces/t/n", {}), "Namespace already exists", "Conflict"),
        (("GET", f"{SCHEMA}/x"), 'For input string: "x"', "Server Error"),
        (
            ("POST", SCHEMA, payload("STRING", "x")),
            "STRING has no definition",
            "Unprocessable Entity",
        ),
        (("POST", SCHEMA, _NULL), "Server Error", "Server Error"),
        (("GET", "/admin/v2/nope"), "Not Found", "Not Found"),
        (("DELETE", "/admin/v2/brokers"), "Method Not Allowed", "Method Not Allowed"),
        (("POST", SCHEMA, "no object"), "Bad Request", "Bad Request"),
    ],
)
def test_the_phrase_is_the_message_or_the_standard_one(
    asked: tuple[str, str, object], message: str, standard: str, tmp_path: Path
) -> None:
    phrases = {}
    for release in ("3.0", "5.0"):
        folder = tmp_path / release
        folder.mkdir()
        found, body = answer(folder, release, *asked)
        phrases[release] = found.reason
        assert found.getheader("x-reason-phrase") is None
        assert body

    assert phrases == {"3.0": message, "5.0": standard}


@pytest.mark.slow
def test_a_message_of_any_text_is_one_line_of_1024_characters(tmp_path: Path) -> None:
    """Jetty of 4.0.7: Latin-1 with `?`, also for line breaks; other control characters stay."""
    name = f"a\r\n\x01é€\U0001f600{'x' * 2000}"
    wrong = json.dumps({"type": name})

    found, body = answer(tmp_path, "4.0", "POST", SCHEMA, payload("AVRO", wrong))

    assert found.status == 422
    assert found.reason.startswith("not a valid Avro schema: 'a??\x01é??xxx")
    assert len(found.reason) == 1024
    assert found.getheader("content-type") == "text/html; charset=utf-8"
    assert f"{'x' * 2000}" in body.decode()
