"""What several topics are refused or warned for, once, above the details of each topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import shorten
from typing import Final

from gitops.model.findings import Cause, Finding, causes_of
from gitops.reports.check_summary import claim, count, waivers_hint
from gitops.reports.markdown.document import ICONS, changes_block, finding_item, paragraphs
from gitops.reports.markdown.escaping import message, prose
from gitops.reports.topic_rows import Row, changes_key, shared_changes

_MAX_TITLE: Final = 120


def shared_causes(rows: Sequence[Row]) -> list[Cause]:
    """The causes that several topics have, the worst first."""
    causes = causes_of(finding for row in rows for finding in row.findings)
    items = [cause for cause in causes if cause.is_shared]
    return sorted(items, key=lambda cause: (-cause.finding.severity, -len(cause.members)))


def rows_without(causes: Sequence[Cause], rows: Sequence[Row]) -> list[Row]:
    """The rows, each with what it has alone."""
    known = {finding for cause in causes for finding in cause.members}
    return [_without(known, row) for row in rows]


def _without(known: set[Finding], row: Row) -> Row:
    left = tuple(finding for finding in row.findings if finding not in known)
    if len(left) == len(row.findings):
        return row
    if left:
        return replace(row, findings=left)
    return replace(row, findings=(), waiver=None, changes=())


def cause_folds(causes: Sequence[Cause], rows: Sequence[Row]) -> tuple[str, ...]:
    """One fold a cause, open where it is the only one."""
    opened = "<details open>" if len(causes) == 1 else "<details>"
    return tuple(f"{opened}{_fold(cause, rows)}</details>\n\n" for cause in causes)


def _fold(cause: Cause, rows: Sequence[Row]) -> str:
    finding, members = cause.finding, set(cause.members)
    group = [row for row in rows if not members.isdisjoint(row.findings)]
    topics = count(len({row.topic for row in group}), "topic")
    place = prose(str(finding.location)) if finding.location else finding.rule
    text = prose(shorten(claim(finding), _MAX_TITLE, placeholder=" …"))
    head = f"<summary>{ICONS.get(finding.severity, '')} <b>{place}</b>, {topics}: {text}</summary>"
    parts = (_changes(group), finding_item(finding), _waivers(group))
    return "\n\n".join((head, paragraphs(parts))) + "\n"


def _changes(rows: Sequence[Row]) -> str:
    """Where they are the same in all topics."""
    if len({changes_key(row.changes) for row in rows}) != 1:
        return ""
    return changes_block(shared_changes([row.changes for row in rows]))


def _waivers(rows: Sequence[Row]) -> str:
    waivers = [row.waiver for row in rows if row.waiver]
    if not waivers:
        return ""
    hint = waivers_hint(waivers)
    return f"Or {count(len(waivers), 'waiver')}{f': {message(hint)}' if hint else ''}.\n"
