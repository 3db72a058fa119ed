"""What readers make of messages, counted while batches are read."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.replay.batches import MessageLocations
from gitops.replay.counts import (
    ChangedValue,
    Counts,
    Example,
    FailedRows,
    Key,
    Tally,
    add_failed_rows,
    natural_order,
)
from gitops.replay.failure_display import FailureDisplay
from gitops.replay.histograms import Histogram, add_histogram, histogram_of
from gitops.replay.kernel.protocol import (
    CHANGES,
    READ,
    ChangeReader,
    CountKey,
    CountKind,
    Kernel,
    NumberReader,
    Reason,
)


class Messages(NamedTuple):
    """Some rows of a batch: their payloads, where they are, and their keys if those are apart."""

    payloads: Any
    places: MessageLocations
    keys: Any = None

    def take(self, rows: Any) -> Messages:  # noqa: ANN401 - pyarrow has no types
        """Those of some rows."""
        keys = None if self.keys is None else self.keys.take(rows)
        return Messages(self.payloads.take(rows), self.places.take(rows), keys)


_Location = tuple[tuple[str, int, str], str]


class _FailureLocation(NamedTuple):
    """A row that failed; what sorts by it sorts alike however the rows are cut."""

    place: _Location
    digest: bytes


@dataclass(slots=True)
class _FailureGroup:
    """`lowest` are the message and the value that are shown: payloads may be large."""

    rows: int = 0
    lowest: dict[_FailureLocation, tuple[str, str | None]] = field(default_factory=dict)


@dataclass(slots=True)
class _ReaderCount:
    rows: int = 0
    counts: Counter[CountKey] = field(default_factory=Counter)
    failing: dict[Reason, _FailureGroup] = field(default_factory=dict)
    changed: dict[str, ChangedValue] = field(default_factory=dict)
    histograms: dict[tuple[str, str], Histogram] = field(default_factory=dict)

    def add_numbers(self, path: str, unit: str, numbers: NDArray[Any]) -> None:
        """Add some of the numbers at a path."""
        known = self.histograms.setdefault((path, unit), Histogram())
        add_histogram(known, histogram_of(numbers))


class ReaderCounts:
    """By key; of each reason the rows that sort lowest are kept as examples."""

    def __init__(self, examples: int, showing: FailureDisplay) -> None:
        self._examples = examples
        self._showing = showing
        self._by_key: dict[Key, _ReaderCount] = {}

    def walk(self, key: Key, kernel: Kernel, messages: Messages) -> NDArray[numpy.int32]:
        """Count what a reader makes of messages that all have a payload; answers the verdicts."""
        walk = kernel.walk(messages.payloads)
        reading = self._reading(key, len(messages.payloads))
        reading.counts.update(walk.counts)
        if walk.verdicts.any():
            positions = numpy.bincount(walk.verdicts, minlength=len(walk.reasons) + 1)
            for number, reason in enumerate(walk.reasons, READ + 1):
                if positions[number]:
                    rows = numpy.flatnonzero(walk.verdicts == number)
                    self._fail(key, reason, rows, messages)
        if isinstance(kernel, ChangeReader):
            for path, rows in walk.changed.items():
                self._change(key, path, kernel, rows, messages)
        if self._showing.shows_values and isinstance(kernel, NumberReader):
            read = pyarrow.array(walk.verdicts == READ)
            kernel.numbers(messages.payloads.filter(read), reading.add_numbers)
        return walk.verdicts

    def fail(self, key: Key, reason: Reason, messages: Messages) -> None:
        """Count messages all of which fail for one reason."""
        self._reading(key, len(messages.payloads))
        self._fail(key, reason, numpy.arange(len(messages.payloads)), messages)

    def put(self, key: Key, number: Mapping[str, int], changed: Mapping[str, ChangedValue]) -> None:
        """Count so many values as changed, by path, instead of those that a walk found.

        But for those that mean something else to the reader: it gets them as it got them before.
        """
        reading = self._reading(key, 0)
        kept = {count.path for count in reading.counts if count.what is CountKind.REINTERPRETED}
        for counted in [count for count in reading.counts if count.what is CountKind.CHANGED]:
            del reading.counts[counted]
            if counted.path not in kept:
                reading.changed.pop(counted.path, None)
        for path in number.keys() - kept:
            reading.counts[CountKey(path, CountKind.CHANGED)] = number[path]
            reading.changed[path] = changed[path]

    def tallies(self) -> dict[Key, Tally]:
        """What was counted, with the examples as they are to be shown."""
        return {
            key: _tally(key, reading, self._showing, self._examples)
            for key, reading in self._by_key.items()
        }

    def _reading(self, key: Key, rows: int) -> _ReaderCount:
        reading = self._by_key.setdefault(key, _ReaderCount())
        reading.rows += rows
        return reading

    def _change(
        self,
        key: Key,
        path: str,
        kernel: ChangeReader,
        rows: NDArray[numpy.int64],
        messages: Messages,
    ) -> None:
        """Keep the value at the lowest place; of several messages there the payload decides."""
        changed = self._by_key[key].changed
        file, row, same = messages.places.lowest(rows)
        known = changed.get(path)
        if known is not None and (known.file, known.row) < (file, row):
            return
        payloads = (messages.payloads[value].as_py() for value in same.tolist())
        data, payload = min((digest(value), value) for value in payloads)
        if known is None or (file, row, data) < known[:3]:
            shown = self._showing.change(key.topic, path, kernel.changes(payload)[path])
            changed[path] = ChangedValue(file, row, data, *shown)

    def _fail(self, key: Key, reason: Reason, rows: NDArray[Any], messages: Messages) -> None:
        failing = self._by_key[key].failing.setdefault(reason, _FailureGroup())
        failing.rows += len(rows)
        if messages.places.are_in_order:
            rows = rows[: self._examples]
        known, new = failing.lowest, dict(_first_failures(rows.tolist(), messages, self._examples))
        kept = heapq.nsmallest(self._examples, {*known, *new})
        failing.lowest = {
            at: known[at] if at in known else self._shown(key, reason, messages, new[at])
            for at in kept
        }

    def _shown(
        self, key: Key, reason: Reason, messages: Messages, row: int
    ) -> tuple[str, str | None]:
        reason = self._showing.reason(key.topic, reason)
        return self._showing(key, reason, messages.payloads[row].as_py())


def _first_failures(
    rows: list[int], messages: Messages, most: int
) -> Iterator[tuple[_FailureLocation, int]]:
    """The rows that stand at the lowest places, of which there are `most`.

    Messages of one id stand at one place, as many as there are: their payloads decide.
    """
    places = [_location(messages.places.where(row)) for row in rows]
    lowest = frozenset(heapq.nsmallest(most, set(places)))
    for row, place in zip(rows, places, strict=True):
        if place in lowest:
            yield _FailureLocation(place, digest(messages.payloads[row].as_py())), row


def _location(where: str) -> _Location:
    return natural_order(where), where


def digest(payload: bytes | None) -> bytes:
    """What tells a payload from others; empty for a message without one."""
    return b"" if payload is None else hashlib.blake2b(payload, digest_size=16).digest()


def _tally(key: Key, reading: _ReaderCount, showing: FailureDisplay, examples: int) -> Tally:
    fields: dict[str, Counts] = {}
    for counted, number in reading.counts.items():
        _count(fields.setdefault(counted.path, Counts()), counted, number)
    for path, counts in fields.items():
        counts.example = reading.changed.get(path)
        if counts.symbols and showing.hides(key.topic, path):
            counts.symbols = {}
    for (path, unit), histogram in reading.histograms.items():
        if not showing.hides_value(key.topic, path):
            fields.setdefault(path, Counts()).histograms[unit] = histogram
    failed = sum(failing.rows for failing in reading.failing.values())
    failures = _failures(key, reading, showing, examples)
    return Tally(rows=reading.rows, failed=failed, failures=failures, fields=fields)


def _failures(
    key: Key, reading: _ReaderCount, showing: FailureDisplay, examples: int
) -> list[FailedRows]:
    """By reason as it is shown: some are one once they name no value of a sensitive field."""
    grouped: dict[Reason, FailedRows] = {}
    for items, failing in reading.failing.items():
        reason = showing.reason(key.topic, items)
        failed = FailedRows(
            path=reason.path,
            reason=reason.reason,
            rows=failing.rows,
            examples=[
                Example(at.place[1], *shown, at.digest) for at, shown in failing.lowest.items()
            ],
        )
        same = grouped.setdefault(reason, failed)
        if same is not failed:
            add_failed_rows(same, failed, examples)
    return list(grouped.values())


def _count(counts: Counts, counted: CountKey, number: int) -> None:
    if counted.what is CountKind.SYMBOL:
        counts.symbols[counted.value] = counts.symbols.get(counted.value, 0) + number
    elif counted.what is CountKind.BRANCH:
        counts.branches[counted.value] = counts.branches.get(counted.value, 0) + number
    else:
        name = CountKind.CHANGED.value if counted.what in CHANGES else counted.what.value
        setattr(counts, name, getattr(counts, name) + number)
