"""Sample data through old and new schemas: what a runner is asked, and what its answer means."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gitops.model.findings import Finding, Severity
from gitops.model.replay import Direction, ReplayReport, TopicReplay
from gitops.ports import Progress, no_progress
from gitops.replay.runner import Ran, Runner, Running
from gitops.usecases.replay_counting import with_counted
from gitops.usecases.replay_findings import findings_of
from gitops.usecases.replay_gates import Gate
from gitops.usecases.replay_subjects import Subject, topic_replay
from gitops.usecases.replay_tallies import reader_replays, without_echoes
from gitops.usecases.severities import graded


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaying:
    """How to replay: on what, what counts, and what is shown.

    `root` is the folder from which the files of manifests count.
    """

    runner: Runner
    root: Path
    gate: Gate = Gate.STRATEGY
    examples: int = 5
    show_values: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Which registry the versions are of, from where, and what that source cannot know.

    `findings` are known before anything is read; `rules` rates them and all others.
    """

    registry: str
    source: str
    limits: tuple[str, ...] = ()
    rules: Mapping[str, Severity] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def replay(
    replaying: Replaying,
    subjects: Iterable[Subject],
    past: Past,
    progress: Progress = no_progress,
) -> ReplayReport:
    """The report of all subjects; those without a sample or a schema are left out.

    Raises OutsideError where the runner fails.
    """
    found = (topic_replay(one, replaying.gate) for one in subjects)
    replays = tuple(sorted((one for one in found if one), key=lambda one: one.topic))
    ran = _run(replaying, replays, progress)
    ran = dataclasses.replace(ran, tallies=without_echoes(ran.tallies))
    readers = reader_replays(replays, ran.tallies, replaying.examples)
    readers = with_counted(readers, replays, ran.tallies)
    return ReplayReport(
        registry=past.registry,
        engine=replaying.runner.engine,
        rows=sum(one.rows for one in readers if one.direction is Direction.BACKWARD),
        readers=readers,
        findings=_sorted(graded((*past.findings, *findings_of(replays, ran)), past.rules)),
        strategies={one.topic: one.strategy for one in replays},
        source=past.source,
        limits=past.limits,
        complete=ran.complete,
    )


def _run(replaying: Replaying, replays: tuple[TopicReplay, ...], progress: Progress) -> Ran:
    """Nothing is started for nothing: Spark takes its time."""
    if not replays:
        return Ran(tallies={})
    running = Running(
        replays=replays,
        root=replaying.root,
        examples=replaying.examples,
        show_values=replaying.show_values,
    )
    return replaying.runner.run(running, progress)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(dict.fromkeys(findings), key=lambda one: (one.sort_key, one.fingerprint)))
