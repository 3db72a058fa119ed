"""Which requests tell the policies of many topics: their namespace may show that there are none."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.error import HTTPError

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange, SchemaCompatibilityStrategy, TopicPolicies
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Scope, TopicState
from gitops.registries.pulsar.admin_client import AdminClient
from tests.support.admin_rest import admin_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitops.ports import Registry
    from gitops.registries.pulsar.error_responses import Answer

pytestmark = pytest.mark.broker

FULL: Final = SchemaCompatibilityStrategy.FULL
INFO: Final = SchemaInfo(type=SchemaType.STRING)
TOPICS: Final = 6


@pytest.fixture
def topics(pulsar_admin_url: str, pulsar_namespace: NamespaceName) -> list[TopicName]:
    """Plain ones, a partitioned one, and one that is not persistent."""
    for number in range(TOPICS - 2):
        _put(pulsar_admin_url, f"persistent/{pulsar_namespace}/t{number}")
    for domain, name in (("persistent", "t4"), ("non-persistent", "t5")):
        _put(pulsar_admin_url, f"{domain}/{pulsar_namespace}/{name}/partitions", 2)
    plain = [TopicName.of(pulsar_namespace, f"t{number}") for number in range(TOPICS - 1)]
    topics = [*plain, TopicName.of(pulsar_namespace, "t5", "non-persistent")]
    body = {"type": "STRING", "schema": "", "properties": {}}
    for topic in topics:
        path = f"schemas/{pulsar_namespace}/{topic.local_name}/schema"
        admin_request("POST", f"{pulsar_admin_url}/admin/v2/{path}", body)
    return topics


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of all requests."""
    paths: list[str] = []
    get = AdminClient.get

    def counted(self: AdminClient, path: str) -> Answer:
        paths.append(path)
        return get(self, path)

    monkeypatch.setattr(AdminClient, "get", counted)
    return paths


def _put(url: str, path: str, body: object = None) -> None:
    admin_request("PUT", f"{url}/admin/v2/{path}", body)


def _read(registry: Registry, topics: list[TopicName]) -> dict[TopicName, TopicState]:
    """As a plan without changes reads them."""
    scope = Scope(topics=frozenset(topics), settled=dict.fromkeys(topics, INFO))
    return dict(registry.observe(scope).topics)


def _set(registry: Registry, topic: TopicName, after: SchemaCompatibilityStrategy | None) -> None:
    key = "schemaCompatibilityStrategy"
    registry.set_policies(topic, [PolicyChange(key=key, before=None, after=after)])


def _wait(holds: Callable[[], bool]) -> None:
    """A broker hears of a topic's policies a moment later: it is asked again until then."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end, "it takes too long"


def test_while_no_topic_ever_had_policies_none_is_asked(
    registry: Registry, topics: list[TopicName], asked: list[str]
) -> None:
    found = _read(registry, topics)

    assert {topic: state.policies for topic, state in found.items()} == dict.fromkeys(
        topics, TopicPolicies()
    )
    assert all(state.exists for state in found.values())
    policies = [path for path in asked if path.endswith("schemaCompatibilityStrategy")]
    assert policies == [f"non-persistent/{topics[-1].namespace}/t5/schemaCompatibilityStrategy"]
    assert found == {topic: _read(registry, [topic])[topic] for topic in topics}


def test_what_is_decided_rests_on_no_guess(
    registry: Registry, topics: list[TopicName], pulsar_admin_url: str
) -> None:
    """Brokers keep to the policies of a topic that somebody deleted, until they load them again."""
    topic = topics[2]
    expected = TopicPolicies(schema_compatibility_strategy=FULL)
    _set(registry, topic, FULL)
    _wait(lambda: _read(registry, topics)[topic].policies == expected)
    deleted = f"persistent/{topic.namespace}/__change_events?force=true"
    admin_request("DELETE", f"{pulsar_admin_url}/admin/v2/{deleted}")

    changed = SchemaInfo(type=SchemaType.INT32)
    wanted = {each: changed if each == topic else INFO for each in topics}
    scopes = (
        Scope(topics=frozenset(topics)),
        Scope(topics=frozenset(topics), settled=wanted),
    )
    found = [registry.observe(scope).topics[topic].policies for scope in scopes]

    assert found[0] == found[1]


def test_a_policy_is_seen_whatever_became_of_the_message_that_set_it(
    registry: Registry, topics: list[TopicName], pulsar_admin_url: str
) -> None:
    namespace, topic = topics[0].namespace, topics[2]
    expected = TopicPolicies(schema_compatibility_strategy=FULL)

    def is_seen() -> bool:
        return _read(registry, topics)[topic].policies == expected

    _set(registry, topic, FULL)
    _wait(is_seen)
    stats = f"{pulsar_admin_url}/admin/v2/persistent/{namespace}/__change_events/compaction"
    with suppress(HTTPError):  # 409: the broker has begun a compaction itself
        admin_request("PUT", stats)
    _wait(lambda: b"SUCCESS" in admin_request("GET", stats))
    for _ in range(3):  # each leaves an empty ledger behind, and the first one is deleted
        _put(pulsar_admin_url, f"namespaces/{namespace}/unload")
        _wait(is_seen)

    _set(registry, topic, None)
    _wait(lambda: _read(registry, topics)[topic].policies == TopicPolicies())
