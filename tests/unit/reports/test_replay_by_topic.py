"""What a replay comes to, in the words that all reports share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.replay import (
    Direction,
    FailureExample,
    FieldReplay,
    ReaderReplay,
    ReplayFailure,
    ReplayReport,
)
from gitops.reports.json.replay import replay_document
from gitops.reports.replay_by_topic import other_findings, topics_of, verdict
from gitops.reports.replay_wording import (
    altered_fields,
    altered_text,
    message_text,
    share_text,
    status_text,
    way_text,
    ways_text,
)
from tests.support.replays import CANCELLED, CREATED, FAILING, REPORT, STATUS, UNKNOWN, reader

_BAD = ReplayFailure(path="a", reason="bad", rows=7)


def report(*readers: ReaderReplay, failing: bool = False) -> ReplayReport:
    return replace(
        REPORT,
        readers=readers,
        rows=sum(one.rows for one in readers),
        strategies={CREATED: REPORT.strategies[CREATED]},
        findings=(FAILING,) if failing else (),
    )


def test_the_worst_topic_comes_first() -> None:
    assert [(one.topic, one.sign) for one in topics_of(REPORT)] == [
        (CREATED, "✗"),
        (CANCELLED, "⚠"),
        (STATUS, "✓"),
    ]


def test_a_message_counts_once_however_many_read_it() -> None:
    assert [one.rows for one in topics_of(REPORT)] == [54_000, 102, 5]


@pytest.mark.parametrize(
    ("readers", "failing", "cell"),
    [
        ((reader(),), False, "✓ 50,000 messages"),
        ((reader(CREATED, 0, "proposed", 1),), False, "✓ 1 message"),
        ((), False, "–"),
        ((), True, "✗ not replayed"),
        ((reader(CREATED, 0, "proposed", 50, _BAD),), True, "7 of 50 messages fail"),
        (
            (
                reader(CREATED, 0, "proposed", 50, _BAD),
                reader(CREATED, 1, "proposed", 50, _BAD),
                reader(CREATED, 1, "v0", 9, _BAD),
            ),
            True,
            "14 of 100 messages fail",
        ),
        (
            (
                reader(CREATED, 0, "proposed", 50, _BAD),
                reader(CREATED, 0, "v0", 9, _BAD, _BAD, gates=False),
            ),
            True,
            "7 of 50 messages fail",
        ),
        (
            (reader(CREATED, 0, "proposed", 50, _BAD),),
            False,
            "✓ 50 messages, 7 fail within maxFailures",
        ),
        (
            (reader(), reader(CREATED, 0, "v0", 9, _BAD, gates=False)),
            False,
            "✓ 7 of 9 messages fail, not blocking",
        ),
    ],
)
def test_cells(readers: tuple[ReaderReplay, ...], failing: bool, cell: str) -> None:  # noqa: FBT001
    (topic,) = topics_of(report(*readers, failing=failing))
    assert topic.cell == cell


def test_verdicts() -> None:
    bad = reader(CREATED, 0, "proposed", 50, _BAD)
    assert verdict(REPORT) == (Severity.ERROR, "Messages of 1 of 3 topics cannot be read")
    assert verdict(report(bad, failing=True))[1] == "7 of 50 messages cannot be read"
    good = reader(CREATED, 0, "proposed", 50)
    assert verdict(report(good, failing=True))[1] == "Not everything could be replayed"
    nothing = (Severity.ERROR, "Nothing was replayed: no message was read")
    assert verdict(report(failing=True)) == nothing
    assert verdict(report(reader())) == (Severity.OFF, "50,000 messages of 1 topic can be read")
    assert verdict(report()) == (Severity.OFF, "Nothing was replayed: no message was read")
    warned = replace(REPORT, findings=(UNKNOWN,))
    assert verdict(warned)[1] == "54,105 messages of 3 topics were replayed, with warnings about 1"
    aside = report(reader(CREATED, None, "", 200))
    assert verdict(aside)[1] == "Nothing was replayed: 200 messages were skipped"
    one = report(reader(CREATED, None, "", 1))
    assert verdict(one)[1] == "Nothing was replayed: 1 message was skipped"
    assert verdict(replace(one, complete=False))[1] == (
        "Interrupted after 1 message of 1 topic: it was skipped"
    )
    warned = replace(report(reader(CREATED, 0, "proposed", 1)), findings=(UNKNOWN,))
    assert verdict(warned)[1].startswith("1 message of 1 topic was replayed, with warnings")
    assert topics_of(aside)[0].cell == "✓ not replayed"
    allowed = (Severity.OFF, "7 of 50 messages cannot be read, as maxFailures allows")
    assert verdict(report(bad)) == allowed
    behind = reader(CREATED, 0, "v1", 90, _BAD, gates=False)
    assert verdict(report(reader(), behind))[1] == "50,090 messages of 1 topic can be read"
    stopped = replace(report(reader()), complete=False)
    assert verdict(stopped)[0] is Severity.WARNING
    assert "Interrupted after 50,000 messages" in verdict(stopped)[1]
    early = replace(report(), complete=False)
    assert verdict(early) == (Severity.WARNING, "Interrupted before any message was read")
    assert verdict(replace(aside, complete=False))[1] == (
        "Interrupted after 200 messages of 1 topic: all of them were skipped"
    )


def test_the_way_of_the_data() -> None:
    assert way_text(reader()) == "v3 → proposed"
    assert way_text(reader(CREATED, 4, "billing")) == "v4 → proposed → billing"
    assert way_text(reader(CREATED, None, "")) == "other messages"


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 5, ""),
        (1, 0, ""),
        (1, 4, "25.00 %"),
        (1, 10**6, "< 0.01 %"),
        (5, 5, "100.00 %"),
        (99996, 10**5, "> 99.99 %"),
    ],
)
def test_shares(part: int, whole: int, text: str) -> None:
    assert share_text(part, whole) == text


def test_what_becomes_of_fields() -> None:
    fields = (
        FieldReplay(path="a", read=5, nulls=5),
        FieldReplay(path="b", defaulted=5000, changed=1),
    )
    (one,) = altered_fields(fields)
    assert altered_text(one) == "changed 1, defaulted 5,000"


def test_the_worst_reader_is_one_that_counts() -> None:
    allowed = replace(reader(CREATED, 1, "v0", 90, *[_BAD] * 3), counted=0)
    behind = reader(CREATED, 0, "v1", 90, *[_BAD] * 9, gates=False)
    counts = [reader(CREATED, n, "proposed", 50, *[_BAD] * (n == 2)) for n in (1, 2)]
    (topic,) = topics_of(report(behind, allowed, *counts, failing=True))
    assert (topic.cell, topic.failing_way) == (
        "7 of 100 messages fail",
        "v1, v2 → proposed (backward)",
    )
    assert [status_text(one) for one in topic.asked] == [
        "yes",
        "no: maxFailures",
        "no",
        "",
    ]


def test_allowed_failures_beside_another_error_hold_nothing() -> None:
    allowed = replace(reader(CREATED, 0, "proposed", 50, _BAD), counted=0)
    found = report(allowed, failing=True)
    assert topics_of(found)[0].cell == "✗ not all replayed"
    assert verdict(found)[1] == "Not everything could be replayed"


def test_many_versions_are_a_range() -> None:
    few, many = (ways_text(range(n), Direction.BACKWARD, ("proposed",)) for n in (4, 5))
    assert few == "v0, v1, v2, v3 → proposed"
    assert many == "v0 … v4 (5 versions) → proposed"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("a: bad", ""),
        ("bad", ""),
        ("a: bad, at byte 5 of 9", "at byte 5 of 9"),
        ("bad: 'X'", "'X'"),
        ("12 bytes are missing", "12 bytes are missing"),
    ],
)
def test_a_reason_is_not_said_again(message: str, said: str) -> None:
    assert message_text(FailureExample("f#1", message), "a", "bad") == said


def test_findings_about_no_topic() -> None:
    aside = replace(UNKNOWN, subject="replay")
    assert other_findings(replace(REPORT, findings=(FAILING, aside))) == (aside,)


def test_the_document_does_not_know_the_engine() -> None:
    assert replay_document(REPORT) == replay_document(replace(REPORT, engine="spark"))


def test_the_document_is_by_name() -> None:
    names = [one["topic"] for one in replay_document(REPORT)["topics"]]
    assert names == sorted(names)
    assert TopicName.parse(names[0]) == CANCELLED
