"""The sums of a replay, how they travel between processes, and how they are merged."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct, field

from gitops.model.replay import Direction, FailureExample, ReplayFailure
from gitops.replay.histograms import Histogram, add_histogram

TOMBSTONE: Final = "the message is a tombstone: its value is null"
"""Why no reader is asked about a message that is as it should be."""


class Key(Struct, frozen=True, order=True):
    """Whose counts: a topic, a version of its data (None: not known), a reader.

    Rows that no reader is asked about (no known version or topic, no payload) have an empty
    `reader`, and failures that say why. `sample` is the number of the topic's sample, from 0:
    each has a limit of its own.
    """

    topic: str
    version: int | None
    reader: str
    direction: str = Direction.BACKWARD.value
    sample: int = 0


class Example(NamedTuple):
    """A row that is shown; `digest` is of its payload, and tells messages of one id apart."""

    where: str
    message: str
    value: str | None = None
    digest: bytes = b""


class FailedRows(Struct):
    """Rows of one reason; `examples` are those that sort lowest, each once."""

    path: str
    reason: str
    rows: int = 0
    examples: list[Example] = field(default_factory=list)


class ChangedValue(NamedTuple):
    """A value that was changed; of those of one path that whose place sorts lowest is kept.

    `row` is -1 where the file, which may be a message id, says it all.
    """

    file: str
    row: int
    digest: bytes
    reason: str
    before: str | None = None
    after: str | None = None

    @property
    def where(self) -> str:
        """How a person finds the message."""
        return self.file if self.row < 0 else f"{self.file}#{self.row}"


class Counts(Struct):
    """The counts of one path; `FieldReplay` says what they mean. `histograms` are by unit."""

    read: int = 0
    promoted: int = 0
    changed: int = 0
    defaulted: int = 0
    dropped: int = 0
    nulls: int = 0
    symbols: dict[str, int] = field(default_factory=dict)
    branches: dict[str, int] = field(default_factory=dict)
    histograms: dict[str, Histogram] = field(default_factory=dict)
    example: ChangedValue | None = None


class Tally(Struct):
    """What one key counted."""

    rows: int = 0
    failed: int = 0
    failures: list[FailedRows] = field(default_factory=list)
    fields: dict[str, Counts] = field(default_factory=dict)


class ForwardMessage(Struct, frozen=True, order=True):
    """A message that is to be rewritten for the forward direction; the lowest hashes are."""

    hash: int
    where: str
    sample: int
    payload: bytes


class PartResult(Struct):
    """All that one part of a replay answers, or all of them once they are merged.

    `unread` are `(topic, sample, file, why, hint)`. `chosen` are the messages of a topic's version
    that are rewritten, sorted. `later` are rows that are not among `rows` yet.
    """

    rows: int = 0
    later: int = 0
    tallies: dict[Key, Tally] = field(default_factory=dict)
    unread: list[tuple[str, int, str, str, str]] = field(default_factory=list)
    chosen: dict[tuple[str, int], list[ForwardMessage]] = field(default_factory=dict)


# Adds up what the parts of a replay answer; the order in which they come makes no difference.


MOST_CHOSEN_BYTES: Final = 32 * 1024 * 1024
"""Of the payloads of one version that are rewritten, whatever their number."""

_MOST_DIGITS: Final = 18
"""Of the number of a row; a message's own id may be anything."""

_MESSAGE_ID: Final = re.compile(r"-?\d{1,18}(?::-?\d{1,18}){1,3}", re.ASCII)
"""Ledger, entry, partition and batch index; a partition that is none is -1."""

_SHIFT: Final = 10**18
"""So that no number of an id is negative."""

_NUMBERS: Final = ("read", "promoted", "changed", "defaulted", "dropped", "nulls")


class _EncodedResult(msgspec.Struct, array_like=True):
    """Gathered without keys that are no texts, which msgpack would not give back."""

    rows: int
    later: int
    tallies: list[tuple[Key, Tally]]
    unread: list[tuple[str, int, str, str, str]]
    chosen: list[tuple[str, int, list[ForwardMessage]]]


def encode(result: PartResult) -> bytes:
    """As it travels between processes."""
    encoded = _EncodedResult(
        rows=result.rows,
        later=result.later,
        tallies=list(result.tallies.items()),
        unread=result.unread,
        chosen=[(topic, version, messages) for (topic, version), messages in result.chosen.items()],
    )
    return msgspec.msgpack.encode(encoded)


def decode(data: bytes) -> PartResult:
    """What `encode` was given."""
    encoded = msgspec.msgpack.decode(data, type=_EncodedResult)
    return PartResult(
        rows=encoded.rows,
        later=encoded.later,
        tallies=dict(encoded.tallies),
        unread=encoded.unread,
        chosen={(topic, version): messages for topic, version, messages in encoded.chosen},
    )


def merge(into: PartResult, part_result: PartResult, limits: Limits) -> None:
    """Add `other` to `into`; `other` is not to be used afterwards."""
    into.rows += part_result.rows
    into.later += part_result.later
    into.unread.extend(part_result.unread)
    for key, tally in part_result.tallies.items():
        known = into.tallies.setdefault(key, tally)
        if known is not tally:
            add_tally(known, tally, limits.examples)
    for version, chosen in part_result.chosen.items():
        both = into.chosen.get(version, []) + chosen
        into.chosen[version] = lowest_hashes(both, limits.forward_rows.get(version[0], 0))


class Limits(msgspec.Struct, frozen=True):
    """How many examples of a reason are kept, and of a topic's version how many are rewritten."""

    examples: int
    forward_rows: Mapping[str, int]


