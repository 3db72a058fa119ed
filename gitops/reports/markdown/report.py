"""A whole report as Markdown: the verdict first, then what decides it, then the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gitops.model.check import CheckReport
from gitops.model.findings import Severity
from gitops.planning.registry_comparison import version_skews
from gitops.reports.check_summary import (
    ReportedFinding,
    all_findings,
    name_list,
    reported_causes,
    rollout_title,
    unchecked_text,
    versions_text,
)
from gitops.reports.headline import headline
from gitops.reports.markdown import sections
from gitops.reports.markdown.causes import cause_folds, rows_without, shared_causes
from gitops.reports.markdown.document import COMMENT_LIMIT, Section, finding_item, fit
from gitops.reports.markdown.escaping import (
    POLICIES,
    REPLAYED,
    TOPICS,
    code,
    message,
    prose,
    table_head,
    table_rows,
)
from gitops.reports.markdown.replay import replay_folds
from gitops.reports.markdown.sections import details
from gitops.reports.merge_decision import merge_decision
from gitops.reports.replay_by_topic import TopicResult, cell_text, topics_of
from gitops.reports.results import ReviewResult
from gitops.reports.topic_rows import NONE, Row, Weight, rows_of

_SAID_BY_ROWS: Final = ("PLAN-R003", "PLAN-R007", "PLAN-R010")
"""What these rules find is a row of the table."""
_LET_IN: Final = "CHECK-R004"
_FEW: Final = 3
_MOST_ROWS: Final = 100
"""How many topics have a row each, however alike they are."""
_MOST_NAMES: Final = 500
"""How many topics of one row are named."""


def review_markdown(result: ReviewResult, limit: int = COMMENT_LIMIT) -> str:
    """The report on a change, of at most `limit` bytes."""
    return markdown(result.report, limit)


def markdown(report: CheckReport, limit: int = COMMENT_LIMIT) -> str:
    """The document, of at most `limit` bytes; what is left out is counted, with what shows it.

    A plan and the findings of `validate` are reports too: of no change, or of no registry.
    """
    rows = rows_of(report.registries)
    everything = f"{code(report.command)} shows all" if report.command else "the log shows all"
    several = len(report.registries) + len(report.failures) > 1
    causes = shared_causes(rows)
    sections = (
        *_verdict(report, rows, several=several),
        Section(blocks=cause_folds(causes, rows), cut=2, noun="causes"),
        *_topics(report, rows_without(causes, rows), rows, several=several),
        *_beside(report, rows),
        _footer(report),
    )
    return fit([section for section in sections if section.blocks], limit, everything)


def _verdict(report: CheckReport, rows: Sequence[Row], *, several: bool) -> tuple[Section, ...]:
    failures = tuple(
        f"- {prose(name)}: {message(why)}\n" for name, why in sorted(report.failures.items())
    )
    replayed = any(registry.replay for registry in report.registries)
    return (
        Section(blocks=(f"### {headline(report, rows)}\n\n",)),
        Section(blocks=_decision(report, rows)),
        Section(blocks=sections.broker_items(report.registries, several=several), tail="\n"),
        Section(blocks=failures, head="#### No answer\n\n", tail="\n", cut=2, noun="registries"),
        Section(
            blocks=table_rows(
                _folded([_cells(row, replayed=replayed) for row in rows]), several=several
            ),
            head=table_head(REPLAYED if replayed else TOPICS, several=several),
            tail="\n",
            cut=1,
            noun="topics",
        ),
        Section(
            blocks=table_rows(sections.policy_rows(report.registries), several=several),
            head=table_head(POLICIES, several=several),
            tail="\n",
            cut=4,
            noun="policies",
        ),
    )


def _decision(report: CheckReport, rows: Sequence[Row]) -> tuple[str, ...]:
    """Why, what next, who first."""
    return tuple(
        f"**{label.capitalize()}:**{_said(texts, in_order=in_order)}\n\n"
        for label, texts, in_order in merge_decision(report, rows).items
    )


def _said(texts: Sequence[str], *, in_order: bool) -> str:
    if len(texts) == 1:
        return f" {message(texts[0])}"
    return "".join(
        f"\n{f'{number}.' if in_order else '-'} {message(text)}"
        for number, text in enumerate(texts, start=1)
    )


def _folded(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows; of very many those that differ in their topic alone are one."""
    if len(rows) <= _MOST_ROWS:
        return rows
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, *rest in rows:
        alike.setdefault(tuple(rest), []).append(name)
    return [(_names(names), *rest) for rest, names in alike.items()]


