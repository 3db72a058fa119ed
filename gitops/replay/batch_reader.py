"""Reads batches of messages with every reader of their topic; a worker's part of a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

import numpy
import pyarrow
import pyarrow.compute

from gitops.model.replay import Direction, LogicalTypes, ReaderSchema
from gitops.model.sample_formats import SAMPLE_FORMATS
from gitops.replay.batches import MOST_BYTES, MOST_ROWS, MessageLocations, groups
from gitops.replay.counts import (
    MOST_CHOSEN_BYTES,
    TOMBSTONE,
    ForwardMessage,
    Key,
    Limits,
    PartResult,
    lowest_hashes,
)
from gitops.replay.failure_display import FailureDisplay
from gitops.replay.job import Job, Owner
from gitops.replay.kernel.key_value.definition import is_separated
from gitops.replay.kernel.key_value.wire_format import join
from gitops.replay.kernel.protocol import Kernel, Reason
from gitops.replay.reader_counts import Messages, ReaderCounts
from gitops.replay.sources.source import STREAM, LiveVersions, Part, UnreadableError, source_for
from gitops.replay.sources.source_errors import file_error_text, hint_of

_HIGHEST: Final = 2**64 - 1


class ForwardSelection:
    """Of one part of the data, by topic and version; `Limits` says how many of each.

    `below` is what others know: enough messages with hashes up to that one were found elsewhere.
    """

    def __init__(self, limits: Limits, below: Mapping[tuple[str, int], int]) -> None:
        self._limits = limits
        self._chosen: dict[tuple[str, int], list[ForwardMessage]] = {}
        self._below = dict(below)
        self._bytes: dict[tuple[str, int], int] = {}

    def add(self, topic: str, version: int, sample: int, messages: Messages) -> None:
        """Consider messages; far fewer are kept than are looked at."""
        most = self._limits.forward_rows.get(topic, 0)
        if not most:
            return
        hashes = messages.places.hashes()
        below = numpy.uint64(self._below.get((topic, version), _HIGHEST))
        if len(hashes) > most:
            below = min(below, numpy.partition(hashes, most - 1)[most - 1])
        rows = numpy.flatnonzero(hashes <= below)
        if not len(rows):
            return
        chosen = self._chosen.setdefault((topic, version), [])
        new = [
            ForwardMessage(
                int(hashes[row]),
                messages.places.where(int(row)),
                sample,
                messages.payloads[int(row)].as_py(),
            )
            for row in rows
        ]
        chosen.extend(new)
        size = self._bytes.get((topic, version), 0) + sum(len(message.payload) for message in new)
        self._bytes[topic, version] = size
        if len(chosen) > 2 * most or size > 2 * MOST_CHOSEN_BYTES:
            self._cut(topic, version, most)

    def _cut(self, topic: str, version: int, most: int) -> None:
        kept = lowest_hashes(self._chosen[topic, version], most)
        self._chosen[topic, version] = kept
        self._below[topic, version] = kept[-1].hash if kept else 0
        self._bytes[topic, version] = sum(len(message.payload) for message in kept)

    def end(self) -> dict[tuple[str, int], list[ForwardMessage]]:
        """What was chosen, sorted."""
        return {
            version: lowest_hashes(chosen, self._limits.forward_rows[version[0]])
            for version, chosen in self._chosen.items()
        }


def hash_bounds(
    chosen: Mapping[tuple[str, int], list[ForwardMessage]], limits: Limits
) -> dict[tuple[str, int], int]:
    """The highest hash of each version that has as many messages as are wanted.

    `chosen` may grow meanwhile, in another thread.
    """
    return {
        version: messages[-1].hash
        for version, messages in list(chosen.items())
        if messages and len(messages) >= limits.forward_rows[version[0]]
    }


# Reads batches with every reader of their topic, and keeps what adds up.


OTHER_TOPIC: Final = Reason("", "the message belongs to a different topic")
NO_VERSION: Final = Reason("", "the schema version of the message is unknown")
NO_SUCH_SCHEMA: Final = Reason("", "no version of the topic has the file's schema")
UNKNOWN_VERSION: Final = Reason("", "the topic has no such schema version")
NO_PAYLOAD: Final = Reason("", "the message has no payload")
_TOMBSTONE: Final = Reason("", TOMBSTONE)


_ReaderKernel = tuple[ReaderSchema, Kernel | Reason]


class BatchReader:
    """Of one part of the data: give it batches, then ask for the end.

    `later` counts rows that it was not given, since somebody else reads them.
    """

    def __init__(self, job: Job, below: Mapping[tuple[str, int], int] | None = None) -> None:
        self._job = job
        self._rows = 0
        self.later = 0
        self._readings = ReaderCounts(job.examples, FailureDisplay(job))
        self._choosing = ForwardSelection(job.limits, below or {})
        self._unread: list[tuple[str, int, str, str, str]] = []
        self._kernels: dict[tuple[str, int, LogicalTypes], list[_ReaderKernel]] = {}

    def unread(self, owners: Iterable[Owner], file: str, why: str, hint: str = "") -> None:
        """Note that a file of a sample could not be read, or not to its end."""
        self._unread.extend((owner.topic, owner.sample, file, why, hint) for owner in owners)

    def add(self, batch: pyarrow.RecordBatch, owners: Sequence[Owner]) -> None:
        """Read a batch; rows that name no topic are of every owner, others of that topic's."""
        self._rows += batch.num_rows
        whole = Messages(batch.column("payload"), MessageLocations.of(batch), batch.column("key"))
        for topic, version, rows in groups(batch):
            messages = whole if rows is None else whole.take(rows)
            members = owners if topic is None else self._owners_of(topic, owners)
            if not members:
                self._readings.fail(_key(owners[0], None), OTHER_TOPIC, messages)
            for owner in members:
                self._add(owner, version, messages)

    def end(self) -> PartResult:
        """All that was read."""
        return PartResult(
            rows=self._rows,
            later=self.later,
            tallies=self._readings.tallies(),
            unread=self._unread,
            chosen=self._choosing.end(),
        )

    def _owners_of(self, topic: str, owners: Sequence[Owner]) -> Sequence[Owner]:
        name = self._job.topic_of(topic)
        return [owner for owner in owners if owner.topic == name]

    def _add(self, owner: Owner, version: int | None, messages: Messages) -> None:
        row = SAMPLE_FORMATS[self._job.sample(owner).format]
        if version is None:
            version = self._job.sample(owner).version
        if row.has_tombstones and not self._is_separated(owner, version):
            messages = self._with_payload(_key(owner, version), _TOMBSTONE, messages)
            if not len(messages.payloads):
                return
        if version is None:
            why = NO_SUCH_SCHEMA if row.names_versions else NO_VERSION
            self._readings.fail(_key(owner, None), why, messages)
        elif version not in self._job.replays[owner.topic].versions:
            self._readings.fail(_key(owner, None), UNKNOWN_VERSION, messages)
        else:
            self._add_known(owner, version, messages)

    def _add_known(self, owner: Owner, version: int, messages: Messages) -> None:
        if self._is_separated(owner, version):
            pairs = join(messages.keys, messages.payloads)
            messages = messages._replace(payloads=pairs)
        messages = self._with_payload(_key(owner, version), NO_PAYLOAD, messages)
        if not len(messages.payloads):
            return
        how = self._job.sample(owner).logical_types
        for reader, kernel in self._kernels_of(owner.topic, version, how):
            key = _key(owner, version, reader)
            if isinstance(kernel, Reason):
                self._readings.fail(key, kernel, messages)
            else:
                self._readings.walk(key, kernel, messages)
        self._choosing.add(owner.topic, version, owner.sample, messages)

    def _is_separated(self, owner: Owner, version: int | None) -> bool:
        """Whether a payload is only half of a message."""
        versions = self._job.replays[owner.topic].versions
        info = None if version is None else versions.get(version)
        return info is not None and is_separated(info)

    def _with_payload(self, key: Key, why: Reason, messages: Messages) -> Messages:
        """Those that have one; the others are counted, and why no reader is asked about them."""
        if not messages.payloads.null_count:
            return messages
        missing = messages.payloads.is_null()
        empty = messages.take(pyarrow.compute.indices_nonzero(missing))
        self._readings.fail(key, why, empty)
        return messages.take(pyarrow.compute.indices_nonzero(pyarrow.compute.invert(missing)))

    def _kernels_of(self, topic: str, version: int, how: LogicalTypes) -> list[_ReaderKernel]:
        if (topic, version, how) not in self._kernels:
            replay = self._job.replays[topic]
            written, kernel_or_reason = replay.versions[version], self._job.kernels.kernel_or_reason
            self._kernels[topic, version, how] = [
                (reader, kernel_or_reason(written, reader.schema, how))
                for reader in replay.readers
                if reader.direction is Direction.BACKWARD
            ]
        return self._kernels[topic, version, how]


