"""Clusters of releases without a profile, and of several, through the whole of commands."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import pytest
from werkzeug import Request, Response

from tests.support.command_line import captured as run
from tests.support.git_repos import GitRepository

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer

FOLDER: Final = "namespaces/shop/orders"
TOPIC: Final = "apiVersion: pulsar-gitops/v1\nkind: Topic\ntopic: status\nschema: {type: STRING}\n"
NAMESPACE: Final = "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
EMPTY: Final = {
    r"/namespaces/shop/orders$": '{"schema_validation_enforced": false}',
    r"/namespaces/shop$": '["shop/orders"]',
    r"/tenants$": '["shop"]',
    r"/(non-)?persistent/shop/orders(/partitioned)?$": '["persistent://shop/orders/status"]',
    r"/schemas/.*/schemas$": '{"getSchemaResponses": []}',
    r"/schemas/.*/metadata$": "",
    r"/schemaCompatibilityStrategy$": "",
    r"/schemaValidationEnforced$": "false",
}
"""What a cluster with one empty topic answers, by path."""


def a_cluster(server: HTTPServer, *releases: str, answers: Mapping[str, str] = EMPTY) -> None:
    """A cluster with one topic; each of its brokers is of one of these releases."""
    told = itertools.cycle(releases)
    host = urlsplit(server.url_for("")).netloc
    names = [host, host.replace("localhost", "127.0.0.1")][: len(releases)]

    def answer(request: Request) -> Response:
        if request.path.endswith("/brokers/version"):
            return Response(next(told))
        if request.path.endswith("/brokers"):
            return Response(json.dumps(names))
        found = [body for path, body in answers.items() if re.search(path, request.path)]
        return Response(found[0]) if found else Response('{"reason": "no"}', status=404)

    server.expect_request(re.compile("/admin/v2/.*")).respond_with_handler(answer)


@pytest.fixture
def repository(tmp_path: Path, httpserver: HTTPServer) -> Path:
    """A new topic that is not committed, and a registry where the stand-in listens."""
    repo = GitRepository(tmp_path / "schemas")
    config = (
        "apiVersion: pulsar-gitops/v1\nkind: Config\nregistries:\n  live:\n    kind: pulsar\n"
        f"    url: {httpserver.url_for('').rstrip('/')}\n"
    )
    repo.commit({"gitops.yaml": config, f"{FOLDER}/namespace.yaml": NAMESPACE})
    repo.write({f"{FOLDER}/status.yaml": TOPIC})
    return repo.root


COMMANDS: Final = {
    "plan": ["plan"],
    "apply": ["apply", "--auto-approve"],
    "check": ["check", "--base", "main"],
    "rollout": ["rollout"],
    "connect": ["connect", "producer", "shop/orders/status", "STRING"],
    "audit": ["audit"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("release", "near"), [("6.1.0", "5.0"), ("2.10.4", "3.0")])
def test_a_release_without_a_profile_is_an_error_that_names_the_nearest(
    repository: Path, httpserver: HTTPServer, command: str, release: str, near: str
) -> None:
    a_cluster(httpserver, release)

    found = run(*COMMANDS[command], "--repo", repository)

    assert found.code == 2, found.out
    assert f"there is no profile of Pulsar {release}" in found.err
    option = "--broker" if command == "audit" else "--as-if-broker"
    assert f"{option} {near}" in found.err
    assert not [one for one, _ in httpserver.log if one.method not in {"GET", "POST"}]
    assert not [one for one, _ in httpserver.log if one.path.endswith("/schema")]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_option_decides_then(repository: Path, httpserver: HTTPServer, command: str) -> None:
    a_cluster(httpserver, "6.1.0")
    option = "--broker" if command == "audit" else "--as-if-broker"
    words = ["plan"] if command == "apply" else COMMANDS[command]  # a reviewed plan has its broker

    found = run(*words, option, "5.0", "--repo", repository)

    assert found.code == 0, found.out + found.err


def test_what_a_vendor_puts_behind_the_numbers_does_not_count(
    repository: Path, httpserver: HTTPServer
) -> None:
    a_cluster(httpserver, "4.2.4+build5")

    found = run("plan", "--repo", repository)

    assert found.code == 0, found.err
    assert "Pulsar 4.2.4+build5 (learned)" in found.out


def test_a_plan_says_which_brokers_of_a_rolling_upgrade_answer_otherwise(
    repository: Path, httpserver: HTTPServer
) -> None:
    a_cluster(httpserver, "4.0.7", "4.2.4")
    record = {"type": "record", "name": "A", "namespace": "com.my-co", "fields": []}
    (repository / FOLDER / "order.avsc").write_text(json.dumps(record))
    (repository / FOLDER / "status.yaml").write_text(
        TOPIC.replace("{type: STRING}", "{type: AVRO, definition: order.avsc}")
    )

    found = run("plan", "--repo", repository)
    connected = run("connect", "producer", "shop/orders/status", "STRING", "--repo", repository)

    assert found.code == 0, found.err
    assert "Pulsar 4.0.7 (learned)" in found.out
    said = " ".join(found.out.split())
    assert "of 4.2.4, and such a broker refuses this schema, which one of 4.0.7 accepts" in said
    assert "brokers have different releases, 4.0.7, 4.2.4" in " ".join(connected.out.split())
    offer = ("shop/orders/status", str(repository / FOLDER / "order.avsc"), "--type", "AVRO")
    offered = run("connect", "producer", *offer, "--repo", repository)
    assert offered.code == 0, offered.err
    assert "of 4.2.4, and such a broker refuses a producer with" in " ".join(offered.out.split())
    ordered = run("rollout", "--repo", repository)
    assert "of 4.2.4, and by those the steps are others" in " ".join(ordered.out.split())


def test_an_audit_says_what_a_line_in_the_cluster_refuses_at_once(httpserver: HTTPServer) -> None:
    """Asked about 5.0, where brokers of 4.2 do not register the topic's schema today."""
    record = {"type": "record", "name": "A", "namespace": "com.my-co", "fields": []}
    schema = {
        "version": 0,
        "type": "AVRO",
        "timestamp": 0,
        "data": json.dumps(record),
        "properties": {},
    }
    history = json.dumps({"getSchemaResponses": [schema]})
    answers = {**EMPTY, r"/schemas/.*/schemas$": history}
    a_cluster(httpserver, "4.0.7", "4.2.4", answers=answers)

    found = run("audit", "--url", httpserver.url_for("").rstrip("/"), "--as-if-broker", "5.0")

    said = " ".join(found.out.split())
    assert found.code == 1, found.err
    assert "AUDIT-U001 error 'my-co' is not a name" in said
    assert said.count("on 4.0, at once, since the cluster has brokers of 4.2") == 2
    assert "before the first broker of 5.0" not in said
    assert "→ --as-if-broker 4.2 lists what those of that line answer otherwise" in said


