"""A replay as an HTML page: the verdict, a table of topics, then a card for each topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.model.replay import ReplayReport
from gitops.reports.check_summary import count
from gitops.reports.html.page import code, page, table, text
from gitops.reports.html.replay_topic import (
    COLOURS,
    finding_item,
    rules_of,
    topic_card,
)
from gitops.reports.replay_by_topic import (
    SIGNS,
    TopicResult,
    cell_text,
    other_findings,
    topics_of,
    verdict,
)
from gitops.reports.replay_wording import direction_legend
from gitops.reports.results import ReplayPage

_MOST_ROWS: Final = 12_000
"""Of all tables of one kind together, so that the page stays one that a browser opens at once."""
_FEWEST_ROWS: Final = 60
_UNFOLDED: Final = 5
"""So many topics are seen at once; of more, those with errors up to that number."""


def page_html(result: ReplayPage) -> str:
    """The whole page; the same run gives the same bytes."""
    report = result.replay
    worst, message = verdict(report)
    topics = topics_of(report)
    shared = _shared(topics)
    most = max(_FEWEST_ROWS, _MOST_ROWS // max(1, len(topics)))
    sign = f'<span class="{COLOURS.get(worst, "good")}">{SIGNS.get(worst, "✓")}</span>'
    parts = [
        f"<header>\n<h1>{sign} {text(message)}</h1>\n{_about(result)}</header>\n<main>\n",
        _others(other_findings(report), topics, shared),
        _overview(topics),
        *(
            topic_card(item, f"topic-{at}", shared, is_open=_is_open(item, at, topics), most=most)
            for at, item in enumerate(topics, 1)
        ),
        _rules(report),
        f"</main>\n{_footer(result)}",
    ]
    return page(f"Replay: {message}", "".join(parts), has_script=True)


def _is_open(topic: TopicResult, number: int, topics: Sequence[TopicResult]) -> bool:
    if len(topics) <= 1:
        return True
    return number <= _UNFOLDED and topic.worst >= Severity.WARNING


def _about(result: ReplayPage) -> str:
    report, run = result.replay, result.run
    counts = f"{count(len(report.strategies), 'topic')}, {count(report.rows, 'message')}"
    facts = [report.registry, f"versions from {report.source}" if report.source else "", counts]
    lines = [facts]
    if run:
        commit = f"commit {run.commit}" if run.commit else ""
        program = f"pulsar-gitops {run.program}"
        made = run.made.strftime("%Y-%m-%d %H:%M UTC")
        lines.append([made, commit, f"engine {report.engine}", program])
    shown = (" · ".join(filter(None, line)) for line in lines)
    return "".join(f'<p class="soft">{text(line)}</p>\n' for line in shown)


def _overview(topics: Sequence[TopicResult]) -> str:
    """One topic is told by its card alone."""
    if len(topics) <= 1:
        return ""
    rows = [
        (
            f'<a href="#topic-{number}">{text(str(result.topic))}</a>',
            f'<span class="{COLOURS.get(result.worst, "good")}">{text(cell_text(result))}</span>',
            text(result.failing_way),
            result.strategy.value,
            f"{result.rows:,}",
        )
        for number, result in enumerate(topics, 1)
    ]
    heads = ("Topic", "Replay", "Worst reader", "Strategy", "Messages")
    shown = table(heads, rows, {3: "roomy", 4: "number roomy"}, is_sorted=True)
    return f'<section class="card">\n{shown}</section>\n'


def _shared(topics: Sequence[TopicResult]) -> dict[Finding, str]:
    """The findings that several topics have, with the anchor of the one place that tells them."""
    alike: dict[tuple[str, str, str | None], list[Finding]] = {}
    for topic in topics:
        for finding in dict.fromkeys(topic.findings):
            alike.setdefault((finding.rule, finding.message, finding.hint), []).append(finding)
    several = [findings for findings in alike.values() if len(findings) > 1]
    return {item: f"finding-{at}" for at, findings in enumerate(several, 1) for item in findings}


def _others(
    findings: Sequence[Finding], topics: Sequence[TopicResult], shared: Mapping[Finding, str]
) -> str:
    """Those about none of the topics, and those about several, each once."""
    by_anchor: dict[str, list[Finding]] = {}
    for finding, anchor in shared.items():
        by_anchor.setdefault(anchor, []).append(finding)
    items = "".join(f"<li>{finding_item(item)}</li>\n" for item in findings)
    numbers = {str(result.topic): at for at, result in enumerate(topics, 1)}
    items += "".join(
        f'<li id="{anchor}">{finding_item(replace(members[0], location=None))}'
        f"{_subjects(members, numbers)}</li>\n"
        for anchor, members in by_anchor.items()
    )
    listed = f'<ul class="findings">{items}</ul>\n'
    return f'<section class="card">\n<h2>Findings</h2>\n{listed}</section>\n' if items else ""


def _subjects(findings: Sequence[Finding], numbers: Mapping[str, int]) -> str:
    """The topics of one finding, folded."""
    links = "".join(
        f'<li><a href="#topic-{numbers[finding.subject]}">{text(finding.subject)}</a>'
        f"{f' {code(str(finding.location))}' if finding.location else ''}</li>\n"
        for finding in findings
    )
    topics = count(len(findings), "topic")
    return f'<details class="small"><summary>{topics}</summary><ul>{links}</ul></details>'


def _rules(report: ReplayReport) -> str:
    items = "".join(rules_of(report.findings))
    return (
        f'<section class="card">\n<h2>Rules</h2>\n<ul>{items}</ul>\n</section>\n' if items else ""
    )


def _footer(result: ReplayPage) -> str:
    texts = (*direction_legend(result.replay), *result.replay.limits)
    lines = "".join(f"<p>{text(word)}</p>\n" for word in texts)
    command = result.run.command if result.run else ""
    again = f"<p>reproduce: {code(command)}</p>\n" if command else ""
    return f"<footer>\n{lines}{again}</footer>\n"
