"""The registry against a table of answers: what is asked for, and what makes it give up."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from werkzeug import Request, Response

from gitops.model.errors import (
    OutsideError,
    RegistryRefusedError,
    UnknownOutcomeError,
    UsageError,
)
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    BrokerSettings,
    PolicyChange,
    SchemaCompatibilityStrategy,
    TopicPolicies,
)
from gitops.model.schema import SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, Scope, TopicState
from gitops.ports import UnreadableTopicsError
from gitops.registries.pulsar.registry import PulsarRegistry, open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from tests.support.pulsar_client import open_test_registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_httpserver import HTTPServer

NAMESPACE = NamespaceName("shop", "orders")
TOPIC = TopicName.of(NAMESPACE, "created")
FULL = SchemaCompatibilityStrategy.FULL
VERSION = {"version": 0, "type": "STRING", "timestamp": 1, "data": "", "properties": {}}
POLICY_TOPICS = "org.apache.pulsar.broker.service.SystemTopicBasedTopicPoliciesService"
SWITCHES = {"systemTopicEnabled": "true", "topicLevelPoliciesEnabled": "true"}
NEVER = {
    "numberOfEntries": 0,
    "lastConfirmedEntry": "4:-1",
    "compactedLedger": {"ledgerId": -1, "entries": -1},
    "cursors": {"__compaction": {"properties": {}}},
}
"""The statistics of a topic to which nobody has written, as Pulsar 4.0.7 answers them."""


class FakeCluster:
    """Answers by path, and counts what is asked for; a path that it does not know is 404."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("")
        self.asked: Counter[str] = Counter()
        self.answers: dict[str, object] = {}
        server.expect_request(re.compile("/admin/v2/.*")).respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        query = f"?{request.query_string.decode()}" if request.query_string else ""
        path = request.path.removeprefix("/admin/v2/") + query
        self.asked[path] += 1
        found = self.answers.get(path, Response('{"reason":"not found"}', status=404))
        return found if isinstance(found, Response) else Response(json.dumps(found))

    def has_topic(self, topic: TopicName, *versions: object) -> None:
        """A schema history."""
        path = f"schemas/{topic.namespace}/{topic.local_name}"
        self.answers[f"{path}/schemas"] = {"getSchemaResponses": list(versions)}
        self.answers[f"{path}/metadata"] = Response(b"")

    def lists(self, *names: str) -> None:
        """The topics of the namespace."""
        for domain in ("persistent", "non-persistent"):
            self.answers[f"{domain}/{NAMESPACE}"] = [n for n in names if n.startswith(domain)]
            self.answers[f"{domain}/{NAMESPACE}/partitioned"] = []


@pytest.fixture
def cluster(httpserver: HTTPServer) -> Iterator[FakeCluster]:
    yield FakeCluster(httpserver)
    for thread in threading.enumerate():
        if thread.name.startswith("pulsar-read"):  # nobody waits for it where another one failed
            thread.join()


@pytest.fixture
def registry(cluster: FakeCluster) -> PulsarRegistry:
    return open_test_registry(cluster.url)


def test_it_tells_its_name_and_address(cluster: FakeCluster) -> None:
    defaults = BrokerSettings(is_schema_validation_enforced=True)
    registry = open_test_registry(cluster.url, broker=defaults)
    assert (registry.name, registry.address) == ("test", cluster.url.rstrip("/"))
    assert registry.broker == defaults


def test_the_url_may_be_a_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TEST_ADMIN_URL", "https://broker.example")
    registry = open_registry("prod", PulsarConfig(url="${TEST_ADMIN_URL}"), tmp_path)
    assert registry.address == "https://broker.example:443"


def test_a_variable_that_is_not_set_names_the_registry(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="TEST_NO_SUCH_URL") as error:
        open_registry("prod", PulsarConfig(url="${TEST_NO_SUCH_URL}"), tmp_path)
    assert "prod" in error.value.where


# ---------------------------------------------------------------------------- observe


def test_a_broker_without_metadata_has_no_number_for_a_topic_without_versions(
    cluster: FakeCluster, registry: PulsarRegistry
) -> None:
    """Pulsar 3.0.7 has no such path."""
    cluster.has_topic(TOPIC)
    del cluster.answers[f"schemas/{TOPIC.namespace}/{TOPIC.local_name}/metadata"]

    found = registry.observe(Scope(topics=frozenset({TOPIC}))).topics[TOPIC]

    assert found.history == SchemaHistory()


