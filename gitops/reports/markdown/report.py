"""A whole report as Markdown: the verdict first, then what decides it, then the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from gitops.model.check import CheckReport
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.rules import RULES
from gitops.reports.check_summary import (
    ReportedFinding,
    Verdict,
    all_findings,
    count,
    count_unanswered,
    severity_counts,
    verdict,
)
from gitops.reports.markdown import sections
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
from gitops.reports.markdown.topic_rows import Row, TopicStatus, Weight, rows_of
from gitops.reports.replay_by_topic import TopicResult, topics_of
from gitops.reports.results import ReviewResult

# The first line of a report: whether it is good.

_Standings = Counter[TopicStatus]
"""How many topics stand how; of several registries the worst counts."""

_TAKEN: Final = (TopicStatus.LOOSENED, TopicStatus.WARNED, TopicStatus.ACCEPTED)
_NO_CHANGE: Final = (TopicStatus.DELETED, TopicStatus.DRIFTED, TopicStatus.IGNORED)
_BOTH: Final = 2
_NAMED: Final = 2
"""How many kinds of errors are named."""


def headline(report: CheckReport, rows: Sequence[Row]) -> str:
    """One sentence without hostile text: it is made of counts and of rules' titles."""
    topics = _standings(rows)
    match verdict(report):
        case Verdict.REFUSED:
            return f"✗ {_refused(topics)}{_unread(rows)}"
        case Verdict.UNKNOWN:
            return f"✗ {_unanswered(report)}"
        case Verdict.ERRORS:
            return f"✗ {_errors(report)}{_although(topics)}"
        case Verdict.WARNINGS:
            return f"⚠ {_good(report, topics)}, {_warned(report)}"
        case Verdict.WAIVED | Verdict.GOOD:
            odd = any(topics[each] for each in TopicStatus if each < TopicStatus.WARNED)
            return f"{'⚠' if odd else '✓'} {_good(report, topics)}"


def _standings(rows: Iterable[Row]) -> _Standings:
    worst: dict[TopicName, TopicStatus] = {}
    for row in rows:
        worst[row.topic] = min(row.standing, worst.get(row.topic, row.standing))
    return Counter(worst.values())


def _refused(topics: _Standings) -> str:
    if refused := topics[TopicStatus.REFUSED]:
        return f"{_of(refused, topics)} would be refused by Pulsar"
    held = topics[TopicStatus.HELD_BACK]
    verb = "is" if held == 1 else "are"
    return f"{_of(held, topics)} {verb} held back, although Pulsar would take it all"


def _unread(rows: Iterable[Row]) -> str:
    """What else speaks against the change: messages of topics that Pulsar would take."""
    topics = {row.topic for row in rows if row.is_unread}
    return f", and the replay of {count(len(topics), 'other')} fails" if topics else ""


def _unanswered(report: CheckReport) -> str:
    missing, asked = count_unanswered(report)
    if not missing:
        return "The replay failed"
    if asked == 1:
        return "No answer from the registry"
    return f"No answer from {missing:,} of {asked:,} registries"


def _errors(report: CheckReport) -> str:
    """`2 errors, 1 warning: a renamed topic loses its history`."""
    told = [one.finding for one in all_findings(report)]
    rules = dict.fromkeys(one.rule for one in told if one.severity is Severity.ERROR)
    titles = [RULES[rule].title for rule in rules if rule in RULES]
    more = ", …" if len(titles) > _NAMED else ""
    what = f": {'; '.join(titles[:_NAMED])}{more}" if titles else ""
    return f"{severity_counts(told)}{what}"


def _although(topics: _Standings) -> str:
    """What an error does not come from: Pulsar."""
    number = _changes(topics)
    if not number or number > _taken(topics):
        return ""
    return f", although Pulsar would take {_all(number)}"


def _good(report: CheckReport, topics: _Standings) -> str:
    said = "; ".join(_said(topics))
    return said or ("No schema changes" if report.registries else "No errors")


def _said(topics: _Standings) -> Iterator[str]:
    """What becomes of the schemas, one clause for each way; the worst first."""
    waived = ((TopicStatus.WAIVED, "refused by Pulsar"), (TopicStatus.RULE_WAIVED, "held back"))
    for standing, verdict_of_it in waived:
        if number := topics[standing]:
            by = "a waiver lets it" if number == 1 else "waivers let them"
            yield f"{_of(number, topics)} would be {verdict_of_it}, and {by} in"
    if number := _taken(topics):
        every = number == _changes(topics)
        what = _all(number) if every else _of(number, topics)
        yield f"Pulsar would take {what}{_only(topics[TopicStatus.LOOSENED], number)}"
    if number := topics[TopicStatus.WITHOUT_EFFECT]:
        yield f"{_of(number, topics)} {'has' if number == 1 else 'have'} no effect"
    if number := topics[TopicStatus.DRIFTED]:
        verb = "is" if number == 1 else "are"
        yield f"{count(number, 'latest version')} {verb} not in git"
    if number := topics[TopicStatus.DELETED]:
        yield f"{count(number, 'schema')} would be deleted"