def _key(owner: Owner, version: int | None, reader: ReaderSchema | None = None) -> Key:
    return Key(
        topic=owner.topic,
        version=version,
        reader=reader.name if reader else "",
        sample=owner.sample,
    )


# What a worker does: parts of samples in, one answer out.


Watch = Callable[[int], bool]
"""Called with the number of rows of each batch; False ends the reading."""

OwnedBatch = tuple[Sequence[Owner], pyarrow.RecordBatch]


def read_parts(
    job: Job,
    parts: Iterable[Part],
    watch: Watch = lambda _rows: True,
    below: Mapping[tuple[str, int], int] | None = None,
) -> PartResult:
    """Read parts one after the other; a broken one is told, and does not stop the others.

    `below`: of a topic's version, only messages whose places hash lower need to be chosen.
    """
    reader = BatchReader(job, below)
    for owners, batch in join_batches(_batches(job, parts, reader)):
        reader.add(batch, owners)
        if not watch(batch.num_rows):
            break
    return reader.end()


def _batches(job: Job, parts: Iterable[Part], reader: BatchReader) -> Iterator[OwnedBatch]:
    versions = LiveVersions(job)
    for part in parts:
        rows = 0
        try:
            for batch in source_for(part.format).batches(part, versions):
                yield part.owners, batch
                rows += batch.num_rows
        except (UnreadableError, OSError) as error:
            text = f"{file_error_text(part.file.name, error)}{_messages_before(part, rows)}"
            reader.unread(part.owners, part.file.name, text, hint_of(error))


def _messages_before(part: Part, rows: int) -> str:
    """How much of a file was read before it broke off."""
    if not rows:
        return ""
    of = "" if part.group == STREAM else f" of row group {part.group}"
    return (
        f"; the {rows:,} messages before that{of} were read"
        if rows > 1
        else (f"; the one message before that{of} was read")
    )


def join_batches(batches: Iterable[OwnedBatch]) -> Iterator[OwnedBatch]:
    """Small batches of the same owners as one: what a call of a kernel costs is shared."""
    for owners, members in groupby(batches, key=lambda owner: owner[0]):
        waiting: list[pyarrow.RecordBatch] = []
        rows = size = 0
        for _, batch in members:
            rows += batch.num_rows
            size += batch.nbytes
            if waiting and (rows > MOST_ROWS or size > MOST_BYTES):
                yield owners, _concatenate(waiting)
                waiting, rows, size = [], batch.num_rows, batch.nbytes
            waiting.append(batch)
        if waiting:
            yield owners, _concatenate(waiting)


def _concatenate(batches: list[pyarrow.RecordBatch]) -> pyarrow.RecordBatch:
    return batches[0] if len(batches) == 1 else pyarrow.concat_batches(batches)
