"""Fresh random cases over admin REST of brokers of other lines, each started for one test."""

from __future__ import annotations

import itertools
import json
import os
import re
import secrets
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.error import HTTPError

import pytest

from gitops.model.broker_settings import SettingValue, known_settings
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings, SchemaCompatibilityStrategy, SettingSource
from gitops.model.state import NamespaceState, Scope
from gitops.planning.plan import make_plan
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.pulsar.broker_probes import NamespaceProbes
from gitops.registries.server.server import serve_in_thread
from gitops.usecases.apply import apply
from tests.oracle.line_cases import LineCases
from tests.oracle.over_rest import AdminRest, is_for_rest, rest_differences
from tests.oracle.protobuf_native_cases import plain_native_case
from tests.support import pulsar_broker
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import BrokerUnavailableError
from tests.support.pulsar_client import open_test_client, open_test_registry
from tests.support.states import INT64, question, state, topic_state

_COUNT: Final = 150
_NAMESPACE: Final = NamespaceName("public", "default")
_SHOWN: Final = 2


@pytest.mark.broker
@pytest.mark.parametrize("release", ["4.2.4", "5.0.1"])
def test_random_cases_are_answered_as_a_broker_of_the_line_answers(
    release: str, tmp_path: Path
) -> None:
    seed = int(os.environ.get("ORACLE_SEED") or secrets.randbelow(10**9))
    cases = [case for case in itertools.islice(LineCases(seed), _COUNT) if is_for_rest(case)]
    registry = EmbeddedRegistry("local", tmp_path / "registry.db", BrokerSettings(release=release))
    settings = pulsar_broker.BrokerSettings(release=release)
    try:
        with (
            closing(registry),
            serve_in_thread(registry) as served_url,
            pulsar_broker.pulsar_broker(settings) as running,
            closing(AdminRest(served_url)) as served,
            closing(AdminRest(running.admin_url)) as broker,
        ):
            # Before the histories of all others: `plain_native_schema` has the reason.
            found = rest_differences([plain_native_case()], broker, served)
            found += rest_differences(cases, broker, served)
            shown = settings_shown(running.admin_url, release)
            registry.create_namespace(_NAMESPACE)  # which a standalone broker has
            assert releases_shown(running.admin_url) == {"4.2"}
            assert errors(served_url) == errors(running.admin_url)
            assert broker_count(served_url) == broker_count(running.admin_url) == 1
            if release == "5.0.1":
                assert_scalable_topic_is_managed(running.admin_url)
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker {release}: {reason}")

    lines = [one.line() for one in found[:_SHOWN]]
    assert not found, f"{len(found)} with ORACLE_SEED={seed}, for example:\n" + "\n".join(lines)
    assert len(cases) > _COUNT * 0.7
    # These are the broker's own: an administrator of a tenant is told so without its configuration.
    assert shown == {
        "schema_compatibility_strategy": SchemaCompatibilityStrategy.FULL,
        "is_schema_validation_enforced": False,
        "schema_json_allow_legacy_jackson_format": False,
    }


def errors(admin_url: str) -> list[tuple[str, str]]:
    """The reason phrases of errors, and the URIs of their pages with a name for the origin."""
    wrong = {"type": "AVRO", "schema": '{"type":"x"}', "properties": {}}
    asked: tuple[tuple[str, str, object], ...] = (
        ("POST", "schemas/public/default/t%2Bx/schema?a=<b>", wrong),
        ("POST", "schemas/public/default/plain/schema", wrong),
        ("GET", "nope/x?y=1", None),
        ("GET", "schemas/public/default/none/schema", None),
        ("GET", "schemas/public/default/none/schema/x", None),
        ("PUT", "namespaces/public/default", {}),
    )
    return [
        (phrase, uri.replace(admin_url, "ORIGIN"))
        for method, path, body in asked
        for phrase, uri in [_error(method, f"{admin_url}/admin/v2/{path}", body)]
    ]


def _error(method: str, url: str, body: object) -> tuple[str, str]:
    with pytest.raises(HTTPError) as raised:
        admin_request(method, url, body)
    with raised.value as answer:
        found = re.findall("<th>URI:</th><td>(.*?)</td>", answer.read().decode())
        return answer.reason, "".join(found)


def broker_count(admin_url: str) -> int:
    """How many brokers are active, of which the first has the address that was asked."""
    names = json.loads(admin_request("GET", f"{admin_url}/admin/v2/brokers"))
    for cluster in ("standalone", "any"):
        assert json.loads(admin_request("GET", f"{admin_url}/admin/v2/brokers/{cluster}")) == names
    assert names[0] == admin_url.removeprefix("http://")
    return len(names)


def settings_shown(admin_url: str, release: str) -> dict[str, SettingValue]:
    """What a namespace shows of the broker's settings."""
    known = known_settings({"release": release}, SettingSource.LEARNED)
    return _probed(admin_url, _NAMESPACE, known)


def releases_shown(admin_url: str) -> set[SettingValue]:
    """What namespaces of each strategy show of a release that nobody knows."""
    shown: set[SettingValue] = set()
    for strategy in SchemaCompatibilityStrategy:
        name = NamespaceName("public", strategy.value)
        url = f"{admin_url}/admin/v2/namespaces/{name}"
        admin_request("PUT", url, {"schema_compatibility_strategy": strategy.value})
        shown.add(_probed(admin_url, name, BrokerSettings()).get("release"))
    return shown


def _probed(
    admin_url: str, namespace: NamespaceName, known: BrokerSettings
) -> dict[str, SettingValue]:
    with closing(open_test_client(admin_url)) as client:
        probes = NamespaceProbes(client)
        probes.add([NamespaceState(namespace=namespace)])
        return probes.ask(known)


@pytest.mark.broker
def test_a_broker_of_4_0_shows_no_release(
    pulsar_admin_url: str, pulsar_namespace: NamespaceName
) -> None:
    shown = _probed(pulsar_admin_url, pulsar_namespace, BrokerSettings())

    assert "schema_compatibility_strategy" in shown
    assert "release" not in shown


def assert_scalable_topic_is_managed(admin_url: str) -> None:
    """`topic://…` is in the list of topics, and a plan registers its schema."""
    topic = TopicName.parse("topic://public/default/scaled")
    admin_request("PUT", f"{admin_url}/admin/v2/scalable/{topic}")
    with closing(open_test_registry(admin_url)) as registry:
        assert topic in registry.list_topics(topic.namespace)
        scope = Scope(namespaces=frozenset({topic.namespace}), topics=frozenset({topic}))
        desired = state(topic_state(topic, INT64))
        plan = make_plan(question(desired, registry.observe(scope)))
        assert len(apply(plan, registry)) == 1
        found = registry.observe(scope).topics[topic]
    assert [entry.info.type for entry in found.history.entries] == [INT64.type]
    assert not found.exists  # it has no policies of its own
