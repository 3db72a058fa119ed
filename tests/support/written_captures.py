"""Captures written without a broker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gitops.messaging.capture_client import Position
from gitops.messaging.capture_files import (
    CaptureFolder,
    CaptureManifest,
    Masking,
    PartitionState,
    Selection,
)
from gitops.messaging.capture_topic import CaptureJob, capture_topic, partition_name
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.key_value.definition import is_separated
from tests.support.fake_messages import FakeMessage, FakeReaders


def write_capture(
    out: Path,
    topic: TopicName,
    messages: Sequence[FakeMessage],
    schemas: Mapping[int, SchemaInfo],
    masking: Masking | None = None,
) -> CaptureFolder:
    """Capture these messages of a topic with these schemas."""
    end = max((one.at for one in messages), default=Position(-1, -1, -1))
    manifest = CaptureManifest(
        topic=partition_name(topic, -1),
        registry="fake",
        address="nowhere",
        broker="4.0.7",
        program="test",
        part_format="parquet",
        begun="2026-05-01T00:00:00+00:00",
        selection=Selection(),
        masking=masking,
        versions=tuple(schemas),
        partitions=(PartitionState(partition=-1, end=end),),
    )
    folder = CaptureFolder.of(out, topic)
    folder.begin(manifest, schemas)
    separated = frozenset(number for number, info in schemas.items() if is_separated(info))
    readers = FakeReaders({partition_name(topic, -1): messages}, block=1_000)
    job = CaptureJob(topic=topic, readers=readers, folder=folder, separated=separated)
    capture_topic(job, manifest)
    return folder
