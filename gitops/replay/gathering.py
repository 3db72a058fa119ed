"""Reads batches with every reader of their topic, and keeps what adds up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import pyarrow
import pyarrow.compute

from gitops.model.replay import Direction, ReaderSchema
from gitops.model.samples import LogicalTypes
from gitops.replay.batches import Places
from gitops.replay.choosing import Choosing
from gitops.replay.grouping import groups
from gitops.replay.job import Job, Owner
from gitops.replay.kernel.key_value.halves import is_separated
from gitops.replay.kernel.key_value.pairs import join
from gitops.replay.kernel.walk import Kernel, Reason
from gitops.replay.readings import Messages, Readings
from gitops.replay.showing import Showing
from gitops.replay.tally import Gathered, Key

OTHER_TOPIC: Final = Reason("", "the message is of another topic")
NO_VERSION: Final = Reason("", "nothing says which schema version the message has")
NO_SUCH_SCHEMA: Final = Reason("", "the file's schema is that of no version of the topic")
UNKNOWN_VERSION: Final = Reason("", "the topic has no such schema version")
NO_PAYLOAD: Final = Reason("", "the message has no payload")


_Asked = tuple[ReaderSchema, Kernel | Reason]


class Gathering:
    """Of one part of the data: give it batches, then ask for the end.

    `later` counts rows that it was not given, since somebody else reads them.
    """

    def __init__(self, job: Job, below: Mapping[tuple[str, int], int] | None = None) -> None:
        self._job = job
        self._rows = 0
        self.later = 0
        self._readings = Readings(job.examples, Showing(job))
        self._choosing = Choosing(job.limits, below or {})
        self._unread: list[tuple[str, int, str, str, str]] = []
        self._kernels: dict[tuple[str, int, LogicalTypes], list[_Asked]] = {}

    def unread(self, owners: Iterable[Owner], file: str, why: str, hint: str = "") -> None:
        """Note that a file of a sample could not be read, or not to its end."""
        self._unread.extend((owner.topic, owner.sample, file, why, hint) for owner in owners)

    def add(self, batch: pyarrow.RecordBatch, owners: Sequence[Owner]) -> None:
        """Read a batch; rows that name no topic are of every owner, others of that topic's."""
        self._rows += batch.num_rows
        whole = Messages(batch.column("payload"), Places.of(batch), batch.column("key"))
        for topic, version, rows in groups(batch):
            messages = whole if rows is None else whole.take(rows)
            its = owners if topic is None else self._owners_of(topic, owners)
            if not its:
                self._readings.fail(_key(owners[0], None), OTHER_TOPIC, messages)
            for owner in its:
                self._add(owner, version, messages)

    def end(self) -> Gathered:
        """All that was read."""
        return Gathered(
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
        if version is None:
            version = self._job.sample(owner).version
        if version is None:
            is_told = self._job.sample(owner).format == "avro"
            why = NO_SUCH_SCHEMA if is_told else NO_VERSION
            self._readings.fail(_key(owner, None), why, messages)
        elif version not in self._job.replays[owner.topic].versions:
            self._readings.fail(_key(owner, None), UNKNOWN_VERSION, messages)
        else:
            self._add_known(owner, version, messages)

    def _add_known(self, owner: Owner, version: int, messages: Messages) -> None:
        if is_separated(self._job.replays[owner.topic].versions[version]):
            pairs = join(messages.keys, messages.payloads)
            messages = messages._replace(payloads=pairs)
        if messages.payloads.null_count:
            missing = messages.payloads.is_null()
            empty = messages.take(pyarrow.compute.indices_nonzero(missing))
            self._readings.fail(_key(owner, version), NO_PAYLOAD, empty)
            messages = messages.take(
                pyarrow.compute.indices_nonzero(pyarrow.compute.invert(missing))
            )
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

    def _kernels_of(self, topic: str, version: int, how: LogicalTypes) -> list[_Asked]:
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
