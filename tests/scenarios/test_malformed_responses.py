"""Values of the wrong type in what comes over the network, as in `test_wrong_values`."""

from __future__ import annotations

import json
import re
from contextlib import closing
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug import Request, Response

from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.app import make_app
from gitops.registries.server.host_guard import HostNames
from tests.support.asgi import send
from tests.support.command_line import captured
from tests.support.whole_documents import DEFINITIONS, HEAD, OLD, PLAIN, WHOLE, payload
from tests.support.wrong_values import (
    EXAMPLES,
    Document,
    Embedded,
    assert_no_bug,
    folder,
    text_of,
    wrong_documents,
)

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer


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
        f"/schemas/t/n/{kind.lower()}/{what}": ("POST", payload(kind, new))
        for kind, (_, new) in DEFINITIONS.items()
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
        folder() as root,
        closing(EmbeddedRegistry("local", root / "registry.db")) as registry,
    ):
        app = make_app(registry, HostNames("127.0.0.1"))
        tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
        assert send(app, "PUT", "/tenants/t", json.dumps(tenant).encode()) == 204
        assert send(app, "PUT", "/namespaces/t/n", b"{}") == 204
        assert send(app, "PUT", "/persistent/t/n/a", b"") in (204, 415)
        good = text_of(body).encode()
        for each in (good, wrong, good):
            assert send(app, method, path, each) < 600
        for asked in ("schema", "schemas", "metadata"):
            kind = path.split("/")[-2]
            assert send(app, "GET", f"/schemas/t/n/{kind}/{asked}", b"") < 600
    assert not [each for each in caplog.records if each.exc_info], wrong


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
    with folder() as root:
        (root / "gitops.yaml").write_text(text_of(settings_))
        orders = root / "namespaces" / "shop" / "orders"
        orders.mkdir(parents=True)
        (orders / "a.yaml").write_text(text_of(manifest))
        repo = ["--repo", root]
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
    with folder() as root:
        config = {**HEAD, "kind": "Config", "registries": {"live": live}}
        (root / "gitops.yaml").write_text(text_of(config))
        (root / "key.json").write_text(texts["key.json"], encoding="utf-8")
        command = ["policies", "get", "shop/orders", "--repo", root]
        assert_no_bug(command, captured(*command))