def _only(loosened: int, number: int) -> str:
    if not loosened:
        return ""
    how = "only under loosened policies"
    return f", but {how}" if number == 1 else f", {loosened:,} of them {how}"


def _changes(topics: _Standings) -> int:
    return sum(number for each, number in topics.items() if each not in _NO_CHANGE)


def _taken(topics: _Standings) -> int:
    return sum(topics[each] for each in _TAKEN)


def _of(some: int, topics: _Standings) -> str:
    of_all = _changes(topics)
    if some < of_all:
        return f"{some:,} of {of_all:,} schema changes"
    said = _all(some)
    return said[0].upper() + said[1:]


def _all(number: int) -> str:
    if number <= _BOTH:
        return "the schema change" if number == 1 else "both schema changes"
    return f"all {number:,} schema changes"


def _warned(report: CheckReport) -> str:
    told = [one.finding for one in all_findings(report)]
    return severity_counts(one for one in told if one.severity is Severity.WARNING)


_SAID_BY_ROWS: Final = ("PLAN-R003", "PLAN-R007", "PLAN-R010")
"""What these rules find is a row of the table."""
_LET_IN: Final = "CHECK-R004"


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
    topics = _topics(rows, several=several)
    sections = (
        *_verdict(report, rows, several=several),
        *topics,
        *_beside(report, rows),
        _footer(report),
    )
    return fit([each for each in sections if each.blocks], limit, everything)


def _verdict(report: CheckReport, rows: Sequence[Row], *, several: bool) -> tuple[Section, ...]:
    failures = tuple(
        f"- {prose(name)}: {message(why)}\n" for name, why in sorted(report.failures.items())
    )
    replayed = any(one.replay for one in report.registries)
    return (
        Section(blocks=(f"### {headline(report, rows)}\n\n",)),
        Section(blocks=sections.broker_items(report.registries, several=several), tail="\n"),
        Section(blocks=failures, head="#### No answer\n\n", tail="\n", cut=2, noun="registries"),
        Section(
            blocks=table_rows([row.cells(replayed=replayed) for row in rows], several=several),
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


def _topics(rows: Sequence[Row], *, several: bool) -> tuple[Section, ...]:
    """What is the only topic needs no click to be seen."""
    is_only = len({row.topic for row in rows}) == 1
    stopped, odd, good = (
        details((row for row in rows if row.weight is each), several=several, unfolded=is_only)
        for each in Weight
    )
    return (
        Section(blocks=stopped, cut=3, noun="refused topics' details"),
        Section(blocks=odd, cut=7, noun="topics' details"),
        Section(blocks=good, cut=8, noun="accepted topics' details"),
    )


def _beside(report: CheckReport, rows: Sequence[Row]) -> tuple[Section, ...]:
    found = tuple(finding_item(one.finding, one.registries) for one in _others(report, rows))
    is_check = bool(report.base)
    return (
        _list("Reach", sections.reach_items(report.touched), cut=9, noun="files and clients"),
        _list("Rollout", sections.rollout_items(report), cut=6, noun="steps"),
        _list("Replay", _replays(report, rows), cut=7, noun="topics"),
        _list("Findings" if report.registries else "", found, cut=5, noun="findings"),
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
        Section(blocks=sections.history_lines(report.registries), cut=6, noun="registries"),
    )


def _results(report: CheckReport) -> list[TopicResult]:
    return [topic for one in report.registries if one.replay for topic in topics_of(one.replay)]


def _replays(report: CheckReport, rows: Sequence[Row]) -> tuple[str, ...]:
    """Those of topics that have no row, since their schema stays as it is."""
    shown = {row.topic for row in rows if row.replay}
    return replay_folds(one for one in _results(report) if one.topic not in shown)


def _list(title: str, blocks: tuple[str, ...], *, cut: int, noun: str) -> Section:
    head = f"#### {title}\n\n" if title else ""
    return Section(blocks=blocks, head=head, tail="\n", cut=cut, noun=noun)


def _others(report: CheckReport, rows: Sequence[Row]) -> list[ReportedFinding]:
    """Findings that no topic's details have."""
    shown: set[Finding] = {finding for row in rows for finding in row.findings}
    shown |= {found for one in _results(report) for found in one.findings}
    return [
        _without_reason(one) if one.finding.rule == _LET_IN else one
        for one in all_findings(report)
        if one.finding not in shown and one.finding.rule not in _SAID_BY_ROWS
    ]


def _without_reason(told: ReportedFinding) -> ReportedFinding:
    """The topic's details have the reason in full."""
    claim = told.finding.message.partition("; before: ")[0]
    return replace(told, finding=replace(told.finding, message=claim))


def _footer(report: CheckReport) -> Section:
    parts = []
    if report.files:
        parts.append(f"files {code(sections.short_digest(report.files))}")
    if report.base:
        named = "" if report.base.startswith(report.reference) else f" ({code(report.reference)})"
        parts.append(f"compared with {code(report.base[:7])}{named}")
    if report.command:
        parts.append(f"reproduce: {code(report.command)}")
    return Section(blocks=(f"<sub>{' · '.join(parts)}</sub>\n",) if parts else ())