def test_an_audit_goes_on_past_a_topic_that_the_broker_fails_on(httpserver: HTTPServer) -> None:
    topics = [f"persistent://shop/orders/{name}" for name in ("broken", "status")]
    failure = Response('{"reason": "no ledger"}', status=500)
    schema = {"version": 0, "type": "STRING", "timestamp": 0, "data": "", "properties": {}}
    answers = {
        r"/brokers/version$": Response("4.0.7"),
        r"/schemas/shop/orders/broken/": failure,
        r"/persistent/shop/orders$": Response(json.dumps(topics)),
        **{path: Response(body) for path, body in EMPTY.items()},
        r"/schemas/.*/schemas$": Response(json.dumps({"getSchemaResponses": [schema]})),
    }

    def answer(request: Request) -> Response:
        found = [each for path, each in answers.items() if re.search(path, request.path)]
        return found[0] if found else Response('{"reason": "no"}', status=404)

    httpserver.expect_request(re.compile("/admin/v2/.*")).respond_with_handler(answer)

    found = run("audit", "--url", httpserver.url_for("").rstrip("/"), "--format", "json")
    document = json.loads(found.out)

    assert found.code == 1, found.err
    failed = [one for one in document["findings"] if one["rule"] == "AUDIT-H008"]
    assert [one["subject"] for one in failed] == ["shop/orders/broken"]
    assert "no ledger" in failed[0]["message"]
    assert document["counts"] == {
        "namespaces": 1, "topics": 1, "versions": 1, "topicsThatLoseSomething": 0
    }  # fmt: skip
