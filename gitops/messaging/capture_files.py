"""The files of a capture of one topic: parts, the schemas beside them, and a manifest.

Each file is written whole or not at all. The manifest names the parts that count: a part that was
written when a run was ended between the two is written again by the next one.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Final, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from gitops.messaging.capture_client import Position
from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo, SchemaType

FORMAT: Final = 1
"""Of the layout; a reader refuses a newer one."""

MANIFEST: Final = "_capture.json"
SCHEMAS: Final = "_schemas"
"""Replays and Spark skip what begins with `_`."""

AGAIN: Final = "capture the topic again"
_NEW: Final = ".new"

PartFormat = Literal["parquet", "avro"]


class _Document(BaseModel):
    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True
    )


_Place = tuple[int, int, int]


class PartitionState(_Document):
    """How far a partition is captured.

    `partition` is -1 where the topic has none. `end` and `last` are positions: the newest message
    when the capture began, and the last one that was looked at and is in the files, unless it was
    not chosen or `left_out`. `unfinished` is where a message in chunks begins that was not whole by
    then: reading goes on there, and passes over what is not behind `last`. `checksums` are SHA-256
    of the parts, in hexadecimal digits; captures of former releases have none. `without_schema` are
    messages by version, of versions that the registry did not have any more: they are in the files.
    `messages_by_version` are those of all versions, without messages that have none; captures of
    former releases did not count them.
    `trimmed_before` is the oldest ledger of a compacted topic, whose messages are all there;
    `compacted` are the messages of ledgers before: compaction kept the latest of each key.
    """

    partition: Annotated[int, Field(ge=-1)]
    end: _Place | None = Field(default=None, strict=False)
    last: _Place | None = Field(default=None, strict=False)
    unfinished: _Place | None = Field(default=None, strict=False)
    messages: int = 0
    left_out: dict[str, int] = Field(default_factory=dict)
    trimmed_before: int | None = None
    compacted: int = 0
    without_schema: dict[int, int] = Field(default_factory=dict)
    messages_by_version: dict[int, int] | None = None
    parts: int = 0
    checksums: tuple[str, ...] = Field(default=(), strict=False)
    is_done: bool = False

    @property
    def chosen(self) -> int:
        """The messages of the selection so far, those that were left out among them."""
        return self.messages + sum(self.left_out.values())

    @property
    def position(self) -> Position | None:
        """The last one as a position."""
        return None if self.last is None else Position(*self.last)

    @property
    def begin(self) -> Position | None:
        """The entry that reading goes on with, where it is not the one behind the last."""
        return None if self.unfinished is None else Position(*self.unfinished)


class Selection(_Document):
    """Which messages are captured; `sample` is a share.

    `since` and `until` are in ms since 1970, `since_text` and `until_text` as they were given.
    """

    since: int | None = None
    until: int | None = None
    limit: int | None = None
    sample: float | None = None
    since_text: str | None = None
    until_text: str | None = None

    def is_same(self, selection: Selection) -> bool:
        """Whether it was asked for alike; a duration counts from where the capture began."""
        then, now = (item.model_copy(update={"since": 0, "until": 0}) for item in (self, selection))
        return then == now


class Masking(_Document):
    """The fields that are masked, and how: `redact` or `hash`."""

    fields: tuple[str, ...] = Field(default=(), strict=False)
    how: str = "redact"


class CaptureManifest(_Document):
    """What a capture of a topic is; `begun` and `ended` are moments in UTC, as ISO 8601."""

    format: int = FORMAT
    topic: str
    registry: str
    address: str
    broker: str
    program: str
    part_format: PartFormat
    begun: str
    ended: str | None = None
    selection: Selection
    masking: Masking | None = None
    is_decrypted: bool = False
    versions: tuple[int, ...] = Field(default=(), strict=False)
    partitions: tuple[PartitionState, ...] = Field(strict=False)

    @property
    def is_complete(self) -> bool:
        """Whether all partitions were read to their ends."""
        return all(partition.is_done for partition in self.partitions)

    @property
    def without_schema(self) -> Mapping[int, int]:
        """The messages of all partitions whose version has no schema beside them, by version."""
        counter: Counter[int] = Counter()
        for partition in self.partitions:
            counter.update(partition.without_schema)
        return dict(sorted(counter.items()))

    @property
    def messages_by_version(self) -> Mapping[int, int] | None:
        """The messages of all partitions by schema version; None where they were not counted."""
        counter: Counter[int] = Counter()
        for state in self.partitions:
            if state.messages_by_version is None:
                return None
            counter.update(state.messages_by_version)
        return dict(sorted(counter.items()))

    @property
    def checksums(self) -> Mapping[str, str]:
        """Those of the parts, by file name."""
        return {
            part_name(state.partition, number, self.part_format): text
            for state in self.partitions
            for number, text in enumerate(state.checksums)
        }

    def with_state(self, state: PartitionState) -> CaptureManifest:
        """With the newer state of a partition."""
        states = (
            state if partition.partition == state.partition else partition
            for partition in self.partitions
        )
        return self.model_copy(update={"partitions": tuple(states)})


class SchemaFile(_Document):
    """One version of a topic's schema, as admin REST has it."""

    version: int
    type: Annotated[SchemaType, Field(strict=False)]
    schema_text: str = Field(alias="schema")
    properties: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CaptureFolder:
    """The folder of one topic."""

    path: Path

    @classmethod
    def of(cls, root: Path, topic: TopicName) -> CaptureFolder:
        """`tenant/namespace/topic` below `root`."""
        space = topic.namespace
        names = (space.tenant, space.local_name, topic.local_name)
        return cls(root.joinpath(*map(_file_name, names)))

    def manifest(self) -> CaptureManifest | None:
        """The manifest, None where there is none; raises UsageError for one that is broken."""
        path = self.path / MANIFEST
        try:
            capture_manifest = CaptureManifest.model_validate_json(_read_document(path))
        except FileNotFoundError:
            return None
        except (ValidationError, OSError) as error:
            raise UsageError(
                f"{path} is not the manifest of a capture", hint="name another folder"
            ) from error
        if capture_manifest.format > FORMAT:
            raise UsageError(
                f"{path} is of format {capture_manifest.format}, and this program reads {FORMAT}",
                hint="upgrade pulsar-schema-gitops",
            )
        return capture_manifest

    def schemas(self) -> Mapping[int, SchemaInfo]:
        """The schemas that lie beside the messages; raises UsageError for one that is broken."""
        grouped = {}
        for path in sorted((self.path / SCHEMAS).glob("*.json")):
            try:
                read = SchemaFile.model_validate_json(_read_document(path))
            except (ValidationError, OSError) as error:
                raise UsageError(
                    f"{path} is not a schema of a capture", hint="capture the topic again"
                ) from error
            grouped[read.version] = SchemaInfo(
                type=read.type, schema=read.schema_text, properties=read.properties
            )
        return grouped

    def begin(self, manifest: CaptureManifest, schemas: Mapping[int, SchemaInfo]) -> None:
        """Make the folder, the schemas and the manifest; raises UsageError where it cannot be."""
        with writable(self.path):
            (self.path / SCHEMAS).mkdir(parents=True, exist_ok=True)
            for version, info in schemas.items():
                body = SchemaFile(
                    version=version,
                    type=info.type,
                    schema_text=info.schema,
                    properties=dict(info.properties),
                )
                write_file(self.path / SCHEMAS / f"{version}.json", _json(body))
            self.save(manifest)

    def save(self, manifest: CaptureManifest) -> None:
        """Replace the manifest."""
        with writable(self.path):
            write_file(self.path / MANIFEST, _json(manifest))

    def part(self, state: PartitionState, part_format: PartFormat) -> Path:
        """The next part of a partition."""
        return self.path / part_name(state.partition, state.parts, part_format)

    def check_parts(self, manifest: CaptureManifest) -> None:
        """Raise UsageError where a part is not there, or is not what was written."""
        for name, expected in manifest.checksums.items():
            path = self.path / name
            try:
                value = checksum(path)
            except FileNotFoundError:
                raise UsageError(
                    f"{path} is not there, and the manifest counts it", hint=AGAIN
                ) from None
            except OSError as error:
                raise UsageError(f"cannot read {path}: {error.strerror}") from error
            if value != expected:
                raise UsageError(f"{path} is damaged: {DAMAGE}", hint=AGAIN)

    def is_used(self) -> bool:
        """Whether anything is in the folder but the beginnings of a capture."""
        if not self.path.is_dir():
            return self.path.exists()
        names = {path.name for path in self.path.iterdir()} - {SCHEMAS}
        return any(not name.endswith(_NEW) for name in names)


