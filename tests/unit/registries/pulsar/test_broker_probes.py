"""What a namespace shows of its broker where the role may not read the configuration."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from werkzeug import Request, Response

from gitops.model.broker_settings import assumed_settings, seen_settings
from gitops.model.names import NamespaceName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.policy import SettingSource
from gitops.model.state import Scope
from gitops.reports.broker_wording import broker_lines
from tests.support.pulsar_client import open_test_registry

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer

    from gitops.model.policy import BrokerSettings

PLAIN = {
    "schema_compatibility_strategy": "UNDEFINED",
    "is_allow_auto_update_schema": True,
    "schema_validation_enforced": False,
}
OWN = {**PLAIN, "schema_compatibility_strategy": "BACKWARD", "schema_validation_enforced": True}
LEGACY = {**PLAIN, "schema_auto_update_compatibility_strategy": "Full"}
EXCEPTIONS = "org.apache.pulsar.broker.service.schema.exceptions."


class Cluster:
    """A cluster that does not show its configuration; it remembers what was asked."""

    def __init__(
        self, server: HTTPServer, release: str | None = "4.2.4", **namespaces: object
    ) -> None:
        self.release, self.namespaces = release, namespaces
        self.tests: dict[str, Response] = {}
        self.asked: list[str] = []
        self.url = server.url_for("")
        server.expect_request(re.compile("/admin/v2/.*")).respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        path = request.path.removeprefix("/admin/v2/")
        self.asked.append(f"{request.method} {path}")
        if path == "brokers/version":
            return Response(self.release, status=200 if self.release else 403)
        if path.endswith("/compatibility"):
            return self.tests.get(request.get_json()["type"], Response(status=401))
        if path.endswith("/schemaValidationEnforced") and request.args.get("applied") == "true":
            return Response("true")
        found = self.namespaces.get(path.removeprefix("namespaces/t/"))
        return Response(json.dumps(found)) if found else Response("{}", status=403)

    def broker(self, *names: str, given: str | None = None) -> BrokerSettings:
        """What is known once these namespaces were looked at; `given` is of gitops.yaml."""
        declared = assumed_settings({"release": SettingSource.GIVEN} if given else None)
        broker = replace(declared, release=given or declared.release)
        registry = open_test_registry(self.url, broker=broker)
        for name in names or self.namespaces:
            registry.observe(Scope(namespaces=frozenset({NamespaceName("t", name)})))
            assert registry.broker.release
        return registry.broker


def answered(strategy: str) -> Response:
    body = {"compatibility": True, "schemaCompatibilityStrategy": strategy}
    return Response(json.dumps(body), status=202)


def failed(exception: str) -> Response:
    reason = f"\n --- An error ---\n\nMessage: broken\n\nStacktrace:\n\n{exception}: broken\n"
    return Response(json.dumps({"reason": reason}), status=500, content_type="application/json")


@pytest.mark.slow
def test_a_namespace_shows_what_the_configuration_does_not(httpserver: HTTPServer) -> None:
    cluster = Cluster(httpserver, a=PLAIN)
    cluster.tests = {"STRING": answered("ALWAYS_COMPATIBLE"), "JSON": answered("ALWAYS_COMPATIBLE")}
    broker = cluster.broker()

    assert seen_settings(broker) == {
        "release": "4.2.4",
        "schema_compatibility_strategy": Strategy.ALWAYS_COMPATIBLE,
        "is_schema_validation_enforced": True,
        "schema_json_allow_legacy_jackson_format": True,
    }
    assert broker.source("schema_compatibility_strategy") is SettingSource.PROBED
    assert "default strategy ALWAYS_COMPATIBLE (probed)" in broker_lines(broker)[0]


@pytest.mark.slow
def test_what_is_refused_stays_assumed_and_is_asked_for_once(httpserver: HTTPServer) -> None:
    cluster = Cluster(httpserver, a=OWN, b=PLAIN, c=PLAIN)
    broker = cluster.broker()

    assert broker.source("schema_compatibility_strategy") is SettingSource.ASSUMED
    assert broker.source("schema_json_allow_legacy_jackson_format") is SettingSource.ASSUMED
    assert sum(one.startswith("POST") for one in cluster.asked) == 2
    assert "default strategy FULL (assumed)" in broker_lines(broker)[0]


@pytest.mark.slow
@pytest.mark.parametrize("policies", [PLAIN, OWN])
def test_a_broker_with_the_type_external_is_of_4_2_or_later(
    httpserver: HTTPServer, policies: object
) -> None:
    cluster = Cluster(httpserver, None, a=policies)
    cluster.tests = {"EXTERNAL": answered("FULL"), "JSON": answered("FULL")}

    broker = cluster.broker()

    assert (broker.release, broker.source("release")) == ("4.2", SettingSource.PROBED)
    assert broker.schema_json_allow_legacy_jackson_format  # which only this line is asked for
    assert broker_lines(broker)[0].startswith("broker: Pulsar 4.2 (probed), ")
    assert "they are of 4.1 or later" in broker_lines(broker)[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer", [failed("java.lang.IllegalArgumentException"), Response(status=403)]
)
def test_a_broker_that_does_not_accept_external_is_assumed_to_be_of_4_0(
    httpserver: HTTPServer, answer: Response
) -> None:
    cluster = Cluster(httpserver, None, a=PLAIN, b=PLAIN)
    cluster.tests = {"EXTERNAL": answer, "STRING": answered("FULL")}

    broker = cluster.broker()

    assert (broker.release, broker.source("release")) == ("4.0", SettingSource.ASSUMED)
    assert sum(one.startswith("POST") for one in cluster.asked) == 2


@pytest.mark.slow
@pytest.mark.parametrize("given", ["4.0", "3.0.7"])
def test_a_release_before_4_2_that_the_type_external_contradicts_is_a_conflict(
    httpserver: HTTPServer, given: str
) -> None:
    cluster = Cluster(httpserver, None, a=PLAIN)
    cluster.tests = {"EXTERNAL": answered("FULL"), "JSON": answered("FULL")}

    broker = cluster.broker(given=given)

    assert (broker.release, broker.source("release")) == ("4.2", SettingSource.PROBED)
    (conflict,) = broker.conflicts
    assert conflict.message == f"broker is 4.2 or later in the cluster, and {given} in gitops.yaml"


@pytest.mark.slow
def test_a_release_before_4_2_that_nothing_contradicts_stays(httpserver: HTTPServer) -> None:
    cluster = Cluster(httpserver, None, a=PLAIN)
    cluster.tests = {"EXTERNAL": failed("java.lang.IllegalArgumentException")}

    broker = cluster.broker(given="4.0")

    assert (broker.release, broker.source("release")) == ("4.0", SettingSource.GIVEN)
    assert broker.conflicts == ()


@pytest.mark.slow
def test_a_release_that_the_test_cannot_contradict_is_not_asked_for(
    httpserver: HTTPServer,
) -> None:
    cluster = Cluster(httpserver, None, a=PLAIN)
    cluster.tests = {"EXTERNAL": answered("FULL")}

    broker = cluster.broker(given="5.0")

    assert (broker.release, broker.source("release")) == ("5.0", SettingSource.GIVEN)
    assert broker.conflicts == ()


@pytest.mark.slow
@pytest.mark.parametrize("policies", [OWN, LEGACY])
def test_a_namespace_with_a_strategy_of_its_own_shows_nothing_of_the_broker_s(
    httpserver: HTTPServer, policies: object
) -> None:
    cluster = Cluster(httpserver, a=policies)
    cluster.tests = {"STRING": answered("BACKWARD")}

    assert cluster.broker().source("schema_compatibility_strategy") is SettingSource.ASSUMED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        (failed(f"{EXCEPTIONS}InvalidSchemaDataException"), False),
        (failed(f"{EXCEPTIONS}IncompatibleSchemaException"), True),  # by a transitive strategy
        (failed("java.lang.IllegalStateException"), None),
        (Response("<html>busy</html>", status=500), None),
        (Response(status=405), None),
    ],
)
def test_old_json_is_allowed_where_the_validator_accepts_it(
    httpserver: HTTPServer, answer: Response, allowed: object
) -> None:
    cluster = Cluster(httpserver, a=PLAIN)
    cluster.tests = {"JSON": answer}

    found = seen_settings(cluster.broker())

    assert found.get("schema_json_allow_legacy_jackson_format") is allowed


@pytest.mark.slow
@pytest.mark.parametrize("release", ["4.0.7", "a release", "6.1.0"])
def test_a_line_without_the_switch_is_not_asked_for_it(
    httpserver: HTTPServer, release: str
) -> None:
    cluster = Cluster(httpserver, release, a=PLAIN)
    cluster.tests = {"JSON": answered("FULL")}

    assert "schema_json_allow_legacy_jackson_format" not in seen_settings(cluster.broker())


@pytest.mark.slow
@pytest.mark.parametrize("body", ["{}", '{"schemaCompatibilityStrategy": "SIDEWAYS"}', "x"])
def test_an_answer_that_is_none_tells_nothing(httpserver: HTTPServer, body: str) -> None:
    cluster = Cluster(httpserver, a=PLAIN)
    cluster.tests = {"STRING": Response(body, status=202)}

    assert cluster.broker().source("schema_compatibility_strategy") is SettingSource.ASSUMED
