"""A whole report as Markdown: the verdict first, then what decides it, then the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitops.model.check import CheckReport
from gitops.model.findings import Finding
from gitops.reporters.markdown import lists
from gitops.reporters.markdown.details import details
from gitops.reporters.markdown.escaping import code, message, prose
from gitops.reporters.markdown.headline import headline
from gitops.reporters.markdown.parts import finding_item
from gitops.reporters.markdown.rows import TABLE_HEAD, Row, rows_of
from gitops.reporters.markdown.sections import COMMENT_LIMIT, Section, fit
from gitops.reporters.tally import Told, all_findings

_SAID_BY_ROWS: Final = ("PLAN-R003", "PLAN-R007")
"""What these rules find is a row of the table."""


def markdown(report: CheckReport, limit: int = COMMENT_LIMIT) -> str:
    """The document, of at most `limit` bytes; what is left out is counted, with what shows it.

    A plan and the findings of `validate` are reports too: of no change, or of no registry.
    """
    rows = rows_of(report.registries)
    everything = f"{code(report.command)} shows all" if report.command else "the log shows all"
    sections = (*_verdict(report, rows), *_topics(rows), *_beside(report, rows), _footer(report))
    return fit([each for each in sections if each.blocks], limit, everything)


def _verdict(report: CheckReport, rows: Sequence[Row]) -> tuple[Section, ...]:
    failures = tuple(
        f"- {prose(name)}: {message(why)}\n" for name, why in sorted(report.failures.items())
    )
    return (
        Section(blocks=(f"### {headline(report, rows)}\n\n",)),
        Section(blocks=failures, head="#### No answer\n\n", tail="\n", cut=2, noun="registries"),
        Section(
            blocks=tuple(str(row) for row in rows), head=TABLE_HEAD, tail="\n", cut=1, noun="topics"
        ),
        Section(
            blocks=lists.policy_rows(report.registries),
            head=lists.POLICY_HEAD,
            tail="\n",
            cut=3,
            noun="policies",
        ),
    )


def _topics(rows: Sequence[Row]) -> tuple[Section, ...]:
    bad = details(row for row in rows if not row.good)
    good = details(row for row in rows if row.good)
    return (
        Section(blocks=bad, cut=6, noun="topics' details"),
        Section(blocks=good, cut=7, noun="accepted topics' details"),
    )


def _beside(report: CheckReport, rows: Sequence[Row]) -> tuple[Section, ...]:
    found = tuple(finding_item(one.finding, one.registries) for one in _others(report, rows))
    is_check = bool(report.base)
    return (
        _list("Rollout", lists.rollout_items(report), cut=5, noun="steps"),
        _list("Findings" if report.registries else "", found, cut=4, noun="findings"),
        _list("Pulsar would ignore", lists.ignored_items(rows), cut=8, noun="topics"),
        _list(
            "Not from this change (drift)", lists.drift_items(report), cut=10, noun="differences"
        ),
        _list(
            "In the registry and not in the files",
            () if is_check else lists.unmanaged_items(report.registries),
            cut=9,
            noun="topics",
        ),
        Section(blocks=lists.history_lines(report.registries), cut=5, noun="registries"),
    )


def _list(title: str, blocks: tuple[str, ...], *, cut: int, noun: str) -> Section:
    head = f"#### {title}\n\n" if title else ""
    return Section(blocks=blocks, head=head, tail="\n", cut=cut, noun=noun)


def _others(report: CheckReport, rows: Sequence[Row]) -> list[Told]:
    """Findings that no topic's details have."""
    shown: set[Finding] = {finding for row in rows for finding in row.findings}
    return [
        one
        for one in all_findings(report)
        if one.finding not in shown and one.finding.rule not in _SAID_BY_ROWS
    ]


def _footer(report: CheckReport) -> Section:
    parts = []
    if report.files:
        parts.append(f"files {code(lists.short_digest(report.files))}")
    if report.base:
        parts.append(f"compared with {code(report.base[:7])} ({code(report.reference)})")
    if report.command:
        parts.append(f"reproduce: {code(report.command)}")
    return Section(blocks=(f"<sub>{' · '.join(parts)}</sub>\n",) if parts else ())
