"""A cluster of a release that nobody has a profile of, through the whole of commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

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


def a_cluster(server: HTTPServer, release: str) -> str:
    """The URL of a cluster with one empty topic that is of this release."""

    def answer(request: Request) -> Response:
        if request.path.endswith("/brokers/version"):
            return Response(release)
        found = [body for path, body in EMPTY.items() if re.search(path, request.path)]
        return Response(found[0]) if found else Response('{"reason": "no"}', status=404)

    server.expect_request(re.compile("/admin/v2/.*")).respond_with_handler(answer)
    return server.url_for("").rstrip("/")


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
