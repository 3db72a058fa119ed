"""From the tallies of a run to one ReaderReplay for each reader, merged and sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Final

from msgspec import structs

from gitops.model.names import TopicName
from gitops.model.replay import (
    ChangedExample,
    Direction,
    FailureExample,
    FieldReplay,
    LogicalTypes,
    ReaderReplay,
    ReplayFailure,
    TopicReplay,
)
from gitops.replay.tallies import Counts, FailedRows, Key, Tally, lower_example, natural_order

_NUMBERS: Final = ("read", "promoted", "changed", "defaulted", "dropped", "nulls")


def reader_replays(
    replays: Iterable[TopicReplay], tallies: Mapping[Key, Tally], examples: int
) -> tuple[ReaderReplay, ...]:
    """One for each topic, version, reader and direction; the samples of a topic together.

    But for those whose logical types are read otherwise: what one reader takes, the other may not.
    By topic, the backward direction first, then the versions, those of no version last.
    """
    replays = tuple(replays)
    gates = {
        (str(one.topic), reader.name, reader.direction.value): reader.gates
        for one in replays
        for reader in one.readers
    }
    how = logical_types_by_key(replays)
    merged: dict[tuple[Key, LogicalTypes], list[Tally]] = {}
    for key, tally in sorted(tallies.items(), key=lambda item: report_order(item[0])):
        merged.setdefault((structs.replace(key, sample=0), how(key)), []).append(tally)
    return tuple(
        _reader(
            key,
            parts,
            examples,
            gates=gates.get((key.topic, key.reader, key.direction), False),
            logical_types=logical_types,
        )
        for (key, logical_types), parts in merged.items()
    )


def logical_types_by_key(replays: Iterable[TopicReplay]) -> Callable[[Key], LogicalTypes]:
    """How a reader was asked to read the logical types of its sample; nobody asked: as always."""
    samples = {
        (str(one.topic), number): sample.logical_types
        for one in replays
        for number, sample in enumerate(one.samples)
    }
    return lambda key: samples.get((key.topic, key.sample), "java") if key.reader else "java"


def without_repeated_failures(tallies: Mapping[Key, Tally]) -> dict[Key, Tally]:
    """The tallies without what the forward direction says a second time.

    A message that the proposed schema cannot read cannot be written with it either, and the
    backward direction has counted it. What can be read and not be written stays.
    """
    backward = Direction.BACKWARD.value
    known: dict[tuple[str, int, int | None], set[tuple[str, str]]] = {}
    for key, tally in tallies.items():
        if key.direction == backward:
            its = known.setdefault((key.topic, key.sample, key.version), set())
            its.update((one.path, one.reason) for one in tally.failures)
    found: dict[Key, Tally] = {}
    for key, tally in tallies.items():
        if key.reader or key.direction == backward:
            found[key] = tally
        elif left := _new_failures(tally, known.get((key.topic, key.sample, key.version), set())):
            found[key] = left
    return found


def _new_failures(tally: Tally, known: set[tuple[str, str]]) -> Tally | None:
    left = [one for one in tally.failures if (one.path, one.reason) not in known]
    rows = sum(one.rows for one in left)
    return Tally(rows=rows, failed=rows, failures=left) if left else None


def report_order(key: Key) -> tuple[str, bool, bool, str, bool, int, int]:
    """The order of a report: what was asked before what was not, versions by number."""
    return (
        key.topic,
        not key.reader,
        key.direction != Direction.BACKWARD.value,
        key.reader,
        key.version is None,
        key.version or 0,
        key.sample,
    )


def _reader(
    key: Key, parts: list[Tally], examples: int, *, gates: bool, logical_types: LogicalTypes
) -> ReaderReplay:
    return ReaderReplay(
        topic=TopicName.parse(key.topic),
        version=key.version,
        reader=key.reader,
        direction=Direction(key.direction),
        gates=gates,
        logical_types=logical_types,
        rows=sum(part.rows for part in parts),
        failed=sum(part.failed for part in parts),
        failures=failures((one for part in parts for one in part.failures), examples),
        fields=_fields(parts),
    )


def failures(parts: Iterable[FailedRows], examples: int) -> tuple[ReplayFailure, ...]:
    """By path and reason, the most frequent first; at most so many examples of each."""
    found: dict[tuple[str, str], list[FailedRows]] = {}
    for part in parts:
        found.setdefault((part.path, part.reason), []).append(part)
    made = [_failure(path, reason, its, examples) for (path, reason), its in found.items()]
    return tuple(sorted(made, key=lambda one: (-one.rows, one.path, one.reason)))


def _failure(path: str, reason: str, parts: list[FailedRows], examples: int) -> ReplayFailure:
    every = {each[:3] for part in parts for each in part.examples}
    shown = sorted((FailureExample(*each) for each in every), key=_example_order)
    return ReplayFailure(
        path=path,
        reason=reason,
        rows=sum(part.rows for part in parts),
        examples=tuple(shown[:examples]),
    )


def _example_order(example: FailureExample) -> tuple[tuple[str, int, str], str, str, str]:
    return natural_order(example.where), example.where, example.message, example.value or ""


def _fields(parts: list[Tally]) -> tuple[FieldReplay, ...]:
    found: dict[str, list[Counts]] = {}
    for part in parts:
        for path, counts in part.fields.items():
            found.setdefault(path, []).append(counts)
    return tuple(_field(path, found[path]) for path in sorted(found))


def _field(path: str, parts: list[Counts]) -> FieldReplay:
    numbers = {name: sum(getattr(part, name) for part in parts) for name in _NUMBERS}
    return FieldReplay(
        path=path,
        symbols=_sum(part.symbols for part in parts),
        branches=_sum(part.branches for part in parts),
        example=_example(parts),
        **numbers,
    )


def _example(parts: Iterable[Counts]) -> ChangedExample | None:
    """The value at the lowest place, of all samples."""
    found = reduce(lower_example, (part.example for part in parts), None)
    if found is None:
        return None
    return ChangedExample(
        where=found.where, reason=found.reason, before=found.before, after=found.after
    )


def _sum(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, number in part.items():
            total[name] = total.get(name, 0) + number
    return dict(sorted(total.items()))