@pytest.mark.slow
def test_a_few_topics_are_asked_one_by_one(cluster: FakeCluster, registry: PulsarRegistry) -> None:
    cluster.has_topic(TOPIC, VERSION)
    cluster.answers[f"persistent/{TOPIC}/schemaCompatibilityStrategy"] = "FULL"
    cluster.answers[f"persistent/{TOPIC}/schemaValidationEnforced"] = False
    state = registry.observe(Scope(topics=frozenset({TOPIC}))).topics[TOPIC]
    assert state.policies == TopicPolicies(schema_compatibility_strategy=FULL)
    assert state.history.next_version == 1
    assert sorted(cluster.asked) == [
        "brokers",
        "brokers/configuration/runtime",
        "brokers/version",
        f"persistent/{TOPIC}/schemaCompatibilityStrategy",
        f"persistent/{TOPIC}/schemaValidationEnforced",
        f"schemas/{TOPIC}/schemas",
    ]


@pytest.mark.slow
def test_topics_that_do_not_exist_cost_one_request_each(
    cluster: FakeCluster, registry: PulsarRegistry
) -> None:
    topics = [TopicName.of(NAMESPACE, f"t{number}") for number in range(20)]
    for topic in topics:
        cluster.has_topic(topic, VERSION)
    cluster.lists()
    found = registry.observe(Scope(topics=frozenset(topics))).topics
    assert list(found) == sorted(topics)
    assert cluster.asked.total() == 20 + 4
    assert max(cluster.asked.values()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stats", "configuration", "spared"),
    [
        ({}, {}, True),
        ({}, {"topicPoliciesServiceClassName": POLICY_TOPICS}, True),
        ({}, {"topicPoliciesServiceClassName": "org.apache.Metadata"}, False),
        ({}, {"topicLevelPoliciesEnabled": "false"}, False),
        ({}, {"systemTopicEnabled": None}, False),
        ({"numberOfEntries": 1}, {}, False),
        ({"lastConfirmedEntry": "4:2"}, {}, False),
        ({"compactedLedger": {"ledgerId": 9}}, {}, False),
        ({"cursors": {"__compaction": {"properties": {"CompactedTopicLedger": 9}}}}, {}, False),
        ({"cursors": None}, {}, False),
        (None, {}, False),
    ],
)
def test_settled_topics_of_a_namespace_without_topic_policies_cost_one_request_each(
    cluster: FakeCluster,
    registry: PulsarRegistry,
    stats: dict[str, object] | None,
    configuration: dict[str, str],
    spared: bool,  # noqa: FBT001 - a table's column
) -> None:
    topics = [TopicName.of(NAMESPACE, f"t{number}") for number in range(20)]
    for topic in topics:
        cluster.has_topic(topic, VERSION)
        cluster.answers[f"persistent/{topic}/schemaCompatibilityStrategy"] = Response(b"")
        cluster.answers[f"persistent/{topic}/schemaValidationEnforced"] = False
    cluster.lists(*(f"persistent://{topic}" for topic in topics))
    cluster.answers["brokers/configuration/runtime"] = {**SWITCHES, **configuration}
    if stats is not None:
        path = f"persistent/{NAMESPACE}/__change_events/internalStats"
        cluster.answers[path] = {**NEVER, **stats}
    info = SchemaInfo(type=SchemaType.STRING)

    scope = Scope(topics=frozenset(topics), settled=dict.fromkeys(topics, info))
    found = registry.observe(scope).topics

    assert {topic: state.policies for topic, state in found.items()} == dict.fromkeys(
        topics, TopicPolicies()
    )
    asked = Counter(path.rpartition("/")[2] for path in cluster.asked.elements())
    assert asked["schemas"] == 20
    assert asked["schemaCompatibilityStrategy"] == (0 if spared else 20)
    assert asked["schemaValidationEnforced"] == (0 if spared else 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        Response('{"reason":"Topic … not found"}', status=404),
        Response('{"reason":"Topic level policies is disabled, …"}', status=405),
    ],
    ids=["no topic", "disabled"],
)
def test_without_topic_policies_there_are_none(
    cluster: FakeCluster, registry: PulsarRegistry, answer: Response
) -> None:
    cluster.has_topic(TOPIC)
    cluster.answers[f"persistent/{TOPIC}/schemaCompatibilityStrategy"] = answer
    found = registry.observe(Scope(topics=frozenset({TOPIC}))).topics
    assert found == {TOPIC: TopicState(topic=TOPIC, exists=False)}
    assert f"persistent/{TOPIC}/schemaValidationEnforced" not in cluster.asked


