"""Captures of messages that Pulsar's own Java client sends."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.model.names import NamespaceName, TopicName
from tests.support.capture_topics import keep_messages, key_pair, manifest_of, rows_of, schema_body
from tests.support.command_line import captured
from tests.support.java_program import JavaProgram
from tests.support.pulsar_broker import BrokerUnavailableError, RunningBroker

pytestmark = pytest.mark.broker
pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")

SOURCE: Final = Path(__file__).with_name("CaptureScenario.java")
LARGE: Final = (bytes(range(256)) * 391)[:100_000]
"""The message in ten pieces."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> JavaProgram:
    try:
        return JavaProgram(SOURCE, tmp_path_factory.mktemp("classes"))
    except BrokerUnavailableError as reason:
        pytest.skip(str(reason))


@pytest.fixture
def capture(
    pulsar: RunningBroker,
    pulsar_namespace: NamespaceName,
    program: JavaProgram,
    tmp_path: Path,
) -> dict[str, list[dict[str, Any]]]:
    """The messages of all topics of the program, by topic."""
    keep_messages(pulsar, pulsar_namespace)
    assert program.run(pulsar.service_url, f"persistent://{pulsar_namespace}") == ["done"]
    names = ("inline", "separated", "odd", "keyed", "chunked")
    topics = [TopicName(pulsar_namespace, name) for name in names]
    url = pulsar.admin_url
    ran = captured("capture", *map(str, topics), "--out", tmp_path, "--url", url)
    assert ran.code == 0, ran.err
    for topic in topics[:2]:
        assert manifest_of(tmp_path, topic).versions == (0,)
        assert schema_body(tmp_path, topic, 0)["type"] == "KEY_VALUE"
    return {topic.local_name: rows_of(tmp_path, topic) for topic in topics}


def test_what_only_the_java_client_sends_is_captured(
    capture: dict[str, list[dict[str, Any]]],
) -> None:
    inline, separated, odd, keyed, chunked = capture.values()
    assert [row["payload"] for row in chunked] == [b"\x01", LARGE, b"\x02"]
    _check_pairs(inline, separated)
    assert [row["sequence_id"] for row in odd] == [7, 9, 20, 21]
    assert [row["payload"] for row in odd] == [b"\x01", b"\x02", None, b""]
    assert [row["is_null"] for row in odd] == [False, False, True, False]
    assert [row["key"] for row in odd] == [b"\xff\x00", None, b"gone", b"empty"]
    assert [row["key_is_base64"] for row in odd] == [True, None, False, False]
    assert odd[1]["ordering_key"] == b"\xff\x00"
    assert odd[3]["properties"] == {"ü": "\0😀"}
    assert odd[3]["event_time"].timestamp() == 1.234
    assert odd[0]["schema_version"] is None
    values = sorted((row["sequence_id"], row["payload"], row["key"]) for row in keyed)
    assert values == [(n, f"v{n}".encode(), f"k{n % 3}".encode()) for n in range(40)]


def test_an_encrypted_message_in_chunks_is_whole_with_the_key_and_not_published_without(
    pulsar: RunningBroker, pulsar_namespace: NamespaceName, program: JavaProgram, tmp_path: Path
) -> None:
    """Each chunk is encrypted by itself; of those that stay so nobody could read a copy."""
    keep_messages(pulsar, pulsar_namespace)
    private, public = key_pair(tmp_path, "our")
    where = f"persistent://{pulsar_namespace}"
    assert program.run(pulsar.service_url, where, str(public)) == ["done"]
    topic, url = TopicName(pulsar_namespace, "secret"), ("--url", pulsar.admin_url)
    for name, more in {"clear": ("--decryption-key", private), "kept": ()}.items():
        ran = captured("capture", topic, "--out", tmp_path / name, *url, *more)
        assert ran.code == 0, ran.err
    assert [row["payload"] for row in rows_of(tmp_path / "clear", topic)] == [
        b"\x01",
        LARGE,
        b"\x02",
    ]
    kept = rows_of(tmp_path / "kept", topic)
    sizes = [row["encryption"]["batch_size"] for row in kept]
    assert sizes == [-1, *([0] * (len(sizes) - 2)), -1]
    assert len(sizes) > 10
    copy = TopicName(pulsar_namespace, "copy")
    ran = captured("publish", tmp_path / "kept", "--to", copy, *url)
    assert ran.code == 6, ran.err
    assert f"failed: {len(sizes) - 2} messages: a chunk of an encrypted message" in ran.err
    assert captured("capture", copy, "--out", tmp_path / "copy", *url).code == 0
    assert len(rows_of(tmp_path / "copy", copy)) == 2


def _check_pairs(inline: list[dict[str, Any]], separated: list[dict[str, Any]]) -> None:
    keys = [b"\x90\x03", b"\x92\x03", b"\x94\x03", b"\x00"]
    values = [b"\x02\x1ea%d@acme.example" % n for n in range(3)]
    assert [row["key"] for row in separated] == keys
    assert all(row["key_is_base64"] for row in separated)
    assert [row["payload"] for row in separated] == [*values, None]
    assert [row["key"] for row in inline] == [None] * 4
    pairs = [
        struct.pack(">i", len(key)) + key + struct.pack(">i", len(value)) + value
        for key, value in zip(keys, values, strict=False)
    ]
    assert [row["payload"] for row in inline][:3] == pairs
    assert inline[3]["payload"] == struct.pack(">i", 1) + b"\x00" + struct.pack(">i", -1)
