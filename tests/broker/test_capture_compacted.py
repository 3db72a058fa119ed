"""A capture of a compacted topic whose older messages the broker has deleted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitops.model.names import NamespaceName, TopicName
from tests.support.admin_rest import admin_request
from tests.support.capture_topics import keep_messages, pulsar_client, rows_of
from tests.support.command_line import captured
from tests.support.pulsar_broker import RunningBroker

pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
pytestmark = pytest.mark.broker


@pytest.mark.slow
@pytest.mark.parametrize("more", [4, 0])
def test_of_a_compacted_topic_whose_originals_are_gone_the_latest_of_each_key_are_captured(
    pulsar: RunningBroker, pulsar_namespace: NamespaceName, tmp_path: Path, more: int
) -> None:
    """Then what came since, all of it."""
    topic = TopicName(pulsar_namespace, "compacted")
    keep_messages(pulsar, pulsar_namespace)
    nothing = {"retentionTimeInMinutes": 0, "retentionSizeInMB": 0}
    namespace = f"{pulsar.admin_url}/admin/v2/namespaces/{topic.namespace}"
    admin_request("POST", f"{namespace}/retention", nothing)
    url = f"{pulsar.admin_url}/admin/v2/persistent/{topic}"

    def write(numbers: range) -> None:
        with pulsar_client(pulsar) as client:
            producer = client.create_producer(f"persistent://{topic}", batching_enabled=False)
            for number in numbers:
                producer.send(b"v%d" % number, partition_key=f"k{number % 3}")

    def ledgers() -> list[int]:
        found = json.loads(admin_request("GET", f"{url}/internalStats"))
        return [each["ledgerId"] for each in found["ledgers"]]

    write(range(30))
    admin_request("PUT", f"{url}/compaction")
    _wait(lambda: json.loads(admin_request("GET", f"{url}/compaction"))["status"] == "SUCCESS")
    (old,) = ledgers()
    admin_request("PUT", f"{url}/unload")
    write(range(30, 30 + more))
    admin_request("POST", f"{url}/trim")
    _wait(lambda: old not in ledgers())
    ran = captured("capture", topic, "--out", tmp_path, "--url", pulsar.admin_url)
    assert ran.code == 0, ran.err
    numbers = [27, 28, 29, *range(30, 30 + more)]
    assert [row["payload"] for row in rows_of(tmp_path, topic)] == [b"v%d" % n for n in numbers]
    assert "compacted: 3 messages of before the oldest" in ran.err


def _wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
