"""A capture as it is published: what is in it, and its messages in their order."""

from __future__ import annotations

import base64
import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from gitops.messaging.capture_columns import SCHEMA
from gitops.messaging.capture_files import (
    MANIFEST,
    SCHEMAS,
    CaptureFolder,
    CaptureManifest,
    PartitionState,
    capture_folders,
)
from gitops.messaging.errors import InvalidValueError
from gitops.messaging.message import Message
from gitops.messaging.values.schema import ValueSchema
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo

_ROWS: Final = 1_000
"""Messages of a partition that are held as Python values."""
_AGAIN: Final = "capture the topic again"


class CapturedMessage(NamedTuple):
    """A message of a capture; times are in ms since 1970, `properties` None where none are kept.

    `partition` is 0 where the topic has none.
    """

    partition: int
    publish_time: int
    event_time: int | None
    key: bytes | None
    key_is_base64: bool | None
    ordering_key: bytes | None
    version: int | None
    payload: bytes | None
    properties: list[tuple[str, str]] | None
    encryption: dict[str, Any] | None

    def to_message(self, schema: ValueSchema) -> Message:
        """What is sent; raises InvalidValueError for what no producer can send."""
        if self.encryption is not None and not self.encryption["is_decrypted"]:
            raise InvalidValueError("it is encrypted", hint="capture it with --decryption-key")
        if self.properties is None:
            raise InvalidValueError("its properties are no UTF-8: the capture has none of them")
        return Message(
            schema,
            value=self.payload,
            key=self.wire_key(),
            has_encoded_key=bool(self.key_is_base64),
            ordering_key=self.ordering_key,
            properties=dict(self.properties),
            event_time=self.event_time,
        )

    def wire_key(self) -> str | None:
        """The key as the protocol has it; raises InvalidValueError where it is no text."""
        if self.key is None:
            return None
        if self.key_is_base64:
            return base64.b64encode(self.key).decode()
        try:
            return self.key.decode()
        except UnicodeDecodeError:
            raise InvalidValueError("its key is no UTF-8") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureSource:
    """One captured topic that was looked at.

    `counts` are the messages of each schema version, None for those without. `fingerprint` is
    another one where anything of the capture is.
    """

    folder: Path
    manifest: CaptureManifest
    schemas: Mapping[int, SchemaInfo]
    counts: Mapping[int | None, int]
    fingerprint: str

    @property
    def total(self) -> int:
        """How many messages it has."""
        return sum(self.counts.values())

    @property
    def partitions(self) -> int:
        """How many partitions the captured topic has, 1 for one that is not partitioned."""
        return len(self.manifest.partitions)

    def messages(self) -> Iterator[CapturedMessage]:
        """All messages, always in the same order: that of each partition, merged by publish time.

        Raises UsageError for a file that is damaged.
        """
        partitions = (_rows(self.folder, state) for state in self.manifest.partitions)
        return heapq.merge(*partitions, key=lambda each: (each.publish_time, each.partition))


def read_source(root: Path) -> CaptureSource:
    """The one captured topic below a folder, looked at; raises UsageError, also for damage."""
    found = list(capture_folders(root))
    if len(found) > 1:
        names = ", ".join(str(folder.path) for folder, _ in found)
        raise UsageError(f"{root} has captures of {len(found)} topics", hint=f"name one: {names}")
    folder, manifest = found[0]
    if manifest.part_format != "parquet":
        raise UsageError(
            f"{folder.path} has messages in the format {manifest.part_format}", hint=_AGAIN
        )
    counts: Counter[int | None] = Counter()
    for state in manifest.partitions:
        counts += _counts(folder.path, state)
    schemas = folder.schemas()
    used = sorted(each for each in counts if each is not None)
    if missing := [each for each in used if each not in schemas]:
        versions = ", ".join(f"v{each}" for each in missing)
        raise UsageError(
            f"{folder.path / SCHEMAS} has no schema for messages of {versions}",
            hint="capture the topic again; a version that was deleted from the registry is lost",
        )
    return CaptureSource(
        folder=folder.path,
        manifest=manifest,
        schemas={each: schemas[each] for each in used},
        counts=counts,
        fingerprint=_fingerprint(folder),
    )


def _fingerprint(folder: CaptureFolder) -> str:
    sha = hashlib.sha256((folder.path / MANIFEST).read_bytes())
    for version, info in sorted(folder.schemas().items()):
        sha.update(
            repr((version, info.type, info.schema, sorted(info.properties.items()))).encode()
        )
    return sha.hexdigest()


def _counts(folder: Path, state: PartitionState) -> Counter[int | None]:
    """The messages of a partition by version; raises UsageError where some are missing."""
    found: Counter[int | None] = Counter()
    for batch in _batches(folder, state, ["schema_version"]):
        for each in pyarrow.compute.value_counts(batch.column(0)).to_pylist():
            found[each["values"]] += each["counts"]
    if found.total() != state.messages:
        raise UsageError(
            f"{folder} is damaged: partition {state.partition} has {found.total()} messages, its "
            f"manifest counts {state.messages}",
            hint=_AGAIN,
        )
    return found


def _rows(folder: Path, state: PartitionState) -> Iterator[CapturedMessage]:
    partition = max(0, state.partition)
    for batch in _batches(folder, state, SCHEMA.names):
        columns = (_integers(batch, "publish_time"), _integers(batch, "event_time"))
        others = (
            "key",
            "key_is_base64",
            "ordering_key",
            "schema_version",
            "payload",
            "properties",
            "encryption",
        )
        values = (batch.column(name).to_pylist() for name in others)
        for row in zip(*columns, *values, strict=True):
            yield CapturedMessage(partition, *row)


def _integers(batch: pyarrow.RecordBatch, name: str) -> list[int | None]:
    found: list[int | None] = batch.column(name).cast(pyarrow.int64()).to_pylist()
    return found


def _batches(
    folder: Path, state: PartitionState, columns: list[str]
) -> Iterator[pyarrow.RecordBatch]:
    """Messages of the parts that count, in their order; raises UsageError for a damaged part."""
    for number in range(state.parts):
        path = CaptureFolder(folder).part(state.model_copy(update={"parts": number}), "parquet")
        with _whole(path), pyarrow.parquet.ParquetFile(path) as part:
            for group in range(part.num_row_groups):
                yield from part.iter_batches(_ROWS, row_groups=[group], columns=columns)


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Make a UsageError of what a file is damaged by."""
    try:
        yield
    except FileNotFoundError:
        raise UsageError(f"{path} is not there, and the manifest counts it", hint=_AGAIN) from None
    except (pyarrow.ArrowException, OSError) as error:
        raise UsageError(f"{path} is damaged: it cannot be read as Parquet", hint=_AGAIN) from error
