"""The forward direction: messages in the new shape, read by those who do not know it yet.

There are no such messages before the change, so those of the samples are read with the proposed
schema, written with it, and read again by the older versions and by the clients. What a reader
gets before and after is compared value by value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow

from gitops.model.replay import Direction, ReaderSchema, TopicReplay
from gitops.replay.batches import MOST_BYTES, MOST_ROWS, MessageLocations, batch
from gitops.replay.counts import ChangedValue, ForwardMessage, Key, PartResult
from gitops.replay.failure_display import FailureDisplay
from gitops.replay.job import Job
from gitops.replay.kernel.avro.values import UnionValue
from gitops.replay.kernel.protocol import (
    READ,
    Kernel,
    Reason,
    RowReader,
    RowWriter,
    Unreadable,
    ValueChange,
)
from gitops.replay.kernel.verdicts import join_path
from gitops.replay.reader_counts import Messages, ReaderCounts, digest
from gitops.replay.sources.source import MOST_PAYLOAD

TOO_LARGE: Final = Reason("", f"the proposed schema makes it larger than {MOST_PAYLOAD >> 20} MiB")

_MOST_VALUE: Final = 4 * MOST_PAYLOAD
"""Of a value that is written at all: a symbol, for one, is longer than what stands for it."""

REWRITTEN: Final = "the reader got another value before the message was rewritten"

_NewMessage = tuple[ForwardMessage, bytes]
_Difference = tuple[str, Any, Any]
"""A path, and what a reader gets there before and after."""


@dataclass(slots=True)
class _Differences:
    """Of one reader, by path: how many values, and the one at the lowest place."""

    number: Counter[str] = field(default_factory=Counter)
    lowest: dict[str, ChangedValue] = field(default_factory=dict)


def rewrite(job: Job, topic: str, version: int, chosen: list[ForwardMessage]) -> PartResult:
    """What came of messages of one version; those of each sample are counted apart."""
    showing = FailureDisplay(job)
    readings = ReaderCounts(job.examples, showing)
    rewriting = _Rewriter(job, job.replays[topic], version, readings, showing)
    for sample in sorted({message.sample for message in chosen}):
        rewriting.run(sample, [message for message in chosen if message.sample == sample])
    return PartResult(tallies=readings.tallies())


class _Rewriter:
    def __init__(
        self,
        job: Job,
        replay: TopicReplay,
        version: int,
        readings: ReaderCounts,
        showing: FailureDisplay,
    ) -> None:
        self._showing = showing
        self._kernels = job.kernels
        self._replay = replay
        self._version = version
        self._written = replay.versions[version]
        self._readings = readings

    def run(self, sample: int, chosen: list[ForwardMessage]) -> None:
        """Rewrite some megabytes at a time, for defaults may be large, and let everybody read."""
        changed: dict[Key, _Differences] = {}
        for some in _bounded_chunks(self._rewritten(self._key(sample, ""), chosen)):
            old, new = [message for message, _ in some], [payload for _, payload in some]
            messages = _messages([message.where for message in old], new)
            for reader in self._replay.readers:
                if reader.direction is Direction.FORWARD:
                    key = self._key(sample, reader.name)
                    differences = changed.setdefault(key, _Differences())
                    self._read(key, reader, old, messages, differences)
        for key, differences in changed.items():
            self._readings.put(key, differences.number, differences.lowest)

    def _key(self, sample: int, reader: str) -> Key:
        return Key(
            topic=str(self._replay.topic),
            version=self._version,
            reader=reader,
            direction=Direction.FORWARD.value,
            sample=sample,
        )

    def _rewritten(self, key: Key, chosen: list[ForwardMessage]) -> Iterator[_NewMessage]:
        """Those that can be rewritten, and their new payloads; the others count as failed."""
        proposed = self._replay.proposed
        try:
            how = self._replay.samples[key.sample].logical_types
            reader = self._kernels.row_reader(self._written, proposed, how)
            writer = self._kernels.row_writer(proposed)
        except ValueError as error:
            self._fail(key, Reason("", f"a schema cannot be used: {error}"), chosen)
            return
        for message in chosen:
            try:
                payload = _new_payload(reader, writer, message.payload)
            except Unreadable as error:
                self._fail(key, error.reason, [message])
            else:
                yield message, payload

    def _fail(self, key: Key, reason: Reason, chosen: list[ForwardMessage]) -> None:
        messages = _messages(
            [message.where for message in chosen], [message.payload for message in chosen]
        )
        self._readings.fail(key, reason, messages)

    def _read(
        self,
        key: Key,
        reader: ReaderSchema,
        old: list[ForwardMessage],
        messages: Messages,
        into: _Differences,
    ) -> None:
        """Note what a reader gets otherwise than before; the rest is counted."""
        how = self._replay.samples[key.sample].logical_types
        kernel = self._kernels.kernel_or_reason(self._replay.proposed, reader.schema, how)
        if isinstance(kernel, Reason):
            self._readings.fail(key, kernel, messages)
            return
        verdicts = self._readings.walk(key, kernel, messages)
        before = self._kernels.row_reader(self._written, reader.schema, how)
        after = self._kernels.row_reader(self._replay.proposed, reader.schema, how)
        for chosen, payload, verdict in zip(old, messages.payloads, verdicts, strict=True):
            if verdict == READ:
                new = payload.as_py()
                value, other = _read(before, chosen.payload), _read(after, new)
                if not _is_same(value, other):
                    for difference in _differences(value, other, "", _counted_paths(kernel, new)):
                        self._compare(chosen, difference, into)

    def _compare(self, chosen: ForwardMessage, texts: _Difference, into: _Differences) -> None:
        path, before, after = texts
        into.number[path] += 1
        place = (chosen.where, -1, digest(chosen.payload))
        if path not in into.lowest or place < into.lowest[path][:3]:
            what = ValueChange(REWRITTEN, before, after)
            shown = self._showing.change(str(self._replay.topic), path, what)
            into.lowest[path] = ChangedValue(*place, *shown)


def _new_payload(reader: RowReader, writer: RowWriter, payload: bytes) -> bytes:
    """The new payload; raises Unreadable.

    A value that holds one default many times is small, and what is written of it may not be.
    """
    value = reader.read(payload)
    if _size(value, {}) <= _MOST_VALUE:
        new = writer.write(value)
        if len(new) <= MOST_PAYLOAD:
            return new
    raise Unreadable(TOO_LARGE, TOO_LARGE.reason)


def _size(value: Any, known: dict[int, int]) -> int:  # noqa: ANN401 - any value
    """About the bytes of a value's texts and items, each part looked at once."""
    if isinstance(value, str | bytes):
        return len(value)
    if not isinstance(value, dict | list | tuple):
        return 1
    if id(value) not in known:
        size = 1
        for inner in value.values() if isinstance(value, dict) else value:
            size += _size(inner, known)
        known[id(value)] = size
    return known[id(value)]


