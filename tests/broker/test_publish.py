"""Captures that are published to topics of real brokers, and captured again."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from pathlib import Path
from typing import Final

import pytest

from gitops.model.names import NamespaceName, TopicName
from tests.support.admin_rest import admin_request
from tests.support.capture_topics import keep_messages, rows_of
from tests.support.command_line import PROGRAM, Outcome, captured
from tests.support.publications import allow_all_schemas, as_sent, deduplicate, send_mixed
from tests.support.pulsar_broker import (
    BrokerSettings,
    BrokerUnavailableError,
    RunningBroker,
    pulsar_broker,
)

pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
pytestmark = pytest.mark.broker

SEEDS: Final = range(int(os.environ.get("PUBLISH_FAULT_SEEDS", "3")))
"""How many seeded runs: PUBLISH_FAULT_SEEDS=25 before a release."""
MESSAGES: Final = 300


@pytest.fixture(autouse=True)
def _kept(pulsar: RunningBroker, pulsar_namespace: NamespaceName) -> None:
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    keep_messages(pulsar, pulsar_namespace)
    allow_all_schemas(pulsar, pulsar_namespace)


@pytest.fixture
def topic(pulsar_namespace: NamespaceName) -> TopicName:
    return TopicName(pulsar_namespace, "orders")


@pytest.fixture
def copy(pulsar_namespace: NamespaceName) -> TopicName:
    return TopicName(pulsar_namespace, "copy")


def capture(pulsar: RunningBroker, topic: TopicName, out: Path) -> None:
    ran = captured("capture", topic, "--out", out, "--url", pulsar.admin_url)
    assert ran.code == 0, ran.err


def publish(pulsar: RunningBroker, folder: Path, to: TopicName, *more: object) -> Outcome:
    return captured("publish", folder, "--to", to, "--url", pulsar.admin_url, *more)


def make_partitions(pulsar: RunningBroker, topic: TopicName, count: int) -> None:
    url = f"{pulsar.admin_url}/admin/v2/persistent/{topic}/partitions"
    admin_request("PUT", url, json.loads(str(count)))


@pytest.mark.parametrize("partitions", [0, 3])
def test_a_capture_that_is_published_and_captured_again_is_equal(
    partitions: int, pulsar: RunningBroker, topic: TopicName, copy: TopicName, tmp_path: Path
) -> None:
    if partitions:
        make_partitions(pulsar, topic, partitions)
        make_partitions(pulsar, copy, partitions)
    send_mixed(pulsar, topic, MESSAGES)
    capture(pulsar, topic, tmp_path / "first")
    ran = publish(pulsar, tmp_path / "first", copy)
    assert ran.code == 0, ran.err
    assert f"{copy}: 300 of 300 messages published" in ran.err
    capture(pulsar, copy, tmp_path / "second")
    first = as_sent(tmp_path / "first", topic)
    assert as_sent(tmp_path / "second", copy) == first
    assert sum(map(len, first.values())) == MESSAGES
    assert [path.name for path in tmp_path.glob("**/*.publish-*")] == []
