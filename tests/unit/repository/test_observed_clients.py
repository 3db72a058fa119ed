"""`snapshots/<registry>/clients.json`: written, read again, and validated."""

from __future__ import annotations

import json

import pytest

from gitops.model.clients import (
    ObservedClients,
    ObservedProducer,
    ObservedSubscription,
    ObservedTopic,
)
from gitops.repository.loader import load
from gitops.repository.observed_clients import clients_path, render_observed_clients
from gitops.repository.snapshots import require_snapshot
from tests.support.states import CREATED, ORDERS
from tests.support.trees import repository

PATH = "snapshots/local/clients.json"
HEAD = {"apiVersion": "pulsar-gitops/v1", "kind": "ClientsSnapshot"}
TOPIC = ObservedTopic(
    producers=(
        ObservedProducer(name="", client="Pulsar-CPP-v3.7.2"),
        ObservedProducer(name="\u202ewriter\n", client="Pulsar-Java-v4.0.7"),
    ),
    subscriptions=(
        ObservedSubscription(name="billing", type="Shared", clients=("a", "b"), backlog=1000),
        ObservedSubscription(name="reader-*", type="Exclusive", is_durable=False),
    ),
    left_out=2,
    messages={0: 12, 3: 48_000},
)


def _findings(content: str) -> list[tuple[str, str]]:
    found = load(repository({PATH: content})).findings
    return [(str(finding.location), finding.message) for finding in found]


def test_what_was_written_is_read_again() -> None:
    unread = {type(CREATED)(ORDERS, "hidden"): "no right"}
    content = render_observed_clients(ObservedClients(topics={CREATED: TOPIC}, unread=unread))

    loaded = load(repository({clients_path("local"): content}))

    assert not loaded.findings
    assert content.isascii()
    found = loaded.observed_clients["local"]
    assert found.topics == {CREATED: TOPIC}
    assert (found.unread.keys(), found.file) == (unread.keys(), PATH)


def test_the_order_of_what_a_broker_answers_does_not_count() -> None:
    turned = ObservedTopic(
        producers=TOPIC.producers[::-1],
        subscriptions=TOPIC.subscriptions[::-1],
        left_out=TOPIC.left_out,
        messages=dict(sorted(TOPIC.messages.items(), reverse=True)),
    )

    first = render_observed_clients(ObservedClients(topics={CREATED: TOPIC}))

    assert render_observed_clients(ObservedClients(topics={CREATED: turned})) == first


def test_a_topic_without_clients_is_left_out_unless_its_messages_were_captured() -> None:
    unused = ObservedClients(topics={CREATED: ObservedTopic()})
    assert json.loads(render_observed_clients(unused))["topics"] == []

    content = render_observed_clients(unused.with_messages({CREATED: {2: 7}}))

    found = load(repository({PATH: content})).observed_clients["local"]
    assert found.topics == {CREATED: ObservedTopic(messages={2: 7})}


@pytest.mark.parametrize(
    ("change", "place", "message"),
    [
        (
            {"topics": [{"topic": "shop/orders/a", "produces": []}]},
            "1:101",
            "unknown key 'produces'",
        ),
        ({"topics": [{"topic": "orders"}]}, "", "not a topic"),
        ({"topics": [], "clients": []}, "", "unknown key 'clients'"),
        ({"topics": {}}, "", "topics is not valid"),
        (
            {"topics": [{"topic": "a/b/c", "producers": [{"name": "n" * 201}]}]},
            "",
            "name is not valid",
        ),
        (
            {"topics": [{"topic": "a/b/c", "subscriptions": [{"name": "s", "type": "Odd"}]}]},
            "",
            "Odd",
        ),
    ],
)
def test_a_mistake_is_found_with_its_place(
    change: dict[str, object], place: str, message: str
) -> None:
    ((where, text),) = _findings(json.dumps({**HEAD, **change}))

    assert where.startswith(f"{PATH}:1:")
    assert place in where
    assert message in text


@pytest.mark.parametrize("content", ["", "[]", "[" * 100_000, '{"a": 1}', "null", "\udcff"])
def test_another_file_is_no_snapshot_and_is_passed_over(content: str) -> None:
    data = content.encode("utf-8", "surrogateescape")
    loaded = load(repository({PATH: data}))

    assert [finding.rule for finding in loaded.findings] == ["REPO-R024"]
    assert not loaded.observed_clients


def test_a_file_of_ours_may_be_overwritten() -> None:
    require_snapshot(PATH, json.dumps({**HEAD, "topics": 3}).encode())
