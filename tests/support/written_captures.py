"""Captures written without a broker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow
import pyarrow.parquet

from gitops.messaging.capture_client import Position
from gitops.messaging.capture_files import (
    CaptureFolder,
    CaptureManifest,
    Masking,
    PartFormat,
    PartitionState,
    Selection,
    capture_folders,
)
from gitops.messaging.capture_topic import CaptureJob, capture_topic, partition_name
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.key_value.definition import is_separated
from tests.support.fake_messages import FakeMessage, FakeReaders


def write_capture(  # noqa: PLR0913 - what a capture has
    out: Path,
    topic: TopicName,
    messages: Sequence[FakeMessage],
    schemas: Mapping[int, SchemaInfo],
    *,
    masking: Masking | None = None,
    part_format: PartFormat = "parquet",
) -> CaptureFolder:
    """Capture these messages of a topic with these schemas."""
    end = max((one.at for one in messages), default=Position(-1, -1, -1))
    manifest = CaptureManifest(
        topic=partition_name(topic, -1),
        registry="fake",
        address="nowhere",
        broker="4.0.7",
        program="test",
        part_format=part_format,
        begun="2026-05-01T00:00:00+00:00",
        selection=Selection(),
        masking=masking,
        versions=tuple(schemas),
        partitions=(PartitionState(partition=-1, end=end),),
    )
    folder = CaptureFolder.of(out, topic)
    folder.begin(manifest, schemas)
    separated = frozenset(number for number, info in schemas.items() if is_separated(info))
    sent = [replace(one, key_is_base64=one.version in separated) for one in messages]
    readers = FakeReaders({partition_name(topic, -1): sent}, block=1_000)
    job = CaptureJob(topic=topic, readers=readers, folder=folder)
    capture_topic(job, manifest)
    return folder


def cut_short(out: Path) -> None:
    """Make a capture one that was ended before its end."""
    ((folder, manifest),) = capture_folders(out)
    partitions = [each.model_copy(update={"is_done": False}) for each in manifest.partitions]
    folder.save(manifest.model_copy(update={"partitions": tuple(partitions)}))


def change_payloads(part: Path) -> None:
    """Write a Parquet part again, with the payload `other` in each message."""
    table = pyarrow.parquet.read_table(part)
    payloads = pyarrow.array([b"other"] * len(table), pyarrow.binary())
    at = table.schema.get_field_index("payload")
    pyarrow.parquet.write_table(table.set_column(at, "payload", payloads), part)


def write_template_capture(out: Path) -> None:
    """The samples of one of the template's topics, as if they had been captured."""
    template = Path(__file__).parents[2] / "schemas_repo_template"
    lines = (template / "samples/shop/orders/order-cancelled.jsonl").read_bytes().splitlines()
    schema = (template / "namespaces/shop/orders/order-cancelled.avsc").read_text("utf-8")
    messages = [
        FakeMessage(at=Position(1, number, -1), payload=line, version=0)
        for number, line in enumerate(lines)
    ]
    info = SchemaInfo(type=SchemaType.JSON, schema=schema)
    write_capture(out, TopicName.parse("shop/orders/order-cancelled"), messages, {0: info})
