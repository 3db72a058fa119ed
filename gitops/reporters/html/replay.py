"""A replay as a page: the verdict, a table of topics, then a card for each topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.model.replay import ReplayReport
from gitops.reporters.html.parts import code, page, table, text
from gitops.reporters.html.replay_topic import topic_card
from gitops.reporters.replay import TopicResult, other_findings, topics_of, verdict
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
            f'<span class="{COLOURS.get(one.worst, "good")}">{text(one.cell)}</span>',
        )
        for number, one in enumerate(topics, 1)
    ]
    heads = ("Topic", "Strategy", "Messages", "Replay")
    return f'<section class="card">\n{table(heads, rows, numbers=(2,))}</section>\n'


def _others(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    items = "".join(f"<li>{code(one.rule)} {text(one.message)}</li>\n" for one in findings)
    return f'<section class="card">\n<h2>Findings</h2>\n<ul>{items}</ul>\n</section>\n'


def _footer(report: ReplayReport) -> str:
    limits = "".join(f"<p>{text(limit)}</p>\n" for limit in report.limits)
    what = (
        "Backward: data of live versions, read by the proposed schema. Forward: the same data, "
        "written anew with the proposed schema, read by older versions and by declared clients."
    )
    return f"<footer>\n<p>{text(what)}</p>\n{limits}</footer>\n"