DAMAGE: Final = "its SHA-256 is not the one in the capture's manifest"


def part_name(partition: int, number: int, part_format: PartFormat) -> str:
    """The file name of a part."""
    return f"part-{max(0, partition):05}-{number:06}.{part_format}"


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits; raises OSError."""
    _require_regular(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_LARGEST_DOCUMENT: Final = 16 << 20
"""Bytes of a manifest: the checksums of 200,000 parts, or the states of 60,000 partitions."""


def _read_document(path: Path) -> bytes:
    """A manifest or a schema of a capture; raises OSError, UsageError for one that is too large."""
    _require_regular(path)
    if path.stat().st_size > _LARGEST_DOCUMENT:
        raise UsageError(
            f"{path} is larger than {_LARGEST_DOCUMENT >> 20} MiB, and no part of a capture",
            hint="name another folder",
        )
    return path.read_bytes()


def _require_regular(path: Path) -> None:
    """Raise UsageError for a pipe or a device, which nobody may ever write to; raises OSError."""
    if not path.is_dir() and not stat.S_ISREG(path.stat().st_mode):
        raise UsageError(f"{path} is no regular file", hint=AGAIN)


def capture_folders(root: Path) -> Iterator[tuple[CaptureFolder, CaptureManifest]]:
    """The topics below a folder, or the one that it is; raises UsageError where there is none."""
    if not root.is_dir():
        raise UsageError(f"there is no folder '{root}'", hint="name a folder of `capture --out`")
    items = [CaptureFolder(path.parent) for path in sorted(root.glob(f"**/{MANIFEST}"))]
    if not items:
        raise UsageError(
            f"{root} has no capture in it (no {MANIFEST})", hint="name a folder of `capture --out`"
        )
    for folder in items:
        if manifest := folder.manifest():
            yield folder, manifest


def write_file(path: Path, data: bytes) -> None:
    """Write all of a file, or nothing."""
    with new_file(path) as file:
        file.write(data)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that appears under its name once the block is done, and lasts a loss of power."""
    before = path.with_name(f".{path.name}{_NEW}")
    try:
        with before.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        before.replace(path)
    except BaseException:
        with suppress(OSError):
            before.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """Make a UsageError of what goes wrong with files while the block runs."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"cannot write to {path}: {error.strerror or error}",
            hint="name another folder with --out, or make room there",
        ) from error


def _json(document: BaseModel) -> bytes:
    body = document.model_dump(mode="json", by_alias=True)
    return json.dumps(body, indent=2, ensure_ascii=False).encode() + b"\n"


def _file_name(name: str) -> str:
    """A name that no file system and no reader of samples understands otherwise."""
    quoted = quote(name, safe=" !$&'()+,;=@~")
    first = f"%{ord(quoted[0]):02X}" if quoted[0] in "._" else quoted[0]
    return f"{first}{quoted[1:]}"
