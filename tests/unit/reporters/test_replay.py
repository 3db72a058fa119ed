"""What a replay comes to, in the words that all reports share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.replay import FieldReplay, ReaderReplay, ReplayFailure, ReplayReport
from gitops.reporters.replay import (
    altered,
    altered_text,
    other_findings,
    share_text,
    topics_of,
    verdict,
    way_text,
)
from gitops.reporters.replay_json import replay_document
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
        ((reader(),), False, "✓ 50,000 rows"),
        ((reader(CREATED, 0, "proposed", 1),), False, "✓ 1 row"),
        ((), False, "–"),
        ((), True, "✗ not replayed"),
        ((reader(CREATED, 0, "proposed", 50, _BAD),), True, "7 of 50 rows fail"),
        (
            (
                reader(CREATED, 0, "proposed", 50, _BAD),
                reader(CREATED, 1, "proposed", 50, _BAD),
                reader(CREATED, 1, "v0", 9, _BAD),
            ),
            True,
            "14 of 100 rows fail",
        ),
        (
            (
                reader(CREATED, 0, "proposed", 50, _BAD),
                reader(CREATED, 0, "v0", 9, _BAD, _BAD, gates=False),
            ),
            True,
            "7 of 50 rows fail",
        ),
        (
            (reader(CREATED, 0, "proposed", 50, _BAD),),
            False,
            "✓ 50 rows, 7 of which may fail",
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
    assert verdict(aside)[1] == "Nothing was replayed: 200 messages were left aside"
    assert topics_of(aside)[0].cell == "✓ not replayed"
    allowed = (Severity.OFF, "7 of 50 messages cannot be read, as maxFailures allows")
    assert verdict(report(bad)) == allowed
    stopped = replace(report(reader()), complete=False)
    assert verdict(stopped)[0] is Severity.WARNING
    assert "Interrupted after 50,000 messages" in verdict(stopped)[1]
    early = replace(report(), complete=False)
    assert verdict(early) == (Severity.WARNING, "Interrupted before any message was read")


def test_the_way_of_the_data() -> None:
    assert way_text(reader()) == "v3 → proposed"
    assert way_text(reader(CREATED, 4, "billing")) == "v4 → proposed → billing"
    assert way_text(reader(CREATED, None, "")) == "other messages"


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 5, ""), (1, 0, ""), (1, 4, "25.00 %"), (1, 10**6, "< 0.01 %"), (5, 5, "100.00 %")],
)
def test_shares(part: int, whole: int, text: str) -> None:
    assert share_text(part, whole) == text


def test_what_becomes_of_fields() -> None:
    fields = (
        FieldReplay(path="a", read=5, nulls=5),
        FieldReplay(path="b", defaulted=5000, changed=1),
    )
    (one,) = altered(fields)
    assert altered_text(one) == "defaulted 5,000, changed 1"


def test_findings_about_no_topic() -> None:
    aside = replace(UNKNOWN, subject="replay")
    assert other_findings(replace(REPORT, findings=(FAILING, aside))) == (aside,)


def test_the_document_does_not_know_the_engine() -> None:
    assert replay_document(REPORT) == replay_document(replace(REPORT, engine="spark"))


def test_the_document_is_by_name() -> None:
    names = [one["topic"] for one in replay_document(REPORT)["topics"]]
    assert names == sorted(names)
    assert TopicName.parse(names[0]) == CANCELLED