def _bounded_chunks(rewritten: Iterable[_NewMessage]) -> Iterator[list[_NewMessage]]:
    some: list[_NewMessage] = []
    size = 0
    for message in rewritten:
        some.append(message)
        size += len(message[1])
        if size >= MOST_BYTES or len(some) >= MOST_ROWS:
            yield some
            some, size = [], 0
    if some:
        yield some


def _counted_paths(kernel: Kernel, payload: bytes) -> frozenset[str]:
    """What is counted of one message: what others hold says nothing of where its values stand."""
    counts = kernel.walk(pyarrow.array([payload], pyarrow.binary())).counts
    return frozenset(counted.path for counted in counts)


_NOT_READ = object()


def _read(reader: RowReader, payload: bytes) -> Any:  # noqa: ANN401 - any value
    try:
        return reader.read(payload)
    except Unreadable:
        return _NOT_READ


def _differences(
    before: Any,  # noqa: ANN401 - any value
    after: Any,  # noqa: ANN401 - any value
    path: str,
    known: frozenset[str],
) -> Iterator[_Difference]:
    """What differs; nothing where one of the two could not be read."""
    if before is _NOT_READ or after is _NOT_READ or _is_same(before, after):
        return
    if (
        isinstance(before, UnionValue)
        and isinstance(after, UnionValue)
        and before.branch == after.branch
    ):
        before, after = before.value, after.value
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        home = _record_path(path, before, known)
        for name, value in before.items():
            places = (join_path(path, name), f"{path}{{}}", join_path(home, name))
            at = next((place for place in places if place in known), path)
            yield from _differences(value, after[name], at, known)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for item, other in zip(before, after, strict=True):
            yield from _differences(item, other, f"{path}[]", known)
    else:
        yield path, before, after


def _record_path(path: str, fields: Iterable[str], known: frozenset[str]) -> str:
    """Where the fields of a record are counted: of one within itself, where the outer one is."""
    at = path
    while any(join_path(at, name) not in known for name in fields):
        if not at:
            return path
        at = at[:-2] if at[-1] in "]}" else at.rpartition(".")[0]
    return at


def _is_same(before: Any, after: Any) -> bool:  # noqa: ANN401
    """NaN is what it was, and a number of another type is another value only if it differs."""
    return bool(before == after) or (before != before and after != after)  # noqa: PLR0124


def _messages(wheres: list[str], payloads: list[bytes]) -> Messages:
    names = pyarrow.array(wheres, pyarrow.string()).dictionary_encode()
    made = batch(pyarrow.array(payloads, pyarrow.binary()), names)
    return Messages(made.column("payload"), MessageLocations.of(made))
