"""From a request to the report: subjects in, an engine run, findings and readers out."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitops.model.findings import Finding, Severity
from gitops.model.replay import Direction, LogicalTypes, ReaderReplay, ReplayReport, TopicReplay
from gitops.planning.severities import graded
from gitops.ports import Progress, no_progress
from gitops.replay.gates import Gate
from gitops.replay.job import Runner, RunRequest, RunResult
from gitops.replay.reader_replays import (
    logical_types_by_key,
    reader_replays,
    without_repeated_failures,
)
from gitops.replay.replay_findings import findings_of, is_above
from gitops.replay.tallies import Key, Tally
from gitops.replay.topic_replays import Subject, topic_replay


def with_counted_failures(
    readers: Iterable[ReaderReplay], replays: Iterable[TopicReplay], tallies: Mapping[Key, Tally]
) -> tuple[ReaderReplay, ...]:
    """The readers, of those that gate with how many failures are held against the schema.

    A limit is one of a sample, for all versions of its messages together, as the findings have it.
    """
    replays = tuple(replays)
    how = logical_types_by_key(replays)
    limits = {
        (str(one.topic), number): sample.max_failures
        for one in replays
        for number, sample in enumerate(one.samples)
    }
    rows: Counter[tuple[str, str, str, int]] = Counter()
    failed: Counter[tuple[str, str, str, int]] = Counter()
    for key, tally in tallies.items():
        rows[_sample_key(key)] += tally.rows
        failed[_sample_key(key)] += tally.failed
    counted: Counter[tuple[str, str, str, int | None, LogicalTypes]] = Counter()
    for key, tally in tallies.items():
        its = _sample_key(key)
        if is_above(failed[its], rows[its], limits[key.topic, key.sample]):
            counted[key.topic, key.reader, key.direction, key.version, how(key)] += tally.failed
    return tuple(
        replace(one, counted=counted[_report_key(one)]) if one.gates else one for one in readers
    )


def _report_key(one: ReaderReplay) -> tuple[str, str, str, int | None, LogicalTypes]:
    return str(one.topic), one.reader, one.direction.value, one.version, one.logical_types


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
    found = (topic_replay(one, request.gate) for one in subjects)
    replays = tuple(sorted((one for one in found if one), key=lambda one: one.topic))
    result = _run(request, replays, progress)
    result = dataclasses.replace(result, tallies=without_repeated_failures(result.tallies))
    readers = reader_replays(replays, result.tallies, request.examples)
    readers = with_counted_failures(readers, replays, result.tallies)
    return ReplayReport(
        registry=history.registry,
        engine=request.runner.engine,
        rows=sum(one.rows for one in readers if one.direction is Direction.BACKWARD),
        readers=readers,
        findings=_sorted(graded((*history.findings, *findings_of(replays, result)), history.rules)),
        strategies={one.topic: one.strategy for one in replays},
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
    return tuple(sorted(dict.fromkeys(findings), key=lambda one: (one.sort_key, one.fingerprint)))