@pytest.mark.slow
def test_false_counts_where_the_broker_enforces_validation(cluster: FakeCluster) -> None:
    defaults = BrokerSettings(is_schema_validation_enforced=True)
    registry = open_test_registry(cluster.url, broker=defaults)
    cluster.has_topic(TOPIC)
    path = f"persistent/{TOPIC}/schemaValidationEnforced"
    cluster.answers[f"persistent/{TOPIC}/schemaCompatibilityStrategy"] = Response(b"")
    cluster.answers[path] = False
    found = []
    for applied in (True, False):
        cluster.answers[f"{path}?applied=true"] = applied
        state = registry.observe(Scope(topics=frozenset({TOPIC}))).topics[TOPIC]
        found.append(state.policies.schema_validation_enforced)
    assert found == [None, False]


def test_a_tenant_that_may_not_be_listed_is_taken_to_exist(
    cluster: FakeCluster, registry: PulsarRegistry
) -> None:
    cluster.answers["namespaces/shop"] = Response('{"reason":"Unauthorized to …"}', status=401)
    state = registry.observe(Scope(namespaces=frozenset({NAMESPACE})))
    assert state.namespaces[NAMESPACE] == NamespaceState(namespace=NAMESPACE, exists=False)


@pytest.mark.slow
def test_one_bad_answer_of_many_ends_it(cluster: FakeCluster) -> None:
    # One thread, so that no request of this test reaches the server during the next one.
    registry = open_test_registry(cluster.url, concurrency=1)
    topics = [TopicName.of(NAMESPACE, f"t{number}") for number in range(20)]
    for topic in topics:
        cluster.has_topic(topic, VERSION)
    cluster.lists()
    cluster.answers[f"schemas/{topics[7]}/schemas"] = {"getSchemaResponses": [{"version": 1}]}
    with pytest.raises(OutsideError, match="getSchemaResponses/0/type") as error:
        registry.observe(Scope(topics=frozenset(topics)))
    assert str(topics[7]) in error.value.where


def test_a_page_instead_of_json_is_no_success(
    cluster: FakeCluster, registry: PulsarRegistry
) -> None:
    cluster.answers[f"schemas/{TOPIC}/schemas"] = Response("<html>Sign in</html>")
    with pytest.raises(OutsideError, match="not a list of schema versions") as error:
        registry.observe(Scope(topics=frozenset({TOPIC})))
    assert "proxy" in error.value.hint


@pytest.mark.slow
def test_progress_covers_namespaces_and_topics(
    cluster: FakeCluster, registry: PulsarRegistry
) -> None:
    cluster.has_topic(TOPIC)
    seen: list[tuple[str, int, int]] = []
    scope = Scope(namespaces=frozenset({NAMESPACE}), topics=frozenset({TOPIC}))
    registry.observe(scope, lambda what, done, total: seen.append((what, done, total)))
    assert seen == [("reading policies", 1, 2), ("reading schemas", 2, 2)]


# ---------------------------------------------------------------------------- lists


@pytest.mark.slow
def test_namespaces_of_all_tenants_are_sorted(
    cluster: FakeCluster, registry: PulsarRegistry
) -> None:
    cluster.answers["tenants"] = ["shop", "pulsar", "a"]
    cluster.answers["namespaces/shop"] = ["shop/z", "shop/b"]
    cluster.answers["namespaces/pulsar"] = ["pulsar/system"]
    cluster.answers["namespaces/a"] = ["a/z"]
    assert [str(name) for name in registry.list_namespaces()] == ["a/z", "shop/b", "shop/z"]


