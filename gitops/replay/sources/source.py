"""What a source reads and answers: files, parts of them, and what it asks of a topic's versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final, Protocol

import pyarrow

from gitops.model.decision import StoredSchema
from gitops.model.sample_formats import SAMPLE_FORMATS, SampleFormat
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.job import Job, Owner
from gitops.replay.kernel.key_value.definition import is_separated
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.payload import PayloadError, to_stored
from gitops.schemas.types import TYPES

STREAM: Final = -1
"""The `group` of a part that is a whole file."""

MOST_PAYLOAD: Final = 64 * 1024 * 1024
"""Bytes of one message: a broker takes 5 MiB unless told otherwise (maxMessageSize, Pulsar 4.0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of a sample.

    `name` is what a person calls it: a path from the repository's root, or a URI. `uri` is where
    it is opened: an absolute path of this machine, or a URI that pyarrow knows. `content` is all
    of it where somebody else opened it.
    """

    name: str
    uri: str
    size: int
    content: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file or a piece of it; it can be pickled.

    `group` is the number of a Parquet row group or an ORC stripe. `first_row` is the number of its
    first message in the file, from 1. `rows` and `bytes` are how much it is; `rows` is 0 where
    nobody knows before it is read. `columns` renames columns.
    """

    owners: tuple[Owner, ...]
    format: SampleFormat
    file: File
    columns: Mapping[str, str] = field(default_factory=dict)
    group: int = STREAM
    first_row: int = 1
    rows: int = 0
    bytes: int = 0


class UnreadableError(Exception):
    """What is left of a part cannot be read; a sentence without an end says why.

    `hint` is what to do about it, empty where nobody knows.
    """

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.hint = hint


class Source(Protocol):
    """Reads the files of one format.

    Whatever a file holds makes a batch or an UnreadableError; OSError means that the file itself
    cannot be had.
    """

    def parts(self, whole: Part) -> Iterator[Part]:
        """Cut a file into parts that can be read side by side; raises UnreadableError, OSError."""
        ...

    def batches(self, part: Part, versions: Versions) -> Iterator[pyarrow.RecordBatch]:
        """The messages of a part; raises UnreadableError, OSError."""
        ...


class Versions(Protocol):
    """What is to be known of the topics' versions to read their messages."""

    def version_of(self, owner: Owner, definition: bytes) -> int | None:
        """The live version whose schema this is, by Avro's equality; None if there is none."""
        ...

    def need_keys(self, owners: Iterable[Owner]) -> bool:
        """Whether messages of a version are read with their keys."""
        ...


def source_for(sample_format: SampleFormat) -> Source:
    """Its libraries load where it is used; raises UnreadableError for what is in no file."""
    path = SAMPLE_FORMATS[sample_format].source
    if not path:
        raise UnreadableError(f"no file contains a {sample_format}")
    module, _, name = path.rpartition(".")
    source: Source = getattr(import_module(f"gitops.{module}"), name)()
    return source


# What sources ask of the versions of topics: whose schema a file brings along, what they need.


class LiveVersions:
    """Of the topics of a replay; asked once for each definition."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._known: dict[tuple[str, bytes], int | None] = {}

    def version_of(self, owner: Owner, definition: bytes) -> int | None:
        """The live version whose schema this is, by Avro's equality; None if there is none."""
        asked = (owner.topic, definition)
        if asked not in self._known:
            self._known[asked] = self._find(owner, definition)
        return self._known[asked]

    def need_keys(self, owners: Iterable[Owner]) -> bool:
        """Whether messages of a version are read with their keys."""
        replays = (self._job.replays[owner.topic] for owner in owners)
        return any(is_separated(info) for replay in replays for info in replay.versions.values())

    def _find(self, owner: Owner, definition: bytes) -> int | None:
        candidate = StoredSchema(type=SchemaType.AVRO, data=definition)
        for version, info in sorted(self._job.replays[owner.topic].versions.items()):
            if info.type is SchemaType.AVRO and _is_equal(version, info, candidate):
                return version
        return None


def is_same_avro(definition: bytes, text: str) -> bool:
    """Whether two definitions are one schema, by Avro's equality."""
    info = SchemaInfo(type=SchemaType.AVRO, schema=text)
    return _is_equal(0, info, StoredSchema(type=SchemaType.AVRO, data=definition))


def _is_equal(version: int, info: SchemaInfo, candidate: StoredSchema) -> bool:
    try:
        return TYPES.find_equal([(version, to_stored(info))], candidate) is not None
    except (AvroParseError, PayloadError):
        return False
