"""Names in paths, and which of a cluster's names are people's own."""

from __future__ import annotations

import pytest

from gitops.model.errors import InvalidNameError
from gitops.model.names import NamespaceName, TopicName
from gitops.registries.pulsar.address import schema_path, topic_path, user_namespaces, user_topics


def test_a_topic_is_percent_encoded() -> None:
    topic = TopicName.parse("shop/orders/a bü?#%+")
    assert topic_path(topic) == "shop/orders/a%20b%C3%BC%3F%23%25%2B"
    assert schema_path(topic) == "schemas/shop/orders/a%2520b%25C3%25BC%253F%2523%2525%252B"


def test_namespaces_of_pulsar_itself_are_left_out() -> None:
    listed = [
        "shop/orders",
        "pulsar/system",
        "pulsar/10.0.0.1:8080",
        "pulsar/standalone/localhost:8080",
        "sla-monitor/standalone/localhost:8080",
        "old/cluster/namespace",
        "pulsar/own",
    ]
    assert user_namespaces(listed) == [
        NamespaceName("shop", "orders"),
        NamespaceName("pulsar", "own"),
    ]


def test_a_name_that_is_no_namespace_is_not_passed_over() -> None:
    with pytest.raises(InvalidNameError):
        user_namespaces(["shop/or ders"])


def test_topics_are_folded_and_system_topics_left_out() -> None:
    listed = [
        "persistent://a/b/plain",
        "persistent://a/b/parts-partition-0",
        "persistent://a/b/parts-partition-1",
        "persistent://a/b/parts",
        "non-persistent://a/b/plain",
        "persistent://a/b/__change_events",
        "persistent://a/b/__change_events-partition-0",
        "persistent://a/b/__transaction_buffer_snapshot",
        "persistent://a/b/__transaction_log_3",
        "persistent://a/b/plain-sub__transaction_pending_ack",
        "persistent://a/b/__own",
        "persistent://a/cluster/b/old",
        "nonsense",
    ]
    assert {str(topic) for topic in user_topics(listed)} == {
        "a/b/plain",
        "a/b/parts",
        "non-persistent://a/b/plain",
        "a/b/__own",
    }
