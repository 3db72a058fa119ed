"""Captures the messages of one topic: partition by partition, part by part."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple, Protocol, final

import numpy
import pyarrow
import pyarrow.compute
from numpy.typing import NDArray

from gitops.messaging.capture_client import Position
from gitops.messaging.capture_columns import Block, to_block
from gitops.messaging.capture_files import (
    CaptureFolder,
    CaptureManifest,
    PartitionState,
    Selection,
)
from gitops.messaging.capture_parts import PartWriter, open_part
from gitops.messaging.capture_readers import MessageReaders, PartitionReader
from gitops.messaging.wire.fields import Integers
from gitops.model.errors import OutsideError
from gitops.model.names import TopicName
from gitops.ports import Progress, no_progress

_MOST: Final = 8_000
"""Messages that are read at a time."""

ENCRYPTED: Final = "encrypted"
"""Why a message is left out of a capture whose fields are masked."""

_PATIENCE: Final = 60.0
"""Seconds without a message that the broker has, before the reading is given up."""


class MaskedMessage(NamedTuple):
    """What is written in place of a message's key and payload."""

    key: bytes | None
    payload: bytes | None


class PayloadMask(Protocol):
    """Hides sensitive fields of messages before anything is written."""

    def mask(
        self, version: int | None, key: bytes | None, payload: bytes | None
    ) -> MaskedMessage | str:
        """The message without them, or why it is left out: it cannot be masked."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureJob:
    """What is captured of a topic, and where to.

    `firsts` are by partition the messages that it begins with, where these are not the oldest.
    `stopped` is asked between two blocks.
    """

    topic: TopicName
    readers: MessageReaders
    folder: CaptureFolder
    firsts: Mapping[int, Position | None] = field(default_factory=dict)
    mask: PayloadMask | None = None
    stopped: Callable[[], bool] = lambda: False
    now: Callable[[], float] = time.monotonic


def partition_name(topic: TopicName, partition: int) -> str:
    """The full name of a partition, or of a topic that has none."""
    name = f"persistent://{topic.namespace}/{topic.local_name}"
    return name if partition < 0 else f"{name}-partition-{partition}"


def capture_topic(
    job: CaptureJob, manifest: CaptureManifest, progress: Progress = no_progress
) -> CaptureManifest:
    """Read what the manifest says is not read yet; answers the manifest as it is on disk then.

    After an interruption it is not complete. Raises OutsideError, with what was read before in the
    files, and UsageError where they cannot be written.
    """
    for index, state in enumerate(manifest.partitions):
        if state.is_done or job.stopped():
            continue
        before = sum(partition.chosen for partition in manifest.partitions) - state.chosen
        tell = partial(_tell, progress, job.topic, before)
        for newer in _PartitionCapture(job, manifest, state, _share(manifest, index)).run(tell):
            manifest = manifest.with_state(newer)
            job.folder.save(manifest)
    return manifest


def _tell(progress: Progress, topic: TopicName, before: int, messages: int) -> None:
    progress(f"capturing {topic}", before + messages, 0)


def _share(manifest: CaptureManifest, index: int) -> int | None:
    """How many messages a partition gives: an equal part of what those before it left."""
    limit = manifest.selection.limit
    if limit is None:
        return None
    before = sum(partition.chosen for partition in manifest.partitions[:index])
    left, partitions = limit - before, len(manifest.partitions) - index
    return -(-left // partitions)


@final
class _PartitionCapture:
    def __init__(
        self, job: CaptureJob, manifest: CaptureManifest, state: PartitionState, limit: int | None
    ) -> None:
        self._job = job
        self._manifest = manifest
        self._state = state
        self._limit = limit
        self._name = partition_name(job.topic, state.partition)
        self._seen = state.last if state.unfinished else None

    def run(self, tell: Callable[[int], None]) -> Iterator[PartitionState]:
        """The state after each part; raises OutsideError once the last one is written."""
        if self._state.end is None or self._is_full():
            yield self._done()
            return
        reader = self._open()
        failures: list[OutsideError] = []
        blocks = _until_failure(self._blocks(reader, tell), failures)
        try:
            while not self._state.is_done:
                self._write_part(blocks)
                yield self._state
                if failures:
                    raise failures[0]
                if self._job.stopped():
                    return
        finally:
            reader.close()

    def _open(self) -> PartitionReader:
        after, first = self._state.position, self._job.firsts.get(self._state.partition)
        if begin := self._state.begin:
            after, first = None, begin
        return self._job.readers.open(
            self._name, after=after, first=first, trimmed_before=self._state.trimmed_before
        )

    def _write_part(self, blocks: Iterator[Block]) -> None:
        """Write until the part is full or nothing is left; a part without messages is none."""
        first = next(blocks, None)
        if first is None:
            return
        path = self._job.folder.part(self._state, self._manifest.part_format)
        with open_part(path, self._manifest.part_format) as part:
            self._write(part, first)
            while not part.is_full and (block := next(blocks, None)) is not None:
                self._write(part, block)
        mapping = {
            "parts": self._state.parts + 1,
            "checksums": (*self._state.checksums, part.checksum),
        }
        self._state = self._state.model_copy(update=mapping)

    def _write(self, part: PartWriter, block: Block) -> None:
        left_out: Counter[str] = Counter()
        if self._job.mask:
            block = _masked(block, self._job.mask, left_out)
        if len(block):
            part.write(block.rows)
            self._count_versions(block)
        if left_out:
            self._add_left_out(left_out)

    def _count_versions(self, block: Block) -> None:
        """Count messages by schema version, and those of versions that nobody has any more."""
        counts = Counter(
            {
                count["values"]: count["counts"]
                for count in pyarrow.compute.value_counts(
                    block.column("schema_version")
                ).to_pylist()
                if count["values"] is not None
            }
        )
        lost = {
            version: count
            for version, count in counts.items()
            if version not in self._manifest.versions
        }
        update: dict[str, object] = {}
        if self._state.messages_by_version is not None:
            counter = counts + Counter(self._state.messages_by_version)
            update["messages_by_version"] = dict(sorted(counter.items()))
        if lost:
            update["without_schema"] = dict(Counter(lost) + Counter(self._state.without_schema))
        self._state = self._state.model_copy(update=update)

    def _blocks(self, reader: PartitionReader, tell: Callable[[int], None]) -> Iterator[Block]:
        """The chosen messages, until the end, the limit or an interruption."""
        topic = partition_name(self._job.topic, -1)
        silent_since = self._job.now()
        while not self._state.is_done and not self._job.stopped():
            entries = reader.read(_MOST)
            if entries:
                silent_since = self._job.now()
                block = self._new(to_block(entries, topic, self._state.partition))
                block = self._chosen(block, reader.unfinished())
                tell(self._state.chosen)
                if len(block):
                    yield block
            elif not reader.has_more():
                self._done()
            elif self._job.now() - silent_since > _PATIENCE:
                raise OutsideError(
                    f"the broker sent no message for {_PATIENCE:.0f} s, and it has more",
                    where=self._name,
                    hint="the same command with --resume goes on where it ended",
                )

    def _new(self, block: Block) -> Block:
        """Without what an earlier run looked at, where that is read again for chunks."""
        return block.select(~_is_at_most(block.ids, self._seen)) if self._seen else block

    def _chosen(self, block: Block, unfinished: Position | None) -> Block:
        """Those of the selection; the state is the one after them."""
        if not len(block):
            return block
        end = self._state.end or (-1, -1, -1)
        before_end = _is_at_most(block.ids, end)
        mask = before_end & _is_selected(block, self._manifest.selection, self._state.partition)
        chosen = numpy.flatnonzero(mask)
        full = False
        if self._limit is not None and len(chosen) >= (left := self._limit - self._state.chosen):
            mask[chosen[left:]] = False
            full = True
        result = block.select(mask)
        reached = full or not _is_at_most(block.ids[-1:], end, strictly=True)[0]
        looked_at = block.ids[before_end]
        update: dict[str, object] = {
            "messages": self._state.messages + len(result),
            "is_done": reached,
            "unfinished": unfinished and tuple(unfinished),
        }
        if oldest := self._state.trimmed_before:
            before = int((result.ids[:, 0] < oldest).sum())
            update["compacted"] = self._state.compacted + before
        if len(looked_at):
            update["last"] = tuple(looked_at[-1].tolist())
        self._state = self._state.model_copy(update=update)
        return result

    def _add_left_out(self, counter: Counter[str]) -> None:
        grouped = Counter(self._state.left_out) + counter
        messages = self._state.messages - counter.total()
        self._state = self._state.model_copy(
            update={"left_out": dict(sorted(grouped.items())), "messages": messages}
        )

    def _is_full(self) -> bool:
        return self._limit is not None and self._state.chosen >= self._limit

    def _done(self) -> PartitionState:
        self._state = self._state.model_copy(update={"is_done": True})
        return self._state


def _until_failure(blocks: Iterator[Block], failures: list[OutsideError]) -> Iterator[Block]:
    """The blocks; what ends them early is noted, so that what came before is written."""
    try:
        yield from blocks
    except OutsideError as error:
        failures.append(error)


def _masked(block: Block, mask: PayloadMask, left_out: Counter[str]) -> Block:
    """The messages without their sensitive fields; those that cannot be masked are counted."""
    kept = numpy.ones(len(block), numpy.bool_)
    names = ("schema_version", "key", "payload", "encryption")
    rows = zip(*(block.column(name).to_pylist() for name in names), strict=True)
    hidden: list[MaskedMessage] = []
    for at, (version, key, payload, encryption) in enumerate(rows):
        items: MaskedMessage | str = ENCRYPTED
        if encryption is None or encryption["is_decrypted"]:
            items = mask.mask(version, key, payload)
        if isinstance(items, str):
            kept[at] = False
            left_out[items] += 1
        else:
            hidden.append(items)
    payloads = pyarrow.array([message.payload for message in hidden], pyarrow.binary())
    keys = pyarrow.array([message.key for message in hidden], pyarrow.binary())
    return block.select(kept).with_columns(key=keys, payload=payloads, is_null=payloads.is_null())


def _is_at_most(
    ids: Integers, end: tuple[int, int, int], *, strictly: bool = False
) -> NDArray[numpy.bool_]:
    """Whether positions are not behind another one, of a batch with all of its messages.

    A batch that stays encrypted is one message without an index: nothing of its entry is left.
    """
    ledger, entry, batch = end
    same = (ids[:, 0] == ledger) & (ids[:, 1] == entry)
    before = (ids[:, 0] < ledger) | ((ids[:, 0] == ledger) & (ids[:, 1] < entry))
    index = ids[:, 2]
    last = (index >= 0) & (index < batch) if strictly else (index <= batch)
    positions: NDArray[numpy.bool_] = before | (same & last)
    return positions


def _is_selected(block: Block, selection: Selection, partition: int) -> NDArray[numpy.bool_]:
    positions = numpy.ones(len(block), numpy.bool_)
    if selection.since is not None:
        positions &= block.published >= selection.since
    if selection.until is not None:
        positions &= block.published < selection.until
    if selection.sample is not None and selection.sample < 1:
        positions &= _hashes(block.ids, partition) < numpy.uint64(int(selection.sample * 2**64))
    return positions


def _hashes(ids: Integers, partition: int) -> NDArray[numpy.uint64]:
    """A number of 64 bits for each message id, always the same (SplitMix64 over its parts)."""
    positions = numpy.full(len(ids), numpy.uint64(partition + 1), numpy.uint64)
    for part in range(3):
        positions = _mixed(positions ^ ids[:, part].astype(numpy.uint64))
    return positions


def _mixed(numbers: NDArray[numpy.uint64]) -> NDArray[numpy.uint64]:
    mixed = numbers + numpy.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> numpy.uint64(31))
