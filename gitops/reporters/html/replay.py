"""A replay as a page: the verdict, a table of topics, then a card for each topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.model.replay import ReplayReport
from gitops.model.rules import RULES
from gitops.reporters.html.parts import code, page, table, text
from gitops.reporters.html.replay_topic import finding, topic_card
from gitops.reporters.replay import TopicResult, cell_text, other_findings, topics_of, verdict
from gitops.reporters.replay_words import ways_said
from gitops.reporters.tally import count

COLOURS: Final = {Severity.ERROR: "bad", Severity.WARNING: "warn"}
_SIGNS: Final = {Severity.ERROR: "✗", Severity.WARNING: "⚠"}


def replay_page(report: ReplayReport) -> str:
    """The whole page; the same report gives the same bytes."""
    worst, said = verdict(report)
    topics = topics_of(report)
    sign = f'<span class="{COLOURS.get(worst, "good")}">{_SIGNS.get(worst, "✓")}</span>'
    parts = [
        f"<header>\n<h1>{sign} {text(said)}</h1>\n{_about(report)}</header>\n<main>\n",
        _overview(topics),
        _others(other_findings(report)),
        *(topic_card(one, f"topic-{number}") for number, one in enumerate(topics, 1)),
        _rules(report),
        f"</main>\n{_footer(report)}",
    ]
    return page(f"Replay: {said}", "".join(parts))


def _about(report: ReplayReport) -> str:
    counts = f"{count(len(report.strategies), 'topic')}, {count(report.rows, 'message')}"
    source = f"versions from {report.source}"
    return f'<p class="soft">{text(report.registry)} · {text(source)} · {text(counts)}</p>\n'


def _overview(topics: Sequence[TopicResult]) -> str:
    if not topics:
        return ""
    rows = [
        (
            f'<a href="#topic-{number}">{text(str(one.topic))}</a>',
            one.strategy.value,
            f"{one.rows:,}",
            f'<span class="{COLOURS.get(one.worst, "good")}">{text(cell_text(one))}</span>',
            text(one.failing_way),
        )
        for number, one in enumerate(topics, 1)
    ]
    heads = ("Topic", "Strategy", "Messages", "Replay", "Worst reader")
    return f'<section class="card">\n{table(heads, rows, numbers=(2,), roomy=(1, 2))}</section>\n'


def _others(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    items = "".join(f"<li>{finding(one)}</li>\n" for one in findings)
    listed = f'<ul class="findings">{items}</ul>\n'
    return f'<section class="card">\n<h2>Findings</h2>\n{listed}</section>\n'


def _rules(report: ReplayReport) -> str:
    """What the findings link to; the page has to do without any other."""
    rules = sorted({one.rule for one in report.findings} & RULES.keys())
    if not rules:
        return ""
    items = "".join(
        f'<li id="{one}">{code(one)} {text(RULES[one].title)}: '
        f"{code(f'pulsar-gitops explain {one}')}</li>\n"
        for one in rules
    )
    return f'<section class="card">\n<h2>Rules</h2>\n<ul>{items}</ul>\n</section>\n'


def _footer(report: ReplayReport) -> str:
    limits = "".join(f"<p>{text(limit)}</p>\n" for limit in report.limits)
    what = "".join(f"<p>{text(each)}</p>\n" for each in ways_said(report))
    return f"<footer>\n{what}{limits}</footer>\n"
