"""Captures as Avro container files: whatever is in one, messages or an error come of it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

import fastavro
import pytest

pytest.importorskip("pyarrow", reason="the extra 'replay' is not installed")

from gitops.messaging.capture_client import Position
from gitops.model.names import TopicName
from gitops.replay.sources import avro_captures
from tests.support.fake_messages import FakeMessage
from tests.support.source_rows import payloads, rows, whole
from tests.support.written_captures import write_capture

TOPIC: Final = TopicName.parse("shop/orders/created")


def written(folder: Path, count: int) -> Path:
    found = [
        FakeMessage(at=Position(1, number, -1), payload=b"%d" % number, version=number % 3)
        for number in range(count)
    ]
    capture = write_capture(folder, TOPIC, found, {}, part_format="avro")
    (part,) = capture.path.glob("*.avro")
    return part


def test_a_message_has_its_topic_its_version_and_its_id(tmp_path: Path) -> None:
    found, problem = rows(whole(written(tmp_path, 2), "capture-avro"))
    assert problem == ""
    assert [(row["topic"], row["version"], row["payload"], row["file"]) for row in found] == [
        (f"persistent://{TOPIC}", 0, b"0", "1:0:-1:-1"),
        (f"persistent://{TOPIC}", 1, b"1", "1:1:-1:-1"),
    ]


def test_batches_are_bounded_by_messages_and_by_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = whole(written(tmp_path, 100), "capture-avro")
    monkeypatch.setattr(avro_captures, "MOST_ROWS", 30)
    assert payloads(part) == ([b"%d" % number for number in range(100)], "")
    monkeypatch.setattr(avro_captures, "MOST_BYTES", 10)
    assert payloads(part) == ([b"%d" % number for number in range(100)], "")


def test_another_container_is_no_part_of_a_capture(tmp_path: Path) -> None:
    path = tmp_path / "a"
    schema = {"type": "record", "name": "R", "fields": [{"name": "payload", "type": "bytes"}]}
    with path.open("wb") as file:
        fastavro.writer(file, schema, [{"payload": b"x"}])
    found, problem = rows(whole(path, "capture-avro"))
    assert (found, problem) == ([], "a is an Avro container, and no part of a capture")


@pytest.mark.slow
def test_a_damaged_part_is_an_error_and_never_more_messages(tmp_path: Path) -> None:
    """Cut off, and with any bytes in the place of others; those before the damage may be read."""
    part = written(tmp_path, 500)
    sound = part.read_bytes()
    wanted = [b"%d" % number for number in range(500)]
    header = sound.index(b"null") + 1
    for seed in range(200):
        random = Random(seed)  # noqa: S311 - the same each time
        data = bytearray(sound)
        if seed % 2:
            del data[random.randrange(len(data)) :]
        else:
            at = random.randrange(header, len(data))
            data[at : at + 8] = random.randbytes(8)
        part.write_bytes(data)
        found, problem = payloads(whole(part, "capture-avro"))
        assert len(found) <= len(wanted), seed
        assert problem or len(found) == len(wanted), seed