def _names(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    shown = name_list(names, _MOST_NAMES)
    return f"<details><summary>{len(names):,} topics</summary>{shown}</details>"


def _cells(row: Row, *, replayed: bool) -> tuple[str, ...]:
    """In the order of the columns; the last one only where messages were `replayed`."""
    replay = row.replay.cell if row.replay else NONE
    if row.replay and row.is_unread:
        replay = cell_text(row.replay)
    return (
        code(str(row.topic)),
        prose(row.registry),
        row.type,
        row.versions.replace(" → ", "&nbsp;→&nbsp;"),
        row.strategy,
        row.verdict.replace(" ", "&nbsp;", 1),
        prose(row.upgrade_first),
        *((replay.replace(" ", "&nbsp;", 1),) if replayed else ()),
    )


def _topics(
    report: CheckReport, rows: Sequence[Row], every: Sequence[Row], *, several: bool
) -> tuple[Section, ...]:
    """What is the only topic, or one of few that stop the merge, needs no click to be seen.

    Errors that no topic's details have come before what is accepted.
    """
    is_only = len({row.topic for row in rows}) == 1
    stops = len({row.topic for row in rows if row.weight is Weight.STOPPED})
    stopped, odd, good = (
        details(
            (row for row in rows if row.weight is weight),
            several=several,
            unfolded=is_only or (weight is Weight.STOPPED and stops <= _FEW),
        )
        for weight in Weight
    )
    if len([*stopped, *odd, *good]) == 1:
        stopped, odd, good = (tuple(map(_opened, folds)) for folds in (stopped, odd, good))
    outer = "<details><summary>✓ What changes in the accepted topics</summary>\n\n"
    head, tail = (outer, "</details>\n\n") if len(good) > _FEW else ("", "")
    return (
        Section(blocks=stopped, cut=3, noun="refused topics' details"),
        _findings(report, every, "Other errors" if stopped else "Errors", is_error=True),
        Section(blocks=odd, cut=7, noun="topics' details"),
        Section(blocks=good, head=head, tail=tail, cut=8, noun="accepted topics' details"),
    )


def _opened(fold: str) -> str:
    return fold.replace("<details>", "<details open>", 1) if fold.startswith("<details>") else fold


def _beside(report: CheckReport, rows: Sequence[Row]) -> tuple[Section, ...]:
    is_check = bool(report.base)
    return (
        _list("Reach", sections.reach_items(report.touched, rows), cut=9, noun="files and clients"),
        _list(rollout_title(report), sections.rollout_items(report), cut=6, noun="steps"),
        _list("Replay", _replays(report, rows), cut=7, noun="topics"),
        _findings(report, rows, "Findings" if report.registries else "", is_error=False),
        _list("Pulsar would ignore", sections.ignored_items(rows), cut=9, noun="topics"),
        _list(
            "Not from this change (drift)", sections.drift_items(report), cut=11, noun="differences"
        ),
        _list(
            "In the registry and not in the files",
            () if is_check else sections.unmanaged_items(report.registries),
            cut=10,
            noun="topics",
        ),
        _list(
            "Other latest versions", () if is_check else _skew_items(report), cut=10, noun="topics"
        ),
        Section(
            blocks=sections.history_lines(report.registries), cut=6, noun="registries' sources"
        ),
    )


def _skew_items(report: CheckReport) -> tuple[str, ...]:
    """Topics whose latest version is not the same in all registries."""
    return tuple(
        f"- {code(str(version_skew.topic))}: {prose(versions_text(version_skew))}\n"
        for version_skew in version_skews([registry.plan for registry in report.registries])
    )


def _findings(report: CheckReport, rows: Sequence[Row], title: str, *, is_error: bool) -> Section:
    """The findings that no topic's details have; all of them at one place without registries."""
    other_causes = [
        cause
        for cause in _others(report, rows)
        if ((cause.finding.severity is Severity.ERROR) and bool(report.registries)) is is_error
    ]
    texts = tuple(
        finding_item(other_cause.finding, other_cause.registries) for other_cause in other_causes
    )
    return _list(title, texts, cut=5, noun="findings")


def _results(report: CheckReport) -> list[TopicResult]:
    return [
        topic
        for registry in report.registries
        if registry.replay
        for topic in topics_of(registry.replay)
    ]


def _replays(report: CheckReport, rows: Sequence[Row]) -> tuple[str, ...]:
    """Those of topics that have no row, since their schema stays as it is."""
    shown = {row.topic for row in rows if row.replay}
    return replay_folds(result for result in _results(report) if result.topic not in shown)


def _list(title: str, blocks: tuple[str, ...], *, cut: int, noun: str) -> Section:
    head = f"#### {title}\n\n" if title else ""
    return Section(blocks=blocks, head=head, tail="\n", cut=cut, noun=noun)


def _others(report: CheckReport, rows: Sequence[Row]) -> tuple[ReportedFinding, ...]:
    """Findings that no topic's details have."""
    shown = {finding.fingerprint for row in rows for finding in row.findings}
    # The same finding has the line of the change in the report, and in the replay not.
    shown |= {finding.fingerprint for result in _results(report) for finding in result.findings}
    left = [
        _without_reason(cause) if cause.finding.rule == _LET_IN else cause
        for cause in all_findings(report)
        if cause.finding.fingerprint not in shown and cause.finding.rule not in _SAID_BY_ROWS
    ]
    return reported_causes(left)


def _without_reason(cause: ReportedFinding) -> ReportedFinding:
    """The topic's details have the reason in full."""
    claim = cause.finding.message.partition(": before, ")[0]
    return replace(cause, finding=replace(cause.finding, message=claim))


def _footer(report: CheckReport) -> Section:
    parts = []
    if report.files:
        parts.append(f"files {code(sections.short_digest(report.files))}")
    if report.base:
        named = "" if report.base.startswith(report.reference) else f" ({code(report.reference)})"
        parts.append(f"compared with {code(report.base[:7])}{named}")
    if unchecked := unchecked_text(report):
        parts.append(prose(unchecked))
    if report.command:
        parts.append(f"reproduce: {code(report.command)}")
    return Section(blocks=(f"<sub>{' · '.join(parts)}</sub>\n",) if parts else ())
