"""Values of the wrong type in what commands read beside a repository, as in `test_wrong_values`."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug import Request, Response

from gitops.model.names import NamespaceName, TopicName
from gitops.planning.plan_document import digest
from gitops.registry.embedded.administration import Administration
from gitops.registry.embedded.registry import EmbeddedRegistry
from gitops.registry.rest.app import make_app
from gitops.registry.rest.hosts import HostNames
from tests.support.command_line import captured
from tests.support.whole_documents import ENVELOPE, HEAD, JACKSON, OLD, ORDER_ALONE, PLAIN, WHOLE
from tests.support.wrong_values import (
    EXAMPLES,
    Document,
    Embedded,
    assert_no_bug,
    one_line_of,
    text_of,
    wrong_documents,
)

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer

_STRATEGIES: Final = ("FULL", "BACKWARD", "FORWARD_TRANSITIVE", "ALWAYS_COMPATIBLE", "UNDEFINED")
_FORMATS: Final = ("text", "json", "markdown", "github", "sarif")
_MODES: Final = ("producer", "consumer", "subscribe", "compat", "version", "lookup")
_DEFINITIONS: Final[dict[str, tuple[Document, Document]]] = {
    "AVRO": (OLD, ORDER_ALONE),
    "JSON": (JACKSON, ORDER_ALONE),
    "PROTOBUF": (OLD, ORDER_ALONE),
    "PROTOBUF_NATIVE": (ENVELOPE, ENVELOPE),
    "KEY_VALUE": ({"key": "", "value": OLD}, {"key": "", "value": ORDER_ALONE}),
}
"""An older definition and a newer one, by SchemaType."""

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit will not be reset")


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wrong-") as folder:
        yield Path(folder)


def _payload(kind: str, definition: Document) -> Document:
    """What admin REST takes, and `pulsar-admin schemas upload` reads from a file."""
    properties = WHOLE["schema"]["properties"] if kind == "KEY_VALUE" else {"a": "b"}
    return {"type": kind, "schema": Embedded(definition), "properties": properties}


@pytest.mark.parametrize("kind", list(_DEFINITIONS))
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_definition_that_is_compared_makes_a_bug(kind: str, data: st.DataObject) -> None:
    sides = list(_DEFINITIONS[kind])
    with_type = data.draw(st.booleans())
    if not with_type:
        sides = [_payload(kind, side) for side in sides]
    wrong = data.draw(st.sampled_from((0, 1)))
    sides[wrong] = data.draw(wrong_documents(sides[wrong]))
    strategy = data.draw(st.sampled_from(_STRATEGIES))
    form = data.draw(st.sampled_from(_FORMATS))
    with _folder() as folder:
        files = [folder / "old.json", folder / "new.json"]
        for file, side in zip(files, sides, strict=True):
            file.write_text(text_of(side), encoding="utf-8")
        options = ["--type", kind] if with_type else []
        command = ["compat", "-s", strategy, "--format", form, *options, *files]
        assert_no_bug(command, captured(*command))


@pytest.mark.parametrize("kind", list(_DEFINITIONS))
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_case_of_a_stream_makes_a_bug(kind: str, data: st.DataObject) -> None:
    old, new = _DEFINITIONS[kind]
    case = {
        "id": {"a": ["x"]},
        "strategy": data.draw(st.sampled_from(_STRATEGIES)),
        "mode": data.draw(st.sampled_from(_MODES)),
        "idle": True,
        "existing": [
            {"deleted": True},
            _payload(kind, old),
            {"type": "AVRO", "schema": "e30=", "encoding": "b64"},
        ],
        "candidate": _payload(kind, new),
    }
    lines = [one_line_of(data.draw(wrong_documents(case))).replace("\n", " ") for _ in range(4)]

    ended = captured("compat", "--jsonl", stdin="\n".join([*lines, one_line_of(case)]))

    assert_no_bug(lines, ended)
    assert ended.code in (0, 2)
    verdicts = [json.loads(line) for line in ended.out.splitlines()]
    assert len(verdicts) == len(lines) + 1
    assert verdicts[-1]["id"] == case["id"]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template with a plan, which was not applied yet."""
    root = tmp_path_factory.mktemp("planned") / "repo"
    assert captured("init", root).code == 0
    assert captured("plan", "--repo", root, "--out", root / "plan.json").code == 0
    return root


