"""Reasons begin with what the files change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.findings import Finding
from gitops.model.plan import ChangeKind, SchemaChange
from gitops.reports.check_summary import claim
from gitops.reports.decision_reasons import Reasons, change_text
from gitops.reports.topic_rows import Row, TopicStatus
from tests.support.checks import CREATED, UNKNOWN_KEY


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (SchemaChange(kind=ChangeKind.ADDED, path="a", after="int"), "'a' (int) is new"),
        (SchemaChange(kind=ChangeKind.REMOVED, path="a", before="int"), "'a' is removed"),
        (SchemaChange(kind=ChangeKind.CHANGED, path="a", before="x", after="y"), "'a' x → y"),
        (
            SchemaChange(
                kind=ChangeKind.CHANGED, path="a", before="logicalType x", after="logicalType y"
            ),
            "'a' logicalType x → y",
        ),
        (
            SchemaChange(kind=ChangeKind.REMOVED, path="a", before="symbol OLD"),
            "'a' loses the symbol OLD",
        ),
        (
            SchemaChange(kind=ChangeKind.ADDED, path="a", after="symbol NEW"),
            "'a' gets the symbol NEW",
        ),
    ],
)
def test_a_change_is_told_in_words(change: SchemaChange, said: str) -> None:
    assert change_text(change) == said


def _row(standing: TopicStatus, *changes: SchemaChange) -> Row:
    return Row(
        standing=standing,
        topic=CREATED,
        registry="one",
        versions="",
        verdict="",
        changes=changes,
    )


def test_what_the_files_change_for_clients_is_named_where_all_are_one_reason() -> None:
    changes = (
        SchemaChange(kind=ChangeKind.CHANGED, path="lines[].count", before="int", after="long"),
        SchemaChange(kind=ChangeKind.ADDED, path="b", after="int"),
    )
    row = _row(TopicStatus.ACCEPTED, *changes)
    late = replace(UNKNOWN_KEY, rule="CLIENT-R003", subject="crm").from_origin(
        str(CREATED), "count"
    )
    others = [replace(UNKNOWN_KEY, message=str(number)) for number in range(3)]

    said = [*Reasons([row]).texts([*others, late])]

    assert said[-1] == (
        f"{CREATED} (clients first): 'lines[].count' int → long; "
        "crm cannot reconnect after the merge"
    )


def test_what_follows_from_one_change_is_one_reason() -> None:
    gone = SchemaChange(kind=ChangeKind.REMOVED, path="count", before="int")
    row = _row(TopicStatus.LOOSENED, gone)
    split = replace(UNKNOWN_KEY, subject=str(CREATED), message=f"{CREATED} is odd: at 'count': why")
    late = replace(UNKNOWN_KEY, rule="CLIENT-R003", subject="crm").from_origin(
        str(CREATED), "count"
    )

    assert [*Reasons([row]).texts([split, late])] == [
        f"{CREATED}: 'count' is removed; crm needs it and cannot reconnect after the merge; odd"
    ]


def test_values_that_change_for_both_sides_are_one_reason() -> None:
    proposed, crm = (
        replace(
            UNKNOWN_KEY,
            rule="REPLAY-R007",
            message=f"{who} other values at 'count' (4 of 4 values), silently",
        )
        for who in ("the proposed schema reads", "crm would read")
    )
    both = Reasons([]).of_warning(proposed, [proposed, crm])

    assert both.endswith(
        ": old and new schemas read each other's values wrong (4 of 4 values), silently"
    )
    assert Reasons([]).of_warning(crm, [crm]).endswith(crm.message)


def test_a_reason_begins_with_what_the_files_change_at_its_place() -> None:
    added = SchemaChange(kind=ChangeKind.ADDED, path="b", after="int")
    removed = SchemaChange(kind=ChangeKind.REMOVED, path="a", before="int")
    row = _row(TopicStatus.REFUSED, added, removed)
    found = replace(
        UNKNOWN_KEY, subject=str(CREATED), message="v0 cannot read at 'b': why", hint=""
    )
    renamed = replace(found, hint="if it is a rename, add an alias")
    elsewhere = replace(found, message="v0 cannot read at 'c': why")
    reasons = Reasons([row])

    def said(finding: Finding) -> str:
        return reasons.text(finding, claim(finding)).removeprefix(f"{CREATED}: ")

    assert said(found) == "'b' (int) is new; v0 cannot read"
    assert said(renamed) == "'a' is gone, and 'b' is new and has no default; v0 cannot read"
    assert said(elsewhere) == "v0 cannot read at 'c'"