def add_tally(into: Tally, tally: Tally, examples: int) -> None:
    """Add the counts of the same key."""
    into.rows += tally.rows
    into.failed += tally.failed
    known = {(failure.path, failure.reason): failure for failure in into.failures}
    for failed in tally.failures:
        same = known.get((failed.path, failed.reason))
        if same is None:
            into.failures.append(failed)
        else:
            add_failed_rows(same, failed, examples)
    for path, counts in tally.fields.items():
        add_counts(into.fields.setdefault(path, Counts()), counts)


def add_failed_rows(into: FailedRows, rows: FailedRows, examples: int) -> None:
    """Add the rows of the same reason."""
    into.rows += rows.rows
    both = {*into.examples, *rows.examples}
    into.examples = heapq.nsmallest(examples, both, key=_example_order)


def _example_order(example: Example) -> tuple[tuple[str, int, str], str, bytes, str, str, bool]:
    """By place, then by payload, as `Readings` has it: several messages may have one id."""
    value = example.value or ""
    return (
        natural_order(example.where),
        example.where,
        example.digest,
        example.message,
        value,
        example.value is None,
    )


def add_counts(into: Counts, counts: Counts) -> None:
    """Add the counts of the same path."""
    for name in _NUMBERS:
        setattr(into, name, getattr(into, name) + getattr(counts, name))
    for mapping, members in ((into.symbols, counts.symbols), (into.branches, counts.branches)):
        for name, number in members.items():
            mapping[name] = mapping.get(name, 0) + number
    for unit, histogram in counts.histograms.items():
        add_histogram(into.histograms.setdefault(unit, Histogram()), histogram)
    into.example = lower_example(into.example, counts.example)


def lower_example(left: ChangedValue | None, right: ChangedValue | None) -> ChangedValue | None:
    """The one at the lower place."""
    if left is None or right is None:
        return left or right

    def order(changed_value: ChangedValue) -> tuple[object, ...]:
        values = changed_value.before, changed_value.after
        return (
            *changed_value[:4],
            *(value or "" for value in values),
            *(value is None for value in values),
        )

    return min(left, right, key=order)


def natural_order(where: str) -> tuple[str, int, str]:
    """So that row 9 of a file stands before its row 10, and message 1:2:-1 before 1:10:-1."""
    file, mark, row = where.rpartition("#")
    if mark and row.isdecimal() and len(row) <= _MOST_DIGITS:
        return file, int(row), ""
    if _MESSAGE_ID.fullmatch(where):
        return ":".join(f"{_SHIFT + int(part):020}" for part in where.split(":")), -1, ""
    return where, -1, ""


def lowest_hashes(chosen: list[ForwardMessage], most: int) -> list[ForwardMessage]:
    """Those with the lowest hashes, sorted: so many at most, and up to MOST_CHOSEN_BYTES.

    A message that is among them is so in each part of the data too: parts can be cut before they
    are merged. The one that reaches the limit is kept, so that none behind it takes its place.
    """
    kept = sorted(chosen)[:most]
    size = 0
    for number, message in enumerate(kept, 1):
        size += len(message.payload)
        if size >= MOST_CHOSEN_BYTES:
            return kept[:number]
    return kept


def sorted_result(result: PartResult) -> PartResult:
    """The same, sorted, so that equal answers are equal as bytes too."""
    for tally in result.tallies.values():
        tally.failures.sort(key=lambda rows: (rows.path, rows.reason))
        for failed in tally.failures:
            failed.examples.sort(key=_example_order)
        tally.fields = {path: _sorted_counts(tally.fields[path]) for path in sorted(tally.fields)}
    return PartResult(
        rows=result.rows,
        later=result.later,
        tallies=dict(sorted(result.tallies.items(), key=lambda item: _tally_order(item[0]))),
        unread=sorted(set(result.unread)),  # as many parts as there are tell the same
        chosen=dict(sorted(result.chosen.items())),
    )


def _sorted_counts(counts: Counts) -> Counts:
    counts.symbols = dict(sorted(counts.symbols.items()))
    counts.branches = dict(sorted(counts.branches.items()))
    counts.histograms = dict(sorted(counts.histograms.items()))
    return counts


def _tally_order(key: Key) -> tuple[str, bool, int, str, str, int]:
    version = key.version
    return (key.topic, version is None, version or 0, key.reader, key.direction, key.sample)


def failures(parts: Iterable[FailedRows], examples: int) -> tuple[ReplayFailure, ...]:
    """By path and reason, the most frequent first; at most so many examples of each."""
    grouped: dict[tuple[str, str], list[FailedRows]] = {}
    for part in parts:
        grouped.setdefault((part.path, part.reason), []).append(part)
    made = [_failure(path, reason, rows, examples) for (path, reason), rows in grouped.items()]
    return tuple(sorted(made, key=lambda failure: (-failure.rows, failure.path, failure.reason)))


def _failure(path: str, reason: str, parts: list[FailedRows], examples: int) -> ReplayFailure:
    every = {example[:3] for part in parts for example in part.examples}
    shown = sorted((FailureExample(*example) for example in every), key=_shown_order)
    return ReplayFailure(
        path=path,
        reason=reason,
        rows=sum(part.rows for part in parts),
        examples=tuple(shown[:examples]),
    )


def _shown_order(example: FailureExample) -> tuple[tuple[str, int, str], str, str, str]:
    return natural_order(example.where), example.where, example.message, example.value or ""