@pytest.fixture(scope="module")
def filled(planned: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template, applied, with a topic that was created."""
    root = tmp_path_factory.mktemp("filled") / "repo"
    shutil.copytree(planned, root)
    assert captured("apply", "--repo", root, "--auto-approve").code == 0
    policy = ["shop/orders/order-created", "schemaCompatibilityStrategy=FULL"]
    with closing(EmbeddedRegistry("local", root / ".gitops" / "registry.db")) as registry:
        Administration(registry.database).create_topic(TopicName.parse(policy[0]), 0)
    assert captured("policies", "set", *policy, "--repo", root).code == 0
    return root


@settings(max_examples=EXAMPLES * 2)
@given(data=st.data())
def test_no_plan_file_makes_a_bug(planned: Path, data: st.DataObject) -> None:
    plan = json.loads((planned / "plan.json").read_text())
    document = data.draw(wrong_documents(plan))
    text = text_of(document)
    if data.draw(st.booleans()):
        # As somebody would make it who wants to get past the digest.
        try:
            document = json.loads(text)
            text = json.dumps({**document, "digest": digest(document)})
        except (ValueError, TypeError, AttributeError, RecursionError):
            pass
    with _folder() as folder:
        shutil.copytree(planned, folder / "repo")
        if data.draw(st.booleans()):
            _begin(folder / "repo" / ".gitops" / "registry.db")
        (folder / "plan.json").write_text(text, encoding="utf-8")
        command = ["apply", folder / "plan.json", "--repo", folder / "repo"]
        assert_no_bug(command, captured(*command))


def _begin(database: Path) -> None:
    """Carry out the first action of the template's plan."""
    with closing(EmbeddedRegistry("local", database)) as registry:
        registry.create_namespace(NamespaceName("shop", "orders"))


@pytest.mark.parametrize("kind", list(_DEFINITIONS))
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_file_of_a_schema_makes_a_bug(planned: Path, kind: str, data: st.DataObject) -> None:
    definition = _DEFINITIONS[kind][1]
    whole = data.draw(st.booleans())
    document = data.draw(wrong_documents(_payload(kind, definition) if whole else definition))
    topic = data.draw(st.sampled_from(("shop/orders/order-created", "shop/orders/new")))
    options = [] if whole else ["--type", kind]
    with _folder() as folder:
        shutil.copytree(planned, folder / "repo")
        file = folder / "schema.json"
        file.write_text(text_of(document), encoding="utf-8")
        repo = ["--repo", folder / "repo"]
        for command in (
            ["connect", "producer", topic, file, *options, *repo],
            ["connect", "consumer", topic, file, *options, *repo],
            ["schemas", "upload", topic, file, *options, *repo],
            ["schemas", "get", topic, *repo],
            ["schemas", "versions", topic, *repo],
            ["import", *repo],
            ["snapshot", *repo],
            ["plan", "--prune", *repo],
        ):
            assert_no_bug(command, captured(*command))


_BODIES: Final[dict[str, tuple[str, Document]]] = {
    "/tenants/t2": ("PUT", {"adminRoles": ["a"], "allowedClusters": ["standalone"]}),
    "/tenants/t": ("POST", {"adminRoles": ["a"], "allowedClusters": ["standalone"]}),
    "/namespaces/t/n2": (
        "PUT",
        {
            "schema_compatibility_strategy": "FULL",
            "is_allow_auto_update_schema": True,
            "schema_validation_enforced": False,
            "schema_auto_update_compatibility_strategy": "Full",
            "replication_clusters": ["standalone"],
        },
    ),
    "/namespaces/t/n/schemaCompatibilityStrategy": ("PUT", "FULL"),
    "/namespaces/t/n/schemaAutoUpdateCompatibilityStrategy": ("PUT", "Full"),
    "/namespaces/t/n/isAllowAutoUpdateSchema": ("POST", True),
    "/namespaces/t/n/schemaValidationEnforced": ("POST", False),
    "/persistent/t/n/p/partitions": ("PUT", 3),
    "/persistent/t/n/a/schemaCompatibilityStrategy": ("PUT", "FULL"),
    "/persistent/t/n/a/schemaValidationEnforced": ("POST", True),
    **{
        f"/schemas/t/n/{kind.lower()}/{what}": ("POST", _payload(kind, new))
        for kind, (_, new) in _DEFINITIONS.items()
        for what in ("schema", "compatibility", "version")
    },
}
"""Method and body of each kind of request that has one, by its path."""


@settings(max_examples=EXAMPLES * 10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_body_makes_a_bug_of_the_server(
    data: st.DataObject, caplog: pytest.LogCaptureFixture
) -> None:
    path = data.draw(st.sampled_from(sorted(_BODIES)))
    method, body = _BODIES[path]
    wrong = text_of(data.draw(wrong_documents(body))).encode()
    caplog.clear()
    with (
        _folder() as folder,
        closing(EmbeddedRegistry("local", folder / "registry.db")) as registry,
    ):
        app = make_app(registry, HostNames("127.0.0.1"))
        tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
        assert _send(app, "PUT", "/tenants/t", json.dumps(tenant).encode()) == 204
        assert _send(app, "PUT", "/namespaces/t/n", b"{}") == 204
        assert _send(app, "PUT", "/persistent/t/n/a", b"") in (204, 415)
        good = text_of(body).encode()
        for each in (good, wrong, good):
            assert _send(app, method, path, each) < 600
        for asked in ("schema", "schemas", "metadata"):
            kind = path.split("/")[-2]
            assert _send(app, "GET", f"/schemas/t/n/{kind}/{asked}", b"") < 600
    assert not [each for each in caplog.records if each.exc_info], wrong


def _send(app: Any, method: str, path: str, body: bytes) -> int:  # noqa: ANN401 - ASGI
    sent: list[Any] = []
    headers = {"host": "localhost:8080", "content-type": "application/json"}

    async def receive() -> Any:  # noqa: ANN401 - ASGI
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:  # noqa: ANN401 - ASGI
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
    asyncio.run(app(scope, receive, send))
    return int(sent[0]["status"])


_PROPERTIES: Final = WHOLE["schema"]["properties"]
_ANSWERS: Final[dict[str, Document]] = {
    "namespaces/shop": ["shop/orders"],
    "namespaces/shop/orders": {
        "schema_compatibility_strategy": "FULL",
        "is_allow_auto_update_schema": True,
        "schema_validation_enforced": True,
    },
    "schemas/shop/orders/a/schemas": {
        "getSchemaResponses": [
            {"version": 0, "type": "AVRO", "timestamp": 1, "data": Embedded(OLD), "properties": {}}
        ]
    },
    "schemas/shop/orders/b/schemas": {
        "getSchemaResponses": [
            {
                "version": 0,
                "type": "KEY_VALUE",
                "timestamp": 1,
                "data": Embedded({"key": "", "value": PLAIN}),
                "properties": _PROPERTIES,
            }
        ]
    },
    "schemas/shop/orders/a/metadata": {"info": {"version": 0}},
    "persistent/shop/orders": ["persistent://shop/orders/a", "persistent://shop/orders/b"],
    "persistent/shop/orders/partitioned": [],
    "non-persistent/shop/orders": [],
    "non-persistent/shop/orders/partitioned": [],
    "persistent/shop/orders/a/schemaCompatibilityStrategy": "FULL",
    "persistent/shop/orders/a/schemaValidationEnforced": True,
    "brokers/version": "4.0.7",
}
"""What a cluster answers to each question."""


@pytest.fixture(scope="module")
def cluster(make_httpserver: HTTPServer) -> tuple[str, dict[str, str]]:
    """A server that answers from a table, which tests change."""
    answers: dict[str, str] = {}

    def answer(request: Request) -> Response:
        text = answers.get(request.path.removeprefix("/admin/v2").removeprefix("/"))
        return Response('{"reason":"not found"}', 404) if text is None else Response(text)

    make_httpserver.expect_request(re.compile(".*")).respond_with_handler(answer)
    return make_httpserver.url_for(""), answers


@settings(max_examples=EXAMPLES * 5)
@given(data=st.data())
def test_no_answer_of_a_cluster_makes_a_bug(
    cluster: tuple[str, dict[str, str]], data: st.DataObject
) -> None:
    url, answers = cluster
    path = data.draw(st.sampled_from(sorted(_ANSWERS)))
    wrong = text_of(data.draw(wrong_documents(_ANSWERS[path])))
    answers.update({name: text_of(each) for name, each in _ANSWERS.items()})
    answers[path] = wrong.encode("utf-8", "replace").decode()
    manifest = {**HEAD, "kind": "Topic", "schema": {"type": "AVRO", "definition": OLD}}
    settings_ = {
        **HEAD,
        "kind": "Config",
        "registries": {"live": {"kind": "pulsar", "url": url}},
    }
    with _folder() as folder:
        (folder / "gitops.yaml").write_text(text_of(settings_))
        orders = folder / "namespaces" / "shop" / "orders"
        orders.mkdir(parents=True)
        (orders / "a.yaml").write_text(text_of(manifest))
        repo = ["--repo", folder]
        for command in (
            ["plan", "--prune", *repo],
            ["snapshot", *repo],
            ["import", *repo],
            ["policies", "get", "shop/orders/a", *repo],
            ["schemas", "versions", "shop/orders/b", *repo],
            ["connect", "consumer", "shop/orders/a", "v0", *repo],
        ):
            assert_no_bug(command, captured(*command))


@settings(max_examples=EXAMPLES * 2)
@given(data=st.data())
def test_neither_a_key_file_nor_an_issuer_makes_a_bug(
    cluster: tuple[str, dict[str, str]], data: st.DataObject
) -> None:
    url, answers = cluster
    documents = {
        "key.json": {"client_id": "a", "client_secret": "b", "issuer_url": url.rstrip("/")},
        ".well-known/openid-configuration": {"token_endpoint": f"{url}/token"},
        "token": {"access_token": "t", "expires_in": 300},
    }
    wrong = data.draw(st.sampled_from(sorted(documents)))
    more = ("http://[", "http://a:b", "https://\u2100.example", f"{url}/%zz?a=b")
    documents[wrong] = data.draw(wrong_documents(documents[wrong], more=more))
    texts = {name: text_of(each) for name, each in documents.items()}
    answers.update(texts)
    answers["namespaces/shop/orders"] = text_of(_ANSWERS["namespaces/shop/orders"])
    authentication = {"oauth2": {"credentialsFile": "key.json"}}
    live = {"kind": "pulsar", "url": url, "authentication": authentication}
    with _folder() as folder:
        config = {**HEAD, "kind": "Config", "registries": {"live": live}}
        (folder / "gitops.yaml").write_text(text_of(config))
        (folder / "key.json").write_text(texts["key.json"], encoding="utf-8")
        command = ["policies", "get", "shop/orders", "--repo", folder]
        assert_no_bug(command, captured(*command))


_ROWS: Final[dict[str, Document]] = {
    "tenants.admin_roles": ["a"],
    "tenants.allowed_clusters": ["standalone"],
    "namespaces.policies": {"schemaCompatibilityStrategy": "FULL"},
    "topics.policies": {"schemaCompatibilityStrategy": "FULL"},
    "entries.properties": {"owner": "checkout"},
}
"""The columns of an embedded registry's file that hold JSON."""


@settings(max_examples=EXAMPLES * 2)
@given(data=st.data())
def test_no_row_makes_a_bug(filled: Path, data: st.DataObject) -> None:
    column = data.draw(st.sampled_from(sorted(_ROWS)))
    table, _, name = column.partition(".")
    wrong = text_of(data.draw(wrong_documents(_ROWS[column]))).encode("utf-8", "replace").decode()
    with _folder() as folder:
        shutil.copytree(filled, folder / "repo")
        database = folder / "repo" / ".gitops" / "registry.db"
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute(f"UPDATE {table} SET {name} = ?", (wrong,))  # noqa: S608 - our names
        repo = ["--repo", folder / "repo"]
        for command in (
            ["plan", "--prune", *repo],
            ["import", *repo],
            ["apply", "--auto-approve", *repo],
            ["schemas", "versions", "shop/orders/order-created", *repo],
        ):
            assert_no_bug(command, captured(*command))
        with closing(EmbeddedRegistry("local", database)) as registry:
            app = make_app(registry, HostNames("127.0.0.1"))
            assert _send(app, "GET", "/tenants/shop", b"") < 600


@settings(max_examples=EXAMPLES * 2)
@given(data=st.data())
def test_no_sample_makes_a_bug(planned: Path, data: st.DataObject) -> None:
    lines = [{"orderId": "a", "reason": "OTHER", "cancelledAt": 1, "comment": None}] * 2
    document = data.draw(wrong_documents(lines))
    header = data.draw(wrong_documents(OLD))
    with _folder() as folder:
        shutil.copytree(planned, folder / "repo")
        samples = folder / "repo" / "samples" / "shop" / "orders"
        rows = document if isinstance(document, list) else [document]
        text = "\n".join(map(one_line_of, rows))
        (samples / "order-cancelled.jsonl").write_text(text, encoding="utf-8")
        (samples / "order-created.avro").write_bytes(_avro_file(text_of(header)))
        command = ["replay", "--engine", "local", "--repo", folder / "repo"]
        assert_no_bug(command, captured(*command))


def _avro_file(schema: str) -> bytes:
    """A container file of this schema with one message, `{"id": "a", "count": 1}`."""
    sync, text = b"s" * 16, schema.encode("utf-8", "replace")
    body = b"\x02a\x02"
    header = b"Obj\x01" + _long(1) + _long(11) + b"avro.schema" + _long(len(text)) + text + _long(0)
    return header + sync + _long(1) + _long(len(body)) + body + sync


def _long(number: int) -> bytes:
    """A number that is not negative, as Avro writes it."""
    left, parts = number << 1, bytearray()
    while left > 0x7F:
        parts.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*parts, left])
