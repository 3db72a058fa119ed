"""Captures as the samples of a replay, in place of those that manifests name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from gitops.messaging.capture_files import (
    CaptureFolder,
    CaptureManifest,
    PartFormat,
    capture_folders,
)
from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from gitops.model.replay import Sample
from gitops.model.sample_formats import SampleFormat
from gitops.model.schema import SchemaInfo
from gitops.model.state import Repository, TopicSource

_FORMATS: Final[Mapping[PartFormat, SampleFormat]] = {
    "parquet": "capture",
    "avro": "capture-avro",
}
"""Of the samples that the parts of a capture are."""


@dataclass(slots=True, kw_only=True)
class CapturedTopic:
    """The folders of a topic's messages, the schemas of their versions, and masked fields."""

    folders: dict[Path, SampleFormat] = field(default_factory=dict)
    schemas: dict[int, SchemaInfo] = field(default_factory=dict)
    masked: set[str] = field(default_factory=set)

    def add(self, topic: TopicName, folder: CaptureFolder, manifest: CaptureManifest) -> None:
        """One more capture; raises UsageError where one of its versions is another schema."""
        for version, info in folder.schemas().items():
            if self.schemas.setdefault(version, info) != info:
                raise UsageError(
                    f"v{version} of {topic} is another schema in {folder.path} than in "
                    f"{next(iter(self.folders))}: they are of two registries",
                    hint="replay each of them by itself",
                )
        self.folders[folder.path] = _FORMATS[manifest.part_format]
        self.masked |= set(manifest.masking.fields if manifest.masking else ())


Captures = Mapping[TopicName, CapturedTopic]


def read_captures(root: Path) -> Captures:
    """The captured topics below a folder; raises UsageError where there is none."""
    grouped: dict[TopicName, CapturedTopic] = {}
    for folder, manifest in capture_folders(root):
        topic = TopicName.parse(manifest.topic)
        grouped.setdefault(topic, CapturedTopic()).add(topic, folder, manifest)
    return grouped


def with_captured_samples(repository: Repository, captures: Captures) -> Repository:
    """The repository whose topics have captures as their only samples.

    Fields that a manifest names as sensitive are it here, too, and so are those that were masked.
    """
    topics = {
        topic: replace(source, samples=_samples(source, captures.get(topic)))
        for topic, source in repository.topics.items()
    }
    return replace(repository, topics=topics)


def _samples(source: TopicSource, captured: CapturedTopic | None) -> tuple[Sample, ...]:
    if captured is None:
        return ()
    sensitive = captured.masked.union(*(sample.sensitive for sample in source.samples))
    return tuple(
        Sample(
            format=sample_format,
            path=f"file://{folder.resolve()}",
            location=source.manifest,
            sensitive=tuple(sorted(sensitive)),
        )
        for folder, sample_format in captured.folders.items()
    )
