"""What is asked of a cluster before messages are read, against a table of answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from gitops.messaging.capture_client import Position
from gitops.model.errors import NotThereError, OutsideError, RegistryRefusedError, UsageError
from gitops.model.names import TopicName
from gitops.registries.pulsar.message_service import TopicMessages, messages_of
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from tests.support.fake_registry import FakeRegistry

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer

TOPIC: Final = TopicName.parse("shop/orders/created")
PATH: Final = "/admin/v2/persistent/shop/orders/created"
LOOKUP: Final = "/lookup/v2/topic/persistent/shop/orders/created"


def messages(
    server: HTTPServer, service_url: str | None = None, configured: str | None = None
) -> TopicMessages:
    config = PulsarConfig(url=server.url_for(""), service_url=configured)
    return messages_of(open_registry("test", config, Path()), Path(), service_url)


def answers(server: HTTPServer, path: str, body: object, status: int = 200) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    server.expect_request(path).respond_with_data(text, status, content_type="application/json")


@pytest.mark.slow
def test_a_topic_without_partitions_has_one_part(httpserver: HTTPServer) -> None:
    answers(httpserver, f"{PATH}/partitions", {"partitions": 0, "deleted": False})
    assert messages(httpserver).partitions(TOPIC) == (-1,)


@pytest.mark.slow
def test_partitions_are_numbered(httpserver: HTTPServer) -> None:
    answers(httpserver, f"{PATH}/partitions", {"partitions": 3})
    assert messages(httpserver).partitions(TOPIC) == (0, 1, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("partition", "body", "expected"),
    [
        (-1, {"ledgerId": 5, "entryId": 7, "batchIndex": 3}, Position(5, 7, 3)),
        (-1, {"ledgerId": 5, "entryId": 7}, Position(5, 7, -1)),
        (-1, {"ledgerId": -1, "entryId": -1}, None),
        (1, {"ledgerId": 8, "entryId": -1}, Position(8, -1, -1)),
    ],
)
def test_the_newest_message_is_a_position(
    httpserver: HTTPServer, partition: int, body: object, expected: Position | None
) -> None:
    suffix = "" if partition < 0 else f"-partition-{partition}"
    answers(httpserver, f"{PATH}{suffix}/lastMessageId", body)
    assert messages(httpserver).last_position(TOPIC, partition) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"ledgers": [{"ledgerId": 7}, {"ledgerId": 9}], "compactedLedger": {"ledgerId": 5}}, 7),
        ({"ledgers": [{"ledgerId": 7}], "compactedLedger": {"ledgerId": -1}}, None),
        ({"ledgers": [], "compactedLedger": {"ledgerId": 5}}, None),
        ({"ledgers": [{"ledgerId": 7}]}, None),
    ],
)
def test_a_compacted_partition_has_an_oldest_ledger(
    httpserver: HTTPServer, body: object, expected: int | None
) -> None:
    answers(httpserver, f"{PATH}-partition-1/internalStats", body)
    answers(httpserver, f"{PATH}-partition-2/internalStats", {"reason": "no"}, 404)
    assert messages(httpserver).trimmed_before(TOPIC, 1) == expected
    assert messages(httpserver).trimmed_before(TOPIC, 2) is None


@pytest.mark.slow
def test_a_partition_that_nobody_used_yet_is_empty_and_a_topic_is_missing(
    httpserver: HTTPServer,
) -> None:
    for suffix in ("", "-partition-0"):
        answers(httpserver, f"{PATH}{suffix}/lastMessageId", {"reason": "no"}, 404)
    assert messages(httpserver).last_position(TOPIC, 0) is None
    with pytest.raises(NotThereError, match="no such topic"):
        messages(httpserver).last_position(TOPIC, -1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"ledgerId": 5, "entryId": 7, "partitionIndex": -1}, Position(5, 7, -1)),
        ({"ledgerId": 5, "entryId": -1}, Position(5, 0, -1)),
        ({"ledgerId": -1, "entryId": -1}, None),
    ],
)
def test_the_first_message_since_a_moment_is_a_position(
    httpserver: HTTPServer, body: object, expected: Position | None
) -> None:
    answers(httpserver, f"{PATH}/messageid/1000", body)
    assert messages(httpserver).first_position(TOPIC, -1, 1000) == expected


@pytest.mark.slow
def test_the_broker_of_a_topic_is_looked_up(httpserver: HTTPServer) -> None:
    found = {"brokerUrl": "pulsar://b:6650", "brokerUrlTls": "pulsar+ssl://b:6651", "more": 1}
    answers(httpserver, LOOKUP, found)
    assert messages(httpserver).service(TOPIC).url == "pulsar://b:6650"


@pytest.mark.slow
def test_a_given_service_url_comes_first(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE", "pulsar://of-the-environment:6650")
    found = messages(httpserver, configured="${SERVICE}").service(TOPIC)
    assert found.url == "pulsar://of-the-environment:6650"
    found = messages(httpserver, "pulsar://given:6650", "${SERVICE}").service(TOPIC)
    assert found.url == "pulsar://given:6650"


@pytest.mark.slow
def test_a_broker_without_such_a_port_is_told(httpserver: HTTPServer) -> None:
    answers(httpserver, LOOKUP, {"brokerUrl": "", "brokerUrlTls": "pulsar+ssl://b:6651"})
    with pytest.raises(OutsideError, match="does not show a port without TLS") as told:
        messages(httpserver).service(TOPIC)
    assert "--service-url" in told.value.hint


@pytest.mark.slow
@pytest.mark.parametrize("body", ["<html>log in</html>", "[]", '{"partitions": -1}', '{"a": 1}'])
def test_an_answer_of_something_else_is_told(httpserver: HTTPServer, body: str) -> None:
    answers(httpserver, f"{PATH}/partitions", body)
    with pytest.raises(OutsideError, match="not a number of partitions"):
        messages(httpserver).partitions(TOPIC)


@pytest.mark.slow
def test_a_missing_permission_is_named(httpserver: HTTPServer) -> None:
    answers(httpserver, f"{PATH}/partitions", {"reason": "no"}, 403)
    with pytest.raises(RegistryRefusedError) as refused:
        messages(httpserver).partitions(TOPIC)
    assert refused.value.hint == "it needs the permission to consume the topic"


def test_a_registry_that_is_no_cluster_has_no_messages() -> None:
    with pytest.raises(UsageError, match="has no messages"):
        messages_of(FakeRegistry(), Path(), None)
