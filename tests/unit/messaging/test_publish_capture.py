"""What is looked at of a capture before anything is published."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet
import pytest

from gitops.messaging.capture_client import Position
from gitops.messaging.capture_files import MANIFEST, CaptureFolder
from gitops.messaging.errors import InvalidValueError
from gitops.messaging.publish_capture import read_source
from gitops.messaging.publish_parts import CapturedMessage
from gitops.messaging.values.schema import BytesSchema
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from tests.support.fake_messages import FakeMessage
from tests.support.message_schemas import AVRO_INFO
from tests.support.written_captures import change_payloads, write_capture

ORDERS = TopicName.parse("shop/orders/created")
MESSAGE = CapturedMessage(5, None, b"k", None, None, None, b"v", [("a", "b")], None)


def captured(out: Path, topic: TopicName = ORDERS) -> CaptureFolder:
    """Three messages, of which two have the only version."""
    messages = [
        FakeMessage(at=Position(1, number, -1), payload=b"v", version=version)
        for number, version in enumerate((3, -1, 3))
    ]
    return write_capture(out, topic, messages, {3: AVRO_INFO, 4: AVRO_INFO})


def part_of(folder: CaptureFolder) -> Path:
    (part,) = folder.path.glob("*.parquet")
    return part


def test_only_versions_of_messages_count(tmp_path: Path) -> None:
    captured(tmp_path)
    source = read_source(tmp_path)
    assert dict(source.counts) == {3: 2, None: 1}
    assert list(source.schemas) == [3]
    assert (source.total, source.partitions) == (3, 1)


def test_another_schema_or_manifest_is_another_fingerprint(tmp_path: Path) -> None:
    folder = captured(tmp_path)
    first = read_source(tmp_path).fingerprint
    path = folder.path / "_schemas/4.json"
    path.write_text(path.read_text().replace("Order", "Other"))
    second = read_source(tmp_path).fingerprint
    manifest = folder.path / MANIFEST
    manifest.write_text(manifest.read_text().replace("nowhere", "elsewhere"))
    assert len({first, second, read_source(tmp_path).fingerprint}) == 3


def test_a_missing_schema_is_named(tmp_path: Path) -> None:
    folder = captured(tmp_path)
    (folder.path / "_schemas/3.json").unlink()
    with pytest.raises(UsageError, match="no schema for messages of v3"):
        read_source(tmp_path)


def test_a_cut_part_is_named(tmp_path: Path) -> None:
    part = part_of(captured(tmp_path))
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(UsageError, match=r"000000\.parquet is damaged"):
        read_source(tmp_path)


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    part_of(captured(tmp_path)).unlink()
    with pytest.raises(UsageError, match=r"000000\.parquet is not there"):
        read_source(tmp_path)


@pytest.mark.slow
def test_a_part_with_another_payload_is_damaged(tmp_path: Path) -> None:
    """It can be read, and has as many messages of each version."""
    folder = captured(tmp_path)
    change_payloads(part_of(folder))
    with pytest.raises(UsageError, match=r"000000\.parquet is damaged: its SHA-256 is not"):
        read_source(tmp_path)
    without_checksums(folder)
    assert {each.message.payload for each in read_source(tmp_path).messages()} == {b"other"}


def without_checksums(folder: CaptureFolder) -> None:
    """As the manifests of former releases are."""
    manifest = folder.manifest()
    assert manifest is not None
    (state,) = manifest.partitions
    folder.save(manifest.with_state(state.model_copy(update={"checksums": ()})))


def test_missing_messages_are_told(tmp_path: Path) -> None:
    folder = captured(tmp_path)
    part = part_of(folder)
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(part)[:2], part)
    without_checksums(folder)
    with pytest.raises(UsageError, match="has 2 messages, and its manifest counts 3"):
        read_source(tmp_path)


def test_a_newer_format_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = captured(tmp_path).path / MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 2}))
    with pytest.raises(UsageError, match="of format 2") as caught:
        read_source(tmp_path)
    assert caught.value.hint == "upgrade pulsar-schema-gitops"


def test_captures_of_two_topics_are_told_apart(tmp_path: Path) -> None:
    folder = captured(tmp_path)
    captured(tmp_path, TopicName.parse("shop/orders/cancelled"))
    with pytest.raises(UsageError, match="captures of 2 topics"):
        read_source(tmp_path)
    assert read_source(folder.path).total == 3


def test_what_stays_encrypted_has_all_that_decrypts_it() -> None:
    """Only with the messages that a frame has alone: its metadata is theirs."""
    key = {"name": "team", "value": b"\1", "metadata": [("m", "1")]}
    column = {
        "is_decrypted": False, "algorithm": "", "param": b"\2", "keys": [key],
        "compression": "ZLib", "uncompressed_size": 7, "batch_size": 3,
    }  # fmt: skip
    sent = MESSAGE._replace(encryption=column).to_message(BytesSchema())
    assert sent.encryption is not None
    metadata = api.MessageMetadata(producer_name="p", sequence_id=1, publish_time=2)
    sent.encryption.describe(metadata)
    assert metadata == api.MessageMetadata(
        producer_name="p",
        sequence_id=1,
        publish_time=2,
        compression="ZLIB",
        uncompressed_size=7,
        num_messages_in_batch=3,
        encryption_param=b"\2",
        encryption_keys=[
            api.EncryptionKeys(key="team", value=b"\1", metadata=[api.KeyValue(key="m", value="1")])
        ],
    )
    alone = {**column, "batch_size": -1}
    again = MESSAGE._replace(encryption=alone).to_message(BytesSchema())
    assert again.encryption is not None
    assert again.encryption.batch_size == 0
    chunk = MESSAGE._replace(encryption={**column, "batch_size": 0})
    with pytest.raises(InvalidValueError, match="a chunk of an encrypted message"):
        chunk.to_message(BytesSchema())


def test_what_was_decrypted_is_published_without_encryption() -> None:
    sent = MESSAGE._replace(encryption={"is_decrypted": True}).to_message(BytesSchema())
    assert sent.encryption is None


def test_a_base64_key_is_sent_as_one() -> None:
    sent = MESSAGE._replace(key=b"\xff", key_is_base64=True).to_message(BytesSchema())
    assert (sent.key, sent.has_encoded_key) == ("/w==", True)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (MESSAGE._replace(key=b"\xff"), "its key is no UTF-8"),
        (MESSAGE._replace(properties=None), "its properties are no UTF-8"),
        (
            MESSAGE._replace(encryption={"is_decrypted": False, "compression": "odd"}),
            "its compression is ODD",
        ),
    ],
)
def test_what_cannot_be_sent_has_a_reason(message: CapturedMessage, reason: str) -> None:
    with pytest.raises(InvalidValueError, match=reason):
        message.to_message(BytesSchema())
