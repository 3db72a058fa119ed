"""Captures of a real broker's messages, of every kind that the Python client can send."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gitops.messaging.capture_files import CaptureFolder
from gitops.model.names import NamespaceName, TopicName
from tests.support.admin_rest import admin_request
from tests.support.capture_topics import (
    keep_messages,
    key_pair,
    manifest_of,
    plain,
    pulsar_client,
    rows_of,
    schema_body,
)
from tests.support.command_line import PROGRAM, Outcome, captured
from tests.support.pulsar_broker import RunningBroker
from tests.support.written_captures import change_payloads

pulsar_library = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
pytestmark = pytest.mark.broker

PulsarClient = Any
"""The library has no types."""


@pytest.fixture(autouse=True)
def _kept(pulsar: RunningBroker, pulsar_namespace: NamespaceName) -> None:
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    keep_messages(pulsar, pulsar_namespace)


@pytest.fixture
def client(pulsar: RunningBroker) -> Iterator[PulsarClient]:
    with pulsar_client(pulsar) as client:
        yield client


@pytest.fixture
def topic(pulsar_namespace: NamespaceName) -> TopicName:
    return TopicName(pulsar_namespace, "orders")


def capture(pulsar: RunningBroker, topic: TopicName, out: Path, *more: object) -> Outcome:
    return captured("capture", topic, "--out", out, "--url", pulsar.admin_url, *more)


def send(client: PulsarClient, topic: TopicName, count: int, **options: Any) -> None:  # noqa: ANN401
    """So many numbered messages, by a producer with these options."""
    producer = client.create_producer(f"persistent://{topic}", **options)
    for number in range(count):
        producer.send_async(
            f"v{number}".encode(),
            None,
            partition_key=f"k{number}",
            properties={"number": str(number)},
            event_timestamp=number + 1,
        )
    producer.flush()
    producer.close()


def test_batches_compression_and_schemas_are_captured_as_they_were_sent(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    kinds = list(pulsar_library.CompressionType.__members__.values())
    for kind in kinds:
        send(client, topic, 30, compression_type=kind, batching_enabled=True)
        send(client, topic, 5, compression_type=kind, batching_enabled=False)
    ran = capture(pulsar, topic, tmp_path)
    assert ran.code == 0, ran.err
    rows = rows_of(tmp_path, topic)
    assert [row["payload"] for row in rows] == [
        f"v{number}".encode() for _ in kinds for count in (30, 5) for number in range(count)
    ]
    assert all(row["key"] == b"k" + row["payload"][1:] for row in rows)
    assert all(row["properties"] == {"number": row["payload"][1:].decode()} for row in rows)
    assert all(row["sequence_id"] == int(row["payload"][1:]) for row in rows)
    assert all(row["event_time"].timestamp() * 1000 == row["sequence_id"] + 1 for row in rows)
    assert len({row["message_id"] for row in rows}) == len(rows)
    _nothing_is_left_behind(pulsar, topic)


def _nothing_is_left_behind(pulsar: RunningBroker, topic: TopicName) -> None:
    url = f"{pulsar.admin_url}/admin/v2/persistent/{topic}/subscriptions"
    assert json.loads(admin_request("GET", url)) == []


def test_versions_of_a_schema_are_captured_with_their_messages(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    url = f"{pulsar.admin_url}/admin/v2/namespaces/{topic.namespace}"
    admin_request("PUT", f"{url}/schemaCompatibilityStrategy", "ALWAYS_COMPATIBLE")
    schema = pulsar_library.schema
    members: dict[str, Any] = {}
    for name in ("id", "note"):
        members[name] = schema.String()
        record = type("Order", (schema.Record,), dict(members))
        producer = client.create_producer(f"persistent://{topic}", schema=schema.AvroSchema(record))
        producer.send(record(id="a"))
        producer.close()
    assert capture(pulsar, topic, tmp_path).code == 0
    rows = rows_of(tmp_path, topic)
    assert [(row["schema_version"], row["payload"]) for row in rows] == [
        (0, b"\x02\x02a"),
        (1, b"\x02\x02a\x00"),
    ]
    fields = [
        [
            each["name"]
            for each in json.loads(schema_body(tmp_path, topic, version)["schema"])["fields"]
        ]
        for version in (0, 1)
    ]
    assert fields == [["id"], ["id", "note"]]


def test_a_version_beyond_127_is_a_number_too(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    """Its eight bytes are no UTF-8, which the client makes of them."""
    url = f"{pulsar.admin_url}/admin/v2/schemas/{topic}/schema"
    for number in range(131):
        fields = [{"name": f"f{number}", "type": ["null", "int"], "default": None}]
        text = json.dumps({"type": "record", "name": "R", "fields": fields})
        admin_request("POST", url, {"type": "AVRO", "schema": text, "properties": {}})
    schema = pulsar_library.schema
    record = type("R", (schema.Record,), {"f130": schema.Integer()})
    producer = client.create_producer(f"persistent://{topic}", schema=schema.AvroSchema(record))
    producer.send(record(f130=1))
    assert capture(pulsar, topic, tmp_path).code == 0
    (row,) = rows_of(tmp_path, topic)
    assert row["schema_version"] == max(manifest_of(tmp_path, topic).versions) > 128


def test_encrypted_messages_are_kept_or_decrypted(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    private, public = key_pair(tmp_path, "our")
    other, _ = key_pair(tmp_path, "other")
    crypto = pulsar_library.CryptoKeyReader(str(public), str(private))
    options = {"encryption_key": "team-key", "crypto_key_reader": crypto}
    send(client, topic, 3, batching_enabled=False, **options)
    send(client, topic, 10, batching_enabled=True, **options)
    send(client, topic, 1)
    for name, more in {"kept": (), "other": ("--decryption-key", other)}.items():
        ran = capture(pulsar, topic, tmp_path / name, *more)
        assert ran.code == 0, ran.err
        kept = rows_of(tmp_path / name, topic)
        assert kept[-1]["payload"] == b"v0"
        assert kept[-1]["encryption"] is None
        for row in kept[:-1]:
            assert not row["encryption"]["is_decrypted"]
            assert [key["name"] for key in row["encryption"]["keys"]] == ["team-key"]
            assert len(row["encryption"]["keys"][0]["value"]) == 256
            assert len(row["encryption"]["param"]) == 12
            assert not row["payload"].startswith(b"v")
    ran = capture(pulsar, topic, tmp_path / "clear", "--decryption-key", private)
    assert ran.code == 0, ran.err
    clear = rows_of(tmp_path / "clear", topic)
    assert [row["payload"] for row in clear] == [
        f"v{number}".encode() for count in (3, 10, 1) for number in range(count)
    ]
    assert all(row["encryption"]["is_decrypted"] for row in clear[:-1])


def test_all_partitions_are_captured_and_empty_ones_too(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    admin_request("PUT", f"{pulsar.admin_url}/admin/v2/persistent/{topic}/partitions", 4)
    send(client, topic, 200, batching_enabled=True)
    only = TopicName(topic.namespace, "one-filled")
    admin_request("PUT", f"{pulsar.admin_url}/admin/v2/persistent/{only}/partitions", 3)
    producer = client.create_producer(f"persistent://{only}-partition-1")
    producer.send(b"x")
    for name in (topic, only):
        assert capture(pulsar, name, tmp_path).code == 0
    rows = rows_of(tmp_path, topic)
    assert sorted(int(row["payload"][1:]) for row in rows) == list(range(200))
    partitions = {row["message_id"].split(":")[2] for row in rows}
    assert partitions <= {"0", "1", "2", "3"}
    assert {row["topic"] for row in rows} == {f"persistent://{topic}"}
    assert [each.messages for each in manifest_of(tmp_path, only).partitions] == [0, 1, 0]
    limited = capture(pulsar, topic, tmp_path / "some", "--limit", 10)
    assert limited.code == 0
    assert len(rows_of(tmp_path / "some", topic)) == 10


def test_times_are_those_of_publication(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    send(client, topic, 50)
    assert capture(pulsar, topic, tmp_path / "all").code == 0
    first = rows_of(tmp_path / "all", topic)
    last = max(row["publish_time"] for row in first)
    while time.time() <= last.timestamp() + 0.01:
        pass
    send(client, topic, 20)
    since = f"{last.timestamp() + 0.002:.3f}"
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(float(since))) + since[-4:] + "Z"
    for option, count in (("--since", 20), ("--until", 50)):
        out = tmp_path / option
        assert capture(pulsar, topic, out, option, moment).code == 0
        assert len(rows_of(out, topic)) == count
    assert capture(pulsar, topic, tmp_path / "1h", "--since", "1h").code == 0
    assert len(rows_of(tmp_path / "1h", topic)) == 70
    assert capture(pulsar, topic, tmp_path / "never", "--until", "1h").code == 0
    assert rows_of(tmp_path / "never", topic) == []


def test_a_topic_sent_again_and_captured_again_is_equal(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    send(client, topic, 100, batching_enabled=True)
    assert capture(pulsar, topic, tmp_path).code == 0
    again = TopicName(topic.namespace, "again")
    producer = client.create_producer(f"persistent://{again}")
    for row in rows_of(tmp_path, topic):
        producer.send(
            row["payload"],
            properties=row["properties"],
            partition_key=row["key"].decode(),
            event_timestamp=int(row["event_time"].timestamp() * 1000),
        )
    assert capture(pulsar, again, tmp_path).code == 0
    assert plain(rows_of(tmp_path, again)) == plain(rows_of(tmp_path, topic))


def test_a_capture_ends_while_others_send(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    ended, sent = threading.Event(), threading.Event()

    def produce() -> None:
        while not ended.is_set():
            send(client, topic, 200, batching_enabled=True)
            sent.set()

    sender = threading.Thread(target=produce)
    sender.start()
    try:
        assert sent.wait(60)
        ran = capture(pulsar, topic, tmp_path)
    finally:
        ended.set()
        sender.join(60)
    assert ran.code == 0, ran.err
    (state,) = manifest_of(tmp_path, topic).partitions
    rows = rows_of(tmp_path, topic)
    assert state.is_done
    assert state.end
    ledger, entry, batch = state.end
    assert rows[-1]["message_id"] == f"{ledger}:{entry}:-1:{batch}"
    assert len({row["message_id"] for row in rows}) == len(rows) >= 200


def test_a_killed_capture_goes_on_to_the_same_messages(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    """Ended by SIGKILL and by Ctrl-C at random moments, then by itself."""
    count = 150_000
    send(client, topic, count, batching_enabled=True, block_if_queue_full=True)
    random, killed = Random(7), 0  # noqa: S311 - the same each time
    command = [PROGRAM, "capture", topic, "--out", tmp_path, "--url", pulsar.admin_url]
    for turn in range(30):
        with subprocess.Popen(
            [*map(str, command), *(["--resume"] if turn else [])],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            folder = CaptureFolder.of(tmp_path, topic).path
            deadline = time.monotonic() + 120
            while not any(folder.glob("*.parquet*")) and not any(folder.glob(".*.new")):
                if process.poll() is not None or time.monotonic() > deadline:
                    break
                time.sleep(0.01)
            number = random.choice((signal.SIGKILL, signal.SIGINT))
            try:
                process.wait(random.uniform(0, 0.1 * turn) if turn < 6 else 120)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                killed += 1
            _, said = process.communicate(timeout=120)
        if process.returncode == 0:
            break
        assert process.returncode in (130, -signal.SIGKILL, -signal.SIGINT), said.decode()
    rows = rows_of(tmp_path, topic)
    assert [row["sequence_id"] for row in rows] == list(range(count))
    assert killed


# What may be wrong.


def test_messages_whose_schemas_were_deleted_are_written_and_named(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    schema = pulsar_library.schema
    url = f"{pulsar.admin_url}/admin/v2/schemas/{topic}/schema"
    for name, count in (("a", 3), ("b", 2)):
        record = type("Order", (schema.Record,), {name: schema.String()})
        producer = client.create_producer(f"persistent://{topic}", schema=schema.AvroSchema(record))
        for _ in range(count):
            producer.send(record(**{name: "x"}))
        producer.close()
        if name == "a":
            admin_request("DELETE", url)
    ran = capture(pulsar, topic, tmp_path)
    assert ran.code == 4
    assert "without a schema: 3 messages of versions that the registry no longer has: v0 (3)" in (
        " ".join(ran.err.split())
    )
    assert [row["schema_version"] for row in rows_of(tmp_path, topic)] == [0, 0, 0, 2, 2]
    assert list(manifest_of(tmp_path, topic).versions) == [2]
    ran = captured("publish", tmp_path, "--to", topic, "--url", pulsar.admin_url, "--dry-run")
    assert ran.code == 2
    assert "has no schema for messages of v0" in " ".join(ran.err.split())


def test_a_missing_topic_is_named(pulsar: RunningBroker, topic: TopicName, tmp_path: Path) -> None:
    ran = capture(pulsar, topic, tmp_path)
    assert ran.code == 2
    assert "no such topic" in ran.err
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_else_is_refused(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    send(client, topic, 1)
    folder = CaptureFolder.of(tmp_path, topic).path
    folder.mkdir(parents=True)
    (folder / "mine.txt").write_text("mine")
    for more in ((), ("--resume",)):
        ran = capture(pulsar, topic, tmp_path, *more)
        assert ran.code == 2
        assert "is not empty" in ran.err
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_a_folder_that_cannot_be_written_is_named(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    send(client, topic, 1)
    (tmp_path / "file").write_text("no folder")
    ran = capture(pulsar, topic, tmp_path / "file" / "below")
    assert ran.code == 2
    assert "cannot write to" in ran.err


def test_a_capture_of_other_options_is_not_gone_on_with(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    send(client, topic, 5)
    assert capture(pulsar, topic, tmp_path, "--since", "2h").code == 0
    assert capture(pulsar, topic, tmp_path, "--since", "2h", "--resume").code == 0
    ran = capture(pulsar, topic, tmp_path, "--limit", 3, "--resume")
    assert ran.code == 2
    assert "was begun with other options: --since, --until, --limit or --sample" in ran.err


def test_a_capture_with_a_damaged_part_is_not_gone_on_with(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    send(client, topic, 5)
    assert capture(pulsar, topic, tmp_path).code == 0
    (part,) = CaptureFolder.of(tmp_path, topic).path.glob("*.parquet")
    change_payloads(part)
    ran = capture(pulsar, topic, tmp_path, "--resume")
    assert ran.code == 2
    assert "is damaged: its SHA-256 is not the one" in " ".join(ran.err.split())


def test_a_service_url_that_leads_nowhere_is_named(
    pulsar: RunningBroker, client: PulsarClient, topic: TopicName, tmp_path: Path
) -> None:
    send(client, topic, 1)
    ran = capture(pulsar, topic, tmp_path, "--service-url", "pulsar://127.0.0.1:1")
    assert ran.code == 4
    assert "--service-url" in ran.err
    ran = capture(pulsar, topic, tmp_path / "other", "--service-url", "no URL")
    assert ran.code == 2
    assert "not the service URL of a Pulsar cluster" in ran.err
