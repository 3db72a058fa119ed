"""The application, request by request, without a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.types import Message

from gitops.model.policy import BrokerSettings
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server import requests
from gitops.registries.server.app import PATHS, make_app
from gitops.registries.server.host_guard import HostNames
from tests.support.examples import examples

RECORD = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
BREAKING = '{"type":"record","name":"R","fields":[{"name":"a","type":"string"}]}'
TOPIC = "/schemas/t/n/topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401 - any JSON value
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.body)


class Client:
    """Speaks ASGI to the application."""

    def __init__(self, registry: EmbeddedRegistry) -> None:
        self.registry = registry
        self._app = make_app(registry, HostNames("127.0.0.1"))

    def send(self, method: str, path: str, body: object = None, *, accept: str = "*/*") -> Answer:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"host": "localhost:8080", "accept": accept}
        if body is not None:
            headers["content-type"] = "application/json"
        return self.raw(method, path, headers, b"" if body is None else raw)

    def raw(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        before, _, query = f"/admin/v2{path}".partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(before),
            "raw_path": before.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "server": ("localhost", 8080),
            "client": ("localhost", 1),
        }
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        asyncio.run(self._app(scope, receive, send))
        return Answer(
            status=sent[0]["status"],
            headers={name.decode(): value.decode() for name, value in sent[0]["headers"]},
            body=b"".join(message.get("body", b"") for message in sent[1:]),
        )


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with _client_of(tmp_path, BrokerSettings()) as client:
        yield client


@contextmanager
def _client_of(tmp_path: Path, broker: BrokerSettings) -> Iterator[Client]:
    path = tmp_path / f"{broker.release}.db"
    registry = EmbeddedRegistry("local", path, broker, clock=count(1_000).__next__)
    client = Client(registry)
    tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
    assert client.send("PUT", "/tenants/t", tenant).status == 204
    assert client.send("PUT", "/namespaces/t/n", {}).status == 204
    yield client
    registry.close()


def avro(text: str, **properties: str) -> dict[str, object]:
    return {"type": "AVRO", "schema": text, "properties": properties}


@pytest.mark.slow
def test_a_schema_is_posted_and_read_back(client: Client) -> None:
    posted = client.send("POST", f"{TOPIC}/schema", avro(RECORD, owner="é"))
    assert posted.json == {"version": {"version": 0}}
    shown = {
        "version": 0,
        "type": "AVRO",
        "timestamp": 1_000,
        "data": RECORD,
        "properties": {"owner": "é"},
    }
    assert client.send("GET", f"{TOPIC}/schema").json == shown
    assert client.send("GET", f"{TOPIC}/schema/0").json == shown
    assert client.send("GET", f"{TOPIC}/schemas").json == {"getSchemaResponses": [shown]}


@pytest.mark.slow
def test_a_refused_schema_is_a_page_with_the_reason(client: Client) -> None:
    client.send("POST", f"{TOPIC}/schema", avro(RECORD))
    refused = client.send("POST", f"{TOPIC}/schema", avro(BREAKING))
    assert refused.status == 409
    assert refused.headers["content-type"].startswith("text/html")
    assert b"<title>Error 409 " in refused.body


def test_a_refused_schema_is_json_for_those_who_ask_for_it(client: Client) -> None:
    body = {"type": "STRING", "schema": "<b>", "properties": {}}
    refused = client.send("POST", f"{TOPIC}/schema", body, accept="application/json, */*")
    assert refused.status == 422
    assert refused.json["status"] == "422"
    assert refused.json["url"] == f"/admin/v2{TOPIC}/schema"
    assert refused.json["message"]
    assert "<" not in refused.json["message"]


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("text/html, application/json", "text/html"),
        ("application/json;q=0.5, */*", "text/html"),
        ("application/json;q=x, */*;q=0.1", "text/html"),
        ("*/*;q=0.1, application/json", "application/json"),
        ("image/png", "text/html"),
    ],
)
def test_an_error_page_follows_the_accept_header(
    client: Client, accept: str, content_type: str
) -> None:
    answer = client.send("GET", "/nonsense", accept=accept)
    assert answer.headers["content-type"].split(";")[0] == content_type


def test_what_the_page_repeats_of_the_request_is_escaped(client: Client) -> None:
    answer = client.send("GET", "/<script>alert(1)</script>")
    assert answer.status == 404
    assert b"<script>" not in answer.body


def test_compatibility_never_answers_false(client: Client) -> None:
    client.send("POST", f"{TOPIC}/schema", avro(RECORD))
    fine = client.send("POST", f"{TOPIC}/compatibility", avro(RECORD))
    assert fine.status == 202
    assert fine.json == {"compatibility": True, "schemaCompatibilityStrategy": "FULL"}
    broken = client.send("POST", f"{TOPIC}/compatibility", avro(BREAKING))
    assert broken.status == 500
    assert broken.json["reason"].startswith("\n --- An unexpected error occurred in the server")


@pytest.mark.slow
def test_a_topic_is_listed_once_it_was_created(client: Client) -> None:
    client.send("POST", f"{TOPIC}/schema", avro(RECORD))
    assert client.send("GET", "/persistent/t/n").json == []
    assert client.send("PUT", "/persistent/t/n/topic").status == 204
    assert client.send("GET", "/persistent/t/n").json == ["persistent://t/n/topic"]


@pytest.mark.parametrize("partitions", [0, 10_001, 2**31, 10**30])
def test_an_impossible_number_of_partitions_is_refused(client: Client, partitions: int) -> None:
    answer = client.send("PUT", "/persistent/t/n/topic/partitions", partitions)
    assert answer.status == 406
    assert client.send("GET", "/persistent/t/n/partitioned").json == []


def test_an_encoded_slash_is_no_end_of_a_segment(client: Client) -> None:
    answer = client.send("GET", "/schemas/t/n/a%2Fschema/schema")
    assert (answer.status, answer.json) == (412, {"reason": "Topic name is not valid"})


def test_names_below_schemas_are_decoded_twice(client: Client) -> None:
    assert client.send("POST", "/schemas/t/n/a%252Bb/schema", avro(RECORD)).status == 200
    assert client.send("GET", "/schemas/t/n/a%252Bb/schema/").json["version"] == 0
    # Decoded once more, a plus means a space.
    assert client.send("GET", "/schemas/t/n/a%2Bb/schema").status == 404
    assert client.send("GET", "/schemas/t/n/100%25/schema").status == 500
    assert client.send("GET", "/schemas/t/n/100%2525/schemas").json == {"getSchemaResponses": []}


@pytest.mark.parametrize("name", ["%zz", "%", "100%", "a%0", "%00"])
def test_a_path_that_cannot_be_decoded_is_400(client: Client, name: str) -> None:
    assert client.send("GET", f"/tenants/{name}").status == 400
    assert client.send("PUT", f"/persistent/t/n/{name}").status == 400
    assert client.send("GET", "/persistent/t/n").json == []


def test_a_body_beyond_the_limit_is_413(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "LARGEST_BODY", 100)
    largest = json.dumps(avro("x" * 52)).encode()
    assert len(largest) == 100
    assert client.send("POST", f"{TOPIC}/schema", largest).status == 422
    refused = client.send("POST", f"{TOPIC}/schema", largest + b" ")
    assert refused.status == 413
    assert b"larger than" in refused.body


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:8080"}, 421),
        ({"host": "localhost:8080", "origin": "http://evil.example"}, 403),
        ({"host": "localhost:8080", "origin": "http://localhost:9090"}, 403),
        ({"host": "localhost:8080", "origin": "null"}, 403),
        ({"host": "localhost:8080", "origin": "http://localhost:8080"}, 204),
        ({}, 204),
    ],
)
def test_a_web_page_cannot_write(client: Client, headers: dict[str, str], status: int) -> None:
    assert client.raw("PUT", "/persistent/t/n/topic", headers, b"").status == status
    assert bool(client.send("GET", "/persistent/t/n").json) is (status == 204)


@pytest.mark.parametrize("content_type", ["", "text/plain", "text/plain; application/json"])
def test_what_a_page_may_send_without_asking_is_no_json(client: Client, content_type: str) -> None:
    headers = {"host": "localhost", "content-type": content_type}
    body = json.dumps(avro(RECORD)).encode()
    assert client.raw("POST", f"{TOPIC}/schema", headers, body).status == 415
    assert client.send("GET", f"{TOPIC}/schemas").json == {"getSchemaResponses": []}


def test_head_answers_as_get(client: Client) -> None:
    assert client.send("HEAD", "/clusters").status == 200


def test_another_method_is_told_which_there_are(client: Client) -> None:
    answer = client.send("DELETE", "/namespaces/t/n/isAllowAutoUpdateSchema")
    assert answer.status == 405
    assert "POST" in answer.headers["allow"]


def test_the_one_cluster_stays(client: Client) -> None:
    assert client.send("GET", "/clusters/standalone").json == {
        "serviceUrl": "http://localhost:8080"
    }
    for method, path in (("PUT", "/clusters/other"), ("DELETE", "/clusters/standalone")):
        assert client.send(method, path, {}).status == 412


def test_a_file_that_cannot_be_used_is_500_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "registry.db"
    path.write_bytes(b"not a database " * 100)
    answer = Client(EmbeddedRegistry("local", path)).send("GET", "/tenants")
    assert answer.status == 500
    assert "cannot be read" in answer.json["reason"]


def test_a_bug_shows_no_traceback(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> int:
        raise LookupError("a secret of the process")

    monkeypatch.setattr(client.registry, "delete_schema", fail)
    answer = client.send("DELETE", f"{TOPIC}/schema")
    assert answer.status == 500
    assert "LookupError" in answer.json["reason"]
    assert b"secret" not in answer.body
    assert b"Traceback" not in answer.body
    assert "a secret of the process" in caplog.text


@pytest.mark.slow
def test_every_path_has_its_own_routes(client: Client) -> None:
    for template, handlers in PATHS.items():
        path = template.format(
            domain="persistent", tenant="t", namespace="n", topic="x", cluster="c", version="0"
        )
        for method in handlers:
            assert client.send(method, path, b"{bad").status != 405, (method, path)


PATH_TEXT = st.text(st.sampled_from("ab/%2F0\\.?#;-+ é\x00\n<'\""), max_size=12)


@pytest.mark.slow
@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=examples(60),
)
@given(
    method=st.sampled_from(["GET", "PUT", "POST", "DELETE"]),
    template=st.sampled_from(sorted(PATHS)),
    name=PATH_TEXT,
    body=st.binary(max_size=40) | st.sampled_from([b"", b"{}", b"null", b"[]", b'{"type":"AVRO"}']),
)
def test_hostile_requests_are_answered(
    client: Client, method: str, template: str, name: str, body: bytes
) -> None:
    path = template.format(
        domain="persistent", tenant="t", namespace="n", topic=name, cluster=name, version=name
    )
    answer = client.send(method, path, body)
    assert answer.status in (200, 202, 204, 400, 404, 405, 406, 409, 412, 422, 500)
    assert b"Traceback" not in answer.body


@pytest.mark.parametrize(
    ("release", "version", "metadata", "external"),
    [("3.0", "3.0.7", 404, 500), ("4.0", "4.0.7", 200, 500), ("4.2.9", "4.2.9", 200, 200)],
)
def test_a_line_answers_as_its_brokers(
    tmp_path: Path, release: str, version: str, metadata: int, external: int
) -> None:
    with _client_of(tmp_path, BrokerSettings(release=release)) as client:
        said = client.send("GET", "/brokers/version")
        schema = {"type": "EXTERNAL", "schema": "x", "properties": {}}
        posted = client.send("POST", f"{TOPIC}/schema", schema)

        assert (said.status, said.body.decode()) == (200, version)
        assert client.send("GET", f"{TOPIC}/metadata").status == metadata
        assert posted.status == external
        if external == 500:
            constant = "org.apache.pulsar.common.schema.SchemaType.EXTERNAL"
            assert f"No enum constant {constant}" in posted.json["reason"]


@pytest.mark.parametrize(
    ("release", "before", "query"),
    [("4.0", "", ""), ("4.2", "", ""), ("5.0", "http://localhost:8080", "?a=&lt;b&gt;")],
)
def test_an_error_page_shows_the_uri_as_the_line_does(
    tmp_path: Path, release: str, before: str, query: str
) -> None:
    """Seen on 4.0.7, 4.2.4 and 5.0.0-M1."""
    schema = {"type": "AVRO", "schema": '{"type":"x"}', "properties": {}}
    with _client_of(tmp_path, BrokerSettings(release=release)) as client:
        refused = client.send("POST", "/schemas/t/n/t%2Bx/schema?a=<b>", schema)
        absent = client.send("GET", "/nope?a=<b>", accept="application/json")

    uri = f"{before}/admin/v2/schemas/t/n/t%2Bx/schema{query}"
    assert refused.status == 422
    assert f"<td>{uri}</td>" in refused.body.decode()
    assert absent.json["url"] == f"{before}/admin/v2/nope{query}"


def test_the_only_broker_is_listed(tmp_path: Path) -> None:
    with _client_of(tmp_path, BrokerSettings()) as client:
        assert client.send("GET", "/brokers").json == ["localhost:8080"]
        assert client.send("GET", "/brokers/any").json == ["localhost:8080"]
        headers = {"host": "localhost"}
        assert json.loads(client.raw("GET", "/brokers", headers, b"").body) == ["localhost:80"]


@pytest.mark.slow
def test_the_runtime_configuration_is_text_and_has_what_the_line_knows(tmp_path: Path) -> None:
    with _client_of(tmp_path, BrokerSettings()) as client:
        old = client.send("GET", "/brokers/configuration/runtime").json
    flags = BrokerSettings(
        release="4.2",
        is_schema_validation_enforced=True,
        schema_json_allow_legacy_jackson_format=True,
    )
    with _client_of(tmp_path, flags) as client:
        new = client.send("GET", "/brokers/configuration/runtime").json

    assert old == {
        "schemaCompatibilityStrategy": "FULL",
        "isAllowAutoUpdateSchemaEnabled": "true",
        "isSchemaValidationEnforced": "false",
        "systemTopicSchemaCompatibilityStrategy": "ALWAYS_COMPATIBLE",
        "defaultRetentionTimeInMinutes": "0",
        "defaultRetentionSizeInMB": "0",
    }
    assert new["isSchemaValidationEnforced"] == "true"
    assert new["schemaJsonAllowLegacyJacksonFormat"] == "true"
