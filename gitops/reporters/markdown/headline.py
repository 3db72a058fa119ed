"""The first line of a report: whether it is good."""

from __future__ import annotations

from collections.abc import Sequence

from gitops.model.check import CheckReport
from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.reporters.markdown.rows import Row, Standing
from gitops.reporters.tally import Verdict, all_findings, count, counted, verdict


def headline(report: CheckReport, rows: Sequence[Row]) -> str:
    """One sentence without hostile text: it is made of counts."""
    said = counted(one.finding for one in all_findings(report))
    match verdict(report):
        case Verdict.REFUSED:
            return f"✗ {_refused(rows)}"
        case Verdict.UNKNOWN:
            missing, asked = len(report.failures), len(report.failures) + len(report.registries)
            return f"✗ No answer from {missing:,} of {count(asked, 'registry', 'registries')}"
        case Verdict.ERRORS:
            return f"✗ {said}{_although(rows)}"
        case Verdict.WARNINGS:
            return f"⚠ {_good(report, rows)}, {_warned(report)}"
        case Verdict.GOOD:
            return f"{'⚠' if _sneaked(rows) else '✓'} {_good(report, rows)}"


def _refused(rows: Sequence[Row]) -> str:
    all_topics = _changed(rows)
    refused = {row.topic for row in rows if row.standing is Standing.REFUSED}
    if refused:
        return f"{_of(len(refused), len(all_topics))} would be refused by Pulsar"
    held = {row.topic for row in rows if row.standing is Standing.HELD_BACK}
    verb = "is" if len(held) == 1 else "are"
    return f"{_of(len(held), len(all_topics))} {verb} held back, although Pulsar would take it all"


def _of(some: int, of_all: int) -> str:
    if some < of_all:
        return f"{some:,} of {of_all:,} schema changes"
    return "The schema change" if some == 1 else f"All {some:,} schema changes"


def _although(rows: Sequence[Row]) -> str:
    changes = _changed(rows)
    return f", although Pulsar would take {_taken(len(changes))}" if changes else ""


def _changed(rows: Sequence[Row]) -> set[TopicName]:
    return {row.topic for row in rows if row.standing is not Standing.IGNORED}


def _good(report: CheckReport, rows: Sequence[Row]) -> str:
    if changes := _changed(rows):
        sneaked = _sneaked(rows)
        only = f", {sneaked:,} of them only under loosened policies" if sneaked else ""
        return f"Pulsar would take {_taken(len(changes))}{only}"
    return "No schema changes" if report.registries else "No errors"


def _sneaked(rows: Sequence[Row]) -> int:
    """How many topics change as the policies of the base would not allow."""
    return len({row.topic for row in rows if row.standing is Standing.LOOSENED})


def _taken(number: int) -> str:
    return "the schema change" if number == 1 else f"all {number:,} schema changes"


def _warned(report: CheckReport) -> str:
    told = [one.finding for one in all_findings(report)]
    return counted(one for one in told if one.severity is Severity.WARNING)
