"""From a request to the report: an engine runs, its tallies become one ReaderReplay a reader."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Final

from msgspec import structs

from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.replay import (
    ChangedExample,
    Direction,
    Distribution,
    FieldReplay,
    LogicalTypes,
    ReaderReplay,
    ReplayReport,
    TopicReplay,
)
from gitops.planning.severities import rate_findings
from gitops.ports import Progress, no_progress
from gitops.replay.counts import Counts, Key, Tally, add_counts, failures, lower_example
from gitops.replay.gates import Gate
from gitops.replay.histograms import edge
from gitops.replay.job import Runner, RunRequest, RunResult
from gitops.replay.replay_findings import findings_of, is_above
from gitops.replay.topic_replays import Subject, topic_replay

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
        (str(item.topic), reader.name, reader.direction.value): reader.gates
        for item in replays
        for reader in item.readers
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
        (str(item.topic), number): sample.logical_types
        for item in replays
        for number, sample in enumerate(item.samples)
    }
    return lambda key: samples.get((key.topic, key.sample), "java") if key.reader else "java"


def drop_repeated_failures(tallies: Mapping[Key, Tally]) -> dict[Key, Tally]:
    """The tallies without what the forward direction says a second time.

    A message that the proposed schema cannot read cannot be written with it either, and the
    backward direction has counted it. What can be read and not be written stays.
    """
    backward = Direction.BACKWARD.value
    known: dict[tuple[str, int, int | None], set[tuple[str, str]]] = {}
    for key, tally in tallies.items():
        if key.direction == backward:
            texts = known.setdefault((key.topic, key.sample, key.version), set())
            texts.update((failure.path, failure.reason) for failure in tally.failures)
    grouped: dict[Key, Tally] = {}
    for key, tally in tallies.items():
        if key.reader or key.direction == backward:
            grouped[key] = tally
        elif left := _new_failures(tally, known.get((key.topic, key.sample, key.version), set())):
            grouped[key] = left
    return grouped


def _new_failures(tally: Tally, known: set[tuple[str, str]]) -> Tally | None:
    left = [failure for failure in tally.failures if (failure.path, failure.reason) not in known]
    rows = sum(item.rows for item in left)
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
        failures=failures((failure for part in parts for failure in part.failures), examples),
        fields=_fields(parts),
    )


def _fields(parts: list[Tally]) -> tuple[FieldReplay, ...]:
    grouped: dict[str, list[Counts]] = {}
    for part in parts:
        for path, counts in part.fields.items():
            grouped.setdefault(path, []).append(counts)
    return tuple(_field(path, grouped[path]) for path in sorted(grouped))


def _field(path: str, parts: list[Counts]) -> FieldReplay:
    numbers = {name: sum(getattr(part, name) for part in parts) for name in _NUMBERS}
    return FieldReplay(
        path=path,
        symbols=_sum(part.symbols for part in parts),
        branches=_sum(part.branches for part in parts),
        distributions=_distributions(parts),
        example=_example(parts),
        **numbers,
    )


def _distributions(parts: Iterable[Counts]) -> tuple[Distribution, ...]:
    """By unit, of all samples."""
    both = Counts()
    for part in parts:
        add_counts(both, Counts(histograms=part.histograms))
    return tuple(
        Distribution(
            unit=unit,
            width=edge(1, histogram.exponent),
            bins=tuple(
                (edge(number, histogram.exponent), count)
                for number, count in histogram.bins.items()
            ),
            least=histogram.least if histogram.bins else None,
            most=histogram.most if histogram.bins else None,
            other=histogram.other,
        )
        for unit, histogram in sorted(both.histograms.items())
    )


def _example(parts: Iterable[Counts]) -> ChangedExample | None:
    """The value at the lowest place, of all samples."""
    changed_value = reduce(lower_example, (part.example for part in parts), None)
    if changed_value is None:
        return None
    return ChangedExample(
        where=changed_value.where,
        reason=changed_value.reason,
        before=changed_value.before,
        after=changed_value.after,
    )


def _sum(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, number in part.items():
            total[name] = total.get(name, 0) + number
    return dict(sorted(total.items()))


# From a request to the report: subjects in, an engine run, findings and readers out.


def add_failure_counts(
    readers: Iterable[ReaderReplay], replays: Iterable[TopicReplay], tallies: Mapping[Key, Tally]
) -> tuple[ReaderReplay, ...]:
    """The readers, of those that gate with how many failures are held against the schema.

    A limit is one of a sample, for all versions of its messages together, as the findings have it.
    """
    replays = tuple(replays)
    how = logical_types_by_key(replays)
    limits = {
        (str(item.topic), number): sample.max_failures
        for item in replays
        for number, sample in enumerate(item.samples)
    }
    rows: Counter[tuple[str, str, str, int]] = Counter()
    failed: Counter[tuple[str, str, str, int]] = Counter()
    for key, tally in tallies.items():
        rows[_sample_key(key)] += tally.rows
        failed[_sample_key(key)] += tally.failed
    counted: Counter[tuple[str, str, str, int | None, LogicalTypes]] = Counter()
    for key, tally in tallies.items():
        texts = _sample_key(key)
        if is_above(failed[texts], rows[texts], limits[key.topic, key.sample]):
            counted[key.topic, key.reader, key.direction, key.version, how(key)] += tally.failed
    return tuple(
        replace(reader, counted=counted[_report_key(reader)]) if reader.gates else reader
        for reader in readers
    )


def _report_key(reader: ReaderReplay) -> tuple[str, str, str, int | None, LogicalTypes]:
    return (
        str(reader.topic),
        reader.reader,
        reader.direction.value,
        reader.version,
        reader.logical_types,
    )


def _sample_key(key: Key) -> tuple[str, str, str, int]:
    return key.topic, key.reader, key.direction, key.sample


# Sample data through old and new schemas: what a runner is asked, and what its answer means.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """How to replay: on what, what counts, and what is shown.

    `root` is the folder from which the files of manifests count.
    """

    runner: Runner
    root: Path
    gate: Gate = Gate.STRATEGY
    examples: int = 5
    show_values: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayHistory:
    """Which registry the versions are of, from where, and what that source cannot know.

    `findings` are known before anything is read; `rules` rates them and all others.
    """

    registry: str
    source: str
    limits: tuple[str, ...] = ()
    rules: Mapping[str, Severity] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def replay(
    request: ReplayRequest,
    subjects: Iterable[Subject],
    history: ReplayHistory,
    progress: Progress = no_progress,
) -> ReplayReport:
    """The report of all subjects; those without a sample or a schema are left out.

    Raises OutsideError where the runner fails.
    """
    items = (topic_replay(subject, request.gate) for subject in subjects)
    replays = tuple(sorted((item for item in items if item), key=lambda item: item.topic))
    result = _run(request, replays, progress)
    result = dataclasses.replace(result, tallies=drop_repeated_failures(result.tallies))
    readers = reader_replays(replays, result.tallies, request.examples)
    readers = add_failure_counts(readers, replays, result.tallies)
    return ReplayReport(
        registry=history.registry,
        engine=request.runner.engine,
        rows=sum(reader.rows for reader in readers if reader.direction is Direction.BACKWARD),
        readers=readers,
        findings=_sorted(
            rate_findings((*history.findings, *findings_of(replays, result)), history.rules)
        ),
        strategies={item.topic: item.strategy for item in replays},
        source=history.source,
        limits=history.limits,
        complete=result.complete,
    )


def _run(request: ReplayRequest, replays: tuple[TopicReplay, ...], progress: Progress) -> RunResult:
    """Nothing is started for nothing: Spark takes its time."""
    if not replays:
        return RunResult(tallies={})
    run_request = RunRequest(
        replays=replays,
        root=request.root,
        examples=request.examples,
        show_values=request.show_values,
    )
    return request.runner.run(run_request, progress)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(
        sorted(dict.fromkeys(findings), key=lambda finding: (finding.sort_key, finding.fingerprint))
    )
