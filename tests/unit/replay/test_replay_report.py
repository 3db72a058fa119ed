"""What a runner is asked, and what becomes of its answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.replay.counts import FailedRows, Key, Tally
from gitops.replay.replay_report import ReplayHistory, ReplayRequest, replay
from tests.support.replay_subjects import SUBJECT
from tests.support.replays import FakeRunner
from tests.support.states import CREATED, ORDERS

TOPIC = str(CREATED)
PAST = ReplayHistory(registry="local", source="git", limits=("Little is known.",))
BAD = Tally(rows=9, failed=2, failures=[FailedRows(path="a", reason="bad", rows=2)])


def replaying(runner: FakeRunner) -> ReplayRequest:
    return ReplayRequest(runner=runner, root=Path("/repo"), examples=3, show_values=True)


def test_a_runner_is_asked_once_for_all_topics() -> None:
    runner = FakeRunner()
    other = replace(SUBJECT, topic=TopicName(ORDERS, "another"))
    replay(replaying(runner), [SUBJECT, other], PAST)
    (asked,) = runner.asked
    assert [one.topic.local_name for one in asked.replays] == ["another", "created"]
    assert (asked.root, asked.examples, asked.show_values) == (Path("/repo"), 3, True)


def test_samples_whose_logical_types_are_read_otherwise_are_told_apart() -> None:
    (first,) = SUBJECT.samples
    both = replace(SUBJECT, samples=(first, replace(first, logical_types="none")))
    tallies = {
        Key(TOPIC, 0, "proposed", sample=0): BAD,
        Key(TOPIC, 0, "proposed", sample=1): Tally(rows=9),
        Key(TOPIC, None, "", sample=0): Tally(rows=1, failed=1, failures=[FailedRows("", "x", 1)]),
        Key(TOPIC, None, "", sample=1): Tally(rows=1, failed=1, failures=[FailedRows("", "x", 1)]),
    }
    report = replay(replaying(FakeRunner(tallies=tallies)), [both], PAST)
    assert [
        (one.reader, one.logical_types, one.rows, one.failed, one.counted) for one in report.readers
    ] == [("proposed", "java", 9, 2, 2), ("proposed", "none", 9, 0, 0), ("", "java", 2, 2, 0)]


def test_nothing_is_started_for_nothing() -> None:
    runner = FakeRunner()
    report = replay(replaying(runner), [replace(SUBJECT, samples=())], PAST)
    assert runner.asked == []
    assert (report.rows, report.readers, report.complete) == (0, (), True)


def test_what_a_report_holds() -> None:
    tallies = {
        Key(TOPIC, 0, "proposed"): BAD,
        Key(TOPIC, 1, "proposed"): Tally(rows=4),
        Key(TOPIC, 0, "v1", "forward"): Tally(rows=7),
        Key(TOPIC, None, ""): Tally(rows=1, failed=1, failures=[FailedRows("", "no payload", 1)]),
    }
    report = replay(replaying(FakeRunner(tallies=tallies)), [SUBJECT], PAST)
    assert report.rows == 9 + 4 + 1
    assert [(one.reader, one.version, one.gates) for one in report.readers] == [
        ("proposed", 0, True),
        ("proposed", 1, True),
        ("v1", 0, True),
        ("", None, False),
    ]
    assert [one.rule for one in report.findings] == ["REPLAY-R001", "REPLAY-R003"]
    assert report.strategies == {CREATED: SUBJECT.strategy}
    assert (report.registry, report.source, report.limits) == ("local", "git", PAST.limits)


def test_severities_are_those_of_the_files() -> None:
    past = replace(PAST, rules={"REPLAY-R001": Severity.WARNING})
    runner = FakeRunner(tallies={Key(TOPIC, 0, "proposed"): BAD})
    (found,) = replay(replaying(runner), [SUBJECT], past).findings
    assert found.severity is Severity.WARNING


def test_what_counts_is_above_the_limit_of_its_sample() -> None:
    sample = SUBJECT.samples[0]
    subject = replace(SUBJECT, samples=(replace(sample, max_failures=3), sample))
    tallies = {
        # Three of the first sample, in two versions: as many as it allows.
        Key(TOPIC, 0, "proposed", sample=0): BAD,
        Key(TOPIC, 1, "proposed", sample=0): Tally(rows=9, failed=1),
        Key(TOPIC, 1, "proposed", sample=1): BAD,
        # A reader that does not gate.
        Key(TOPIC, 0, "v0", "forward", sample=1): BAD,
    }
    report = replay(replaying(FakeRunner(tallies=tallies)), [subject], PAST)
    assert [(one.reader, one.version, one.failed, one.counted) for one in report.readers] == [
        ("proposed", 0, 2, 0),
        ("proposed", 1, 3, 2),
        ("v0", 0, 2, 0),
    ]
