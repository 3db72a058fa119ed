"""Captures that are published to topics of real brokers, and captured again."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Final

import pytest

from gitops.model.names import NamespaceName, TopicName
from tests.support.admin_rest import admin_request
from tests.support.capture_topics import keep_messages, key_pair, pulsar_client, rows_of
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
_NEARLY_FULL: Final = 5 * 1024 * 1024 - 100
_LARGE: Final = {"p": "y" * 200_000}


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


def capture(pulsar: RunningBroker, topic: TopicName, out: Path, *more: object) -> None:
    ran = captured("capture", topic, "--out", out, "--url", pulsar.admin_url, *more)
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


def test_a_capture_in_avro_files_is_published_to_other_partitions_in_the_order_of_keys(
    pulsar: RunningBroker, topic: TopicName, copy: TopicName, tmp_path: Path
) -> None:
    make_partitions(pulsar, topic, 2)
    make_partitions(pulsar, copy, 3)
    send_mixed(pulsar, topic, MESSAGES)
    capture(pulsar, topic, tmp_path / "first", "--format", "avro")
    assert list(tmp_path.glob("first/**/*.avro"))
    ran = publish(pulsar, tmp_path / "first", copy)
    assert ran.code == 0, ran.err
    capture(pulsar, topic, tmp_path / "again")
    capture(pulsar, copy, tmp_path / "second")
    assert as_sent(tmp_path / "second", copy) == as_sent(tmp_path / "again", topic)


def test_another_broker_gets_what_was_captured(
    pulsar: RunningBroker, topic: TopicName, tmp_path: Path
) -> None:
    send_mixed(pulsar, topic, MESSAGES)
    capture(pulsar, topic, tmp_path / "first")
    there = TopicName(NamespaceName("public", "default"), "orders")
    try:
        with pulsar_broker(BrokerSettings()) as other:
            keep_messages(other, there.namespace)
            allow_all_schemas(other, there.namespace)
            ran = publish(other, tmp_path / "first", there)
            assert ran.code == 0, ran.err
            capture(other, there, tmp_path / "second")
    except BrokerUnavailableError as reason:
        pytest.skip(str(reason))
    assert as_sent(tmp_path / "second", there) == as_sent(tmp_path / "first", topic)


def test_encrypted_messages_are_published_as_they_are(
    pulsar: RunningBroker, topic: TopicName, copy: TopicName, tmp_path: Path
) -> None:
    """Alone, in a batch, in a compressed one: whoever has the key reads them, nobody else."""
    library = pytest.importorskip("pulsar")
    private, public = key_pair(tmp_path, "our")
    crypto = library.CryptoKeyReader(str(public), str(private))
    sent = []
    with pulsar_client(pulsar) as client:
        for batching, compression in ((False, "NONE"), (True, "NONE"), (True, "LZ4")):
            producer = client.create_producer(
                str(topic),
                batching_enabled=batching,
                batching_max_publish_delay_ms=1_000,
                compression_type=getattr(library.CompressionType, compression),
                encryption_key="team-key",
                crypto_key_reader=crypto,
            )
            for number in range(5):
                sent.append(f"{batching} {compression} {number}".encode() * 20)
                producer.send_async(
                    sent[-1], None, partition_key="k", properties={"n": str(number)}
                )
            producer.flush()
            producer.close()
    capture(pulsar, topic, tmp_path / "kept")
    ran = publish(pulsar, tmp_path / "kept", copy)
    assert ran.code == 0, ran.err
    assert f"{copy}: 7 of 7 messages published" in ran.err
    capture(pulsar, copy, tmp_path / "again")
    assert as_sent(tmp_path / "again", copy) == as_sent(tmp_path / "kept", topic)
    capture(pulsar, copy, tmp_path / "clear", "--decryption-key", private)
    rows = rows_of(tmp_path / "clear", copy)
    assert [row["payload"] for row in rows] == sent
    assert [row["properties"] for row in rows] == [{"n": str(n)} for n in range(5)] * 3
    assert {row["key"] for row in rows} == {b"k"}


def test_a_namespace_that_demands_encryption_gets_encrypted_messages_alone(
    pulsar: RunningBroker, topic: TopicName, copy: TopicName, tmp_path: Path
) -> None:
    private, public = key_pair(tmp_path, "our")
    url = f"{pulsar.admin_url}/admin/v2/namespaces/{topic.namespace}/encryptionRequired"
    _send_encrypted(pulsar, topic, private, public)
    capture(pulsar, topic, tmp_path / "first")
    capture(pulsar, topic, tmp_path / "clear", "--decryption-key", private)
    admin_request("POST", url, json.loads("true"))
    dry = publish(pulsar, tmp_path / "clear", copy, "--dry-run")
    assert dry.code == 1, dry.err
    assert "demands encryption (encryption_required), and 20 of 20 messages are not" in dry.out
    assert publish(pulsar, tmp_path / "first", copy, "--dry-run").code == 0
    refused = publish(pulsar, tmp_path / "clear", copy)
    assert refused.code == 2, refused.err
    assert "demands encryption, and 20 of 20 messages of the capture are not encrypted" in (
        " ".join(refused.err.split())
    )
    assert not list(tmp_path.glob("**/*.publish-*"))
    ran = publish(pulsar, tmp_path / "first", copy)
    assert ran.code == 0, ran.err
    capture(pulsar, copy, tmp_path / "second", "--decryption-key", private)
    assert [row["payload"] for row in rows_of(tmp_path / "second", copy)] == [
        row["payload"] for row in rows_of(tmp_path / "clear", topic)
    ]


def _send_encrypted(
    pulsar: RunningBroker, topic: TopicName, private: Path, public: Path, count: int = 20
) -> None:
    import pulsar as library

    with pulsar_client(pulsar) as client:
        producer = client.create_producer(
            f"persistent://{topic}",
            batching_enabled=True,
            encryption_key="team-key",
            crypto_key_reader=library.CryptoKeyReader(str(public), str(private)),
        )
        for number in range(count):
            producer.send_async(b"v%d" % number, None)
        producer.flush()


# What is refused.


def test_a_dry_run_says_what_the_broker_then_does(
    pulsar: RunningBroker, topic: TopicName, tmp_path: Path
) -> None:
    """Under BACKWARD the first schema is accepted, one that it has too, and no other type."""
    send_mixed(pulsar, topic, MESSAGES)
    capture(pulsar, topic, tmp_path)
    there = NamespaceName(topic.namespace.tenant, "strict")
    admin_request("PUT", f"{pulsar.admin_url}/admin/v2/namespaces/{there}", {})
    keep_messages(pulsar, there)
    dry = publish(pulsar, tmp_path, TopicName(there, "orders"), "--dry-run")
    assert dry.code == 1
    told = [line.split()[:2] for line in dry.out.splitlines() if line.startswith("  ")]
    ran = publish(pulsar, tmp_path, TopicName(there, "orders"))
    assert ran.code == 6, ran.err
    refused = {line.split()[3] for line in ran.err.splitlines() if " refused: " in line}
    assert {name for sign, name in told if sign == "✗"} == refused
    assert len(refused) == 4
    assert "created as v0 of the topic" in dry.out
    versions = f"{pulsar.admin_url}/admin/v2/schemas/{there}/orders/schemas"
    assert len(json.loads(admin_request("GET", versions))["getSchemaResponses"]) == 2


def test_a_topic_that_insists_on_schemas_refuses_bytes_alone(
    pulsar: RunningBroker, topic: TopicName, copy: TopicName, tmp_path: Path
) -> None:
    send_mixed(pulsar, topic, MESSAGES)
    capture(pulsar, topic, tmp_path)
    url = f"{pulsar.admin_url}/admin/v2/namespaces/{copy.namespace}/schemaValidationEnforced"
    admin_request("POST", url, json.loads("true"))
    dry = publish(pulsar, tmp_path, copy, "--dry-run")
    assert (dry.code, dry.out.count("✗ no schema")) == (1, 1)
    ran = publish(pulsar, tmp_path, copy)
    assert ran.code == 6
    assert "no schema refused" in ran.err


def test_what_is_not_there_is_named(
    pulsar: RunningBroker, topic: TopicName, tmp_path: Path
) -> None:
    send_mixed(pulsar, topic, 5)
    capture(pulsar, topic, tmp_path)
    nowhere = TopicName(NamespaceName(topic.namespace.tenant, "nowhere"), "orders")
    assert publish(pulsar, tmp_path, nowhere, "--dry-run").code == 2
    assert publish(pulsar, tmp_path, nowhere).code == 2
    ran = publish(pulsar, tmp_path, topic, "--service-url", "pulsar://127.0.0.1:1")
    assert ran.code == 4
    assert not list(tmp_path.glob("**/*.publish-*"))


# Ended before the end.


@pytest.mark.parametrize("seed", SEEDS)
def test_kills_and_resumes_lose_and_repeat_nothing(
    seed: int, pulsar: RunningBroker, topic: TopicName, copy: TopicName, tmp_path: Path
) -> None:
    random_one = random.Random(seed)  # noqa: S311 - no secret
    deduplicate(pulsar, topic.namespace)
    if partitions := random_one.choice((0, 2)):
        make_partitions(pulsar, topic, partitions)
        make_partitions(pulsar, copy, partitions)
    send_mixed(pulsar, topic, 2_000)
    capture(pulsar, topic, tmp_path / "first")
    rate = random_one.choice(([], ["--rate", "1500"], ["--rate", "5000"]))
    assert _ends(pulsar, tmp_path / "first", copy, rate, random_one)
    capture(pulsar, copy, tmp_path / "second")
    assert as_sent(tmp_path / "second", copy) == as_sent(tmp_path / "first", topic)


def _ends(
    pulsar: RunningBroker, folder: Path, to: TopicName, more: list[str], random_one: random.Random
) -> bool:
    """Publish until it is done, and end it up to eight times before.

    A journal that was there and is not any more says that it is done, too: a signal may have come
    while the process ended.
    """
    words = ["publish", str(folder), "--to", str(to), "--url", pulsar.admin_url, *more]
    has_journal = False
    for turn in range(20):
        resume = ["--resume"] if has_journal else []
        with subprocess.Popen([PROGRAM, *words, *resume], stderr=subprocess.PIPE) as process:
            _wait(process, random_one if turn < 8 else None)
            _, said = process.communicate(timeout=120)
        had, has_journal = has_journal, bool(list(folder.glob("**/*.publish-*.json")))
        if b"2,000 of 2,000 messages published" in said or (had and not has_journal):
            return True
        assert process.returncode in (130, -signal.SIGKILL, -signal.SIGINT), said.decode()
    return False


def _wait(process: subprocess.Popen[bytes], random_one: random.Random | None) -> None:
    """Until it ends, or for a moment of what it does, and then end it."""
    if random_one is None:
        process.wait(120)
        return
    try:
        process.wait(random_one.uniform(0.3, 2.5))
    except subprocess.TimeoutExpired:
        process.send_signal(random_one.choice((signal.SIGKILL, signal.SIGINT)))


def test_ctrl_c_says_how_far_it_is_and_what_goes_on(
    pulsar: RunningBroker, topic: TopicName, copy: TopicName, tmp_path: Path
) -> None:
    """Without deduplication, too: all that was sent is acknowledged before it ends."""
    send_mixed(pulsar, topic, MESSAGES)
    capture(pulsar, topic, tmp_path / "first")
    words = ["publish", str(tmp_path / "first"), "--to", str(copy), "--rate", "100"]
    words += ["--url", pulsar.admin_url]
    with subprocess.Popen([PROGRAM, *words], stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.glob("**/*.publish-*.json")):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "of 300 messages published" in said
    assert f"go on with: pulsar-gitops {shlex.join(words)} --resume" in said
    again = publish(pulsar, tmp_path / "first", copy)
    assert again.code == 2
    assert "--resume goes on" in again.err
    ran = publish(pulsar, tmp_path / "first", copy, "--resume")
    assert ran.code == 0, ran.err
    assert "twice" not in ran.err
    capture(pulsar, copy, tmp_path / "second")
    assert as_sent(tmp_path / "second", copy) == as_sent(tmp_path / "first", topic)
    assert publish(pulsar, tmp_path / "first", copy, "--resume").code == 2


def test_a_message_that_only_its_metadata_make_too_large_fails_alone(
    pulsar: RunningBroker, topic: TopicName, copy: TopicName, tmp_path: Path
) -> None:
    """Compressed it fitted; a broker of 4.0.7 cuts the connection of a frame that does not."""
    import pulsar as clients

    sent: list[object] = []
    with pulsar_client(pulsar) as client:
        producer = client.create_producer(str(topic), compression_type=clients.CompressionType.ZLib)
        for value, properties in ((b"a", {}), (b"z" * _NEARLY_FULL, _LARGE), (b"b", {})):
            producer.send_async(value, lambda result, _: sent.append(result), properties=properties)
        producer.flush()
    assert sent == [clients.Result.Ok] * 3
    capture(pulsar, topic, tmp_path / "first")
    ran = publish(pulsar, tmp_path / "first", copy)
    assert ran.code == 6, ran
    assert f"{copy}: 2 of 3 messages published" in ran.err
    assert "failed: 1 message: the message has 5" in ran.err
    capture(pulsar, copy, tmp_path / "second")
    assert [row["payload"] for row in rows_of(tmp_path / "second", copy)] == [b"a", b"b"]
