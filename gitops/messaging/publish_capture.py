"""A capture as it is published: what is in it, and its messages in their order."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gitops.messaging.capture_files import (
    AGAIN,
    MANIFEST,
    SCHEMAS,
    CaptureFolder,
    CaptureManifest,
    PartitionState,
    capture_folders,
)
from gitops.messaging.publish_parts import (
    CapturedMessage,
    count_encrypted,
    count_versions,
    read_part,
)
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo


class PlacedMessage(NamedTuple):
    """A message and the partition that it was in, 0 where the topic has none."""

    partition: int
    message: CapturedMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureSource:
    """One captured topic that was looked at.

    `counts` are the messages of each schema version, None for those without. `fingerprint` is
    another one where the manifest or a schema is.
    """

    folder: CaptureFolder
    manifest: CaptureManifest
    schemas: Mapping[int, SchemaInfo]
    counts: Mapping[int | None, int]
    fingerprint: str

    @property
    def path(self) -> Path:
        """The folder."""
        return self.folder.path

    @property
    def total(self) -> int:
        """How many messages it has."""
        return sum(self.counts.values())

    @property
    def partitions(self) -> int:
        """How many partitions the captured topic has, 1 for one that is not partitioned."""
        return len(self.manifest.partitions)

    def count_encrypted(self) -> int:
        """How many messages are published encrypted; raises UsageError for a damaged file."""
        return sum(
            count_encrypted(path, self.manifest.part_format)
            for state in self.manifest.partitions
            for path in _parts(self.folder, self.manifest, state)
        )

    def messages(self) -> Iterator[PlacedMessage]:
        """All messages, always in the same order: that of each partition, merged by publish time.

        Raises UsageError for a file that is damaged.
        """
        partitions = (self._of_partition(state) for state in self.manifest.partitions)
        return heapq.merge(*partitions, key=lambda message: (message[1].publish_time, message[0]))

    def _of_partition(self, state: PartitionState) -> Iterator[PlacedMessage]:
        for path in _parts(self.folder, self.manifest, state):
            for message in read_part(path, self.manifest.part_format):
                yield PlacedMessage(max(0, state.partition), message)


def read_source(root: Path) -> CaptureSource:
    """The one captured topic below a folder, looked at; raises UsageError, also for damage."""
    items = list(capture_folders(root))
    if len(items) > 1:
        names = ", ".join(str(folder.path) for folder, _ in items)
        raise UsageError(f"{root} has captures of {len(items)} topics", hint=f"name one: {names}")
    folder, manifest = items[0]
    folder.check_parts(manifest)
    counts: Counter[int | None] = Counter()
    for state in manifest.partitions:
        counts += _counts(folder, manifest, state)
    schemas = folder.schemas()
    used = sorted(count for count in counts if count is not None)
    if missing := [number for number in used if number not in schemas]:
        versions = ", ".join(f"v{number}" for number in missing)
        raise UsageError(
            f"{folder.path / SCHEMAS} has no schema for messages of {versions}",
            hint=f"{AGAIN}; a version that was deleted from the registry is lost",
        )
    return CaptureSource(
        folder=folder,
        manifest=manifest,
        schemas={number: schemas[number] for number in used},
        counts=counts,
        fingerprint=_fingerprint(folder, schemas),
    )


def _fingerprint(folder: CaptureFolder, schemas: Mapping[int, SchemaInfo]) -> str:
    sha = hashlib.sha256((folder.path / MANIFEST).read_bytes())
    for version, info in sorted(schemas.items()):
        parts = (version, info.type.value, info.schema, sorted(info.properties.items()))
        sha.update(repr(parts).encode())
    return sha.hexdigest()


def _counts(
    folder: CaptureFolder, manifest: CaptureManifest, state: PartitionState
) -> Counter[int | None]:
    """The messages of a partition by version; raises UsageError where some are missing."""
    counter: Counter[int | None] = Counter()
    for path in _parts(folder, manifest, state):
        counter += count_versions(path, manifest.part_format)
    if counter.total() != state.messages:
        raise UsageError(
            f"{folder.path} is damaged: partition {state.partition} has {counter.total()} "
            f"messages, and its manifest counts {state.messages}",
            hint=AGAIN,
        )
    return counter


def _parts(
    folder: CaptureFolder, manifest: CaptureManifest, state: PartitionState
) -> Iterator[Path]:
    """The parts of a partition that count, in their order."""
    for number in range(state.parts):
        yield folder.part(state.model_copy(update={"parts": number}), manifest.part_format)