@pytest.mark.slow
def test_a_list_with_a_name_that_is_none_fails_closed(
    cluster: FakeCluster, registry: PulsarRegistry
) -> None:
    cluster.answers["tenants"] = ["shop"]
    cluster.answers["namespaces/shop"] = ["shop/or ders"]
    with pytest.raises(OutsideError, match="or ders"):
        registry.list_namespaces()


@pytest.mark.slow
def test_all_lists_are_needed(cluster: FakeCluster, registry: PulsarRegistry) -> None:
    cluster.lists("persistent://shop/orders/b", "non-persistent://shop/orders/a")
    found = [str(topic) for topic in registry.list_topics(NAMESPACE)]
    assert found == ["non-persistent://shop/orders/a", "shop/orders/b"]
    del cluster.answers[f"non-persistent/{NAMESPACE}/partitioned"]
    with pytest.raises(RegistryRefusedError):
        registry.list_topics(NAMESPACE)


@pytest.mark.slow
def test_a_scalable_topic_is_listed_as_the_topic_that_has_its_schemas(
    cluster: FakeCluster, registry: PulsarRegistry
) -> None:
    cluster.lists("persistent://shop/orders/b")
    cluster.answers[f"scalable/{NAMESPACE}"] = ["topic://shop/orders/b", "topic://shop/orders/c"]
    assert [str(topic) for topic in registry.list_topics(NAMESPACE)] == [
        "shop/orders/b",
        "shop/orders/c",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_a_cluster_without_scalable_topics_lists_the_others(
    cluster: FakeCluster, registry: PulsarRegistry, status: int
) -> None:
    cluster.lists("persistent://shop/orders/b")
    cluster.answers[f"scalable/{NAMESPACE}"] = Response("no", status=status)
    assert [str(topic) for topic in registry.list_topics(NAMESPACE)] == ["shop/orders/b"]


# ---------------------------------------------------------------------------- writes


@pytest.mark.parametrize("body", ["", "{}", '{"version":3}', '{"version":{"version":"3"}}', "ok"])
def test_a_success_without_a_version_is_none(
    cluster: FakeCluster, registry: PulsarRegistry, body: str
) -> None:
    cluster.answers[f"schemas/{TOPIC}/schema"] = Response(body)
    with pytest.raises(UnknownOutcomeError, match="not a schema version"):
        registry.register_schema(TOPIC, SchemaInfo(type=SchemaType.STRING))


def test_policies_are_set_in_order_and_stop_at_a_refusal(
    cluster: FakeCluster, registry: PulsarRegistry
) -> None:
    cluster.answers[f"namespaces/{NAMESPACE}/schemaCompatibilityStrategy"] = Response(status=204)
    changes = [
        PolicyChange(key="schemaCompatibilityStrategy", before=None, after=FULL),
        PolicyChange(key="isAllowAutoUpdateSchema", before=None, after=True),
        PolicyChange(key="schemaValidationEnforced", before=None, after=True),
    ]
    with pytest.raises(RegistryRefusedError, match="not found"):
        registry.set_policies(NAMESPACE, changes)
    assert sorted(cluster.asked) == [
        f"namespaces/{NAMESPACE}/isAllowAutoUpdateSchema",
        f"namespaces/{NAMESPACE}/schemaCompatibilityStrategy",
    ]


@pytest.mark.slow
def test_a_topic_on_which_the_broker_fails_stops_no_other(
    cluster: FakeCluster, registry: PulsarRegistry
) -> None:
    broken = TopicName.of(NAMESPACE, "broken")
    cluster.has_topic(TOPIC, VERSION)
    failed = Response('{"reason":"no schema type 22"}', status=500)
    cluster.answers[f"schemas/{NAMESPACE}/broken/schemas"] = failed

    with pytest.raises(UnreadableTopicsError, match="no schema type 22") as caught:
        registry.observe(Scope(topics=frozenset({TOPIC, broken})))

    assert caught.value.state.topics[TOPIC].history.entries
    assert caught.value.reasons == {broken: "the registry answered 500: no schema type 22"}
    assert caught.value.exit_code == 4


def test_a_cluster_that_is_gone_is_no_empty_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with (
        closing(open_test_registry(f"http://127.0.0.1:{port}")) as registry,
        pytest.raises(OutsideError, match="no answer from the registry"),
    ):
        registry.observe(Scope())
