"""A replay in a terminal: the verdict, then each topic with its readers, failures and fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.findings import Severity
from gitops.model.replay import ReaderReplay, ReplayFailure, ReplayReport
from gitops.reporters.replay import (
    TopicResult,
    altered,
    altered_text,
    message_text,
    other_findings,
    share_text,
    topics_of,
    verdict,
    way_text,
)
from gitops.reporters.tally import count
from gitops.reporters.text.columns import aligned
from gitops.reporters.text.findings import STYLES, Excerpt, count_line, finding_block
from gitops.reporters.text.plain import safe, short

_MAX_FAILURES: Final = 20
_MAX_FIELDS: Final = 40
_SAID_BY_ROWS: Final = ("REPLAY-R002", "REPLAY-R003", "REPLAY-R006", "REPLAY-R007")
"""What these rules find stands in the topic's own tables."""
_INDENT: Final = 4


def replay_report(report: ReplayReport, excerpt: Excerpt, *, seconds: float) -> RenderableType:
    """The whole answer; `seconds` is how long it took."""
    worst, said = verdict(report)
    style = STYLES.get(worst, "bold green") if worst > Severity.INFO else "bold green"
    sign = {Severity.ERROR: "✗", Severity.WARNING: "⚠"}.get(worst, "✓" if report.rows else "·")
    parts: list[RenderableType] = [Text(f"{sign} {said}", style=style), _head(report)]
    parts += [Text(safe(limit), style="dim") for limit in report.limits]
    parts.append(Text(""))
    for topic in topics_of(report):
        parts += [*_topic(topic), *_findings(topic, excerpt), Text("")]
    for one in other_findings(report):
        parts += [finding_block(one, excerpt), Text("")]
    took = Text.assemble(count_line(report.findings), "   ", (f"{seconds:.1f} s", "dim"))
    return Group(*parts, took)


def replay_section(report: ReplayReport) -> Iterator[RenderableType]:
    """The topics below a plan, without findings, which stand with those of the change."""
    topics = topics_of(report)
    if topics:
        yield Text("")
        yield Text("replay", style="bold")
        for number, topic in enumerate(topics):
            yield Text("") if number else Group()
            yield from _topic(topic)


def _head(report: ReplayReport) -> Text:
    parts = [
        safe(report.registry),
        f"engine {report.engine}",
        f"versions from {safe(report.source)}",
    ]
    counts = f"{count(len(report.strategies), 'topic')}, {count(report.rows, 'message')}"
    return Text(" · ".join([*parts, counts]))


def _topic(topic: TopicResult) -> Iterator[RenderableType]:
    """The heading, and below it what each reader made of the messages."""
    head = Text.assemble(
        (topic.sign, STYLES.get(topic.worst, "green")), " ", (safe(str(topic.topic)), "bold")
    )
    columns = (head, Text(topic.strategy.value), Text(count(topic.rows, "message")))
    body: list[RenderableType] = [_readers(topic)] if topic.asked else []
    for one in (*topic.asked, *topic.aside):
        body += _failures(one)
    body += _fields(topic)
    yield aligned([columns])
    if body:
        yield Padding(Group(*body), (0, 0, 0, _INDENT), expand=False)


def _findings(topic: TopicResult, excerpt: Excerpt) -> Iterator[RenderableType]:
    """What the tables do not say; of what they do say, which rules count it."""
    by_rows = _SAID_BY_ROWS if topic.rows else ()
    said = {one.rule for one in topic.findings if one.rule in by_rows}
    if said:
        rules = Text(f"{', '.join(sorted(said))}: see `pulsar-gitops explain`", style="dim")
        yield Text("")
        yield Padding(rules, (0, 0, 0, _INDENT), expand=False)
    for one in topic.findings:
        if one.rule not in by_rows:
            yield Text("")
            yield Padding(finding_block(one, excerpt), (0, 0, 0, _INDENT), expand=False)


def _readers(topic: TopicResult) -> RenderableType:
    """A line for each reader and version, numbers below each other."""
    cells = [_cells(one) for one in topic.asked]
    heads = ("data → reader", "messages", "fail", "", "")
    widths = [max(len(row[i]) for row in (heads, *cells)) for i in range(len(heads))]
    lines: list[Sequence[Text]] = [_line(heads, widths, "dim")]
    lines += [
        _line(cell, widths, "red" if one.failed and one.gates else "")
        for cell, one in zip(cells, topic.asked, strict=True)
    ]
    return aligned(lines)


def _cells(one: ReaderReplay) -> tuple[str, ...]:
    return (
        safe(way_text(one)),
        f"{one.rows:,}",
        f"{one.failed:,}" if one.failed else "✓",
        share_text(one.failed, one.rows),
        "" if one.gates else "does not count",
    )


def _line(cells: Sequence[str], widths: Sequence[int], style: str) -> Sequence[Text]:
    """Names to the left, numbers to the right."""
    name, rows, failed, share, note = cells
    return (
        Text(name, style=style),
        Text(rows.rjust(widths[1]), style=style),
        Text(failed.rjust(widths[2]), style=style),
        Text(share.rjust(widths[3]), style=style),
        Text(note, style="dim"),
    )


def _failures(one: ReaderReplay) -> Iterator[RenderableType]:
    if not one.failures:
        return
    what = "fails" if one.reader else "not replayed"
    yield Text("")
    yield Text(f"{safe(way_text(one))}, {what}:")
    width = max(len(f"{each.rows:,}") for each in one.failures)
    for each in one.failures[:_MAX_FAILURES]:
        yield from _failure(each, width)
    left = len(one.failures) - _MAX_FAILURES
    if left > 0:
        yield Text(f"  … {count(left, 'more reason')}; `--format json` has all")


def _failure(one: ReplayFailure, width: int) -> Iterator[RenderableType]:
    path = safe(one.path) or "(message)"
    head = Text.assemble(f"{one.rows:,}".rjust(width), "  ", (path, "bold"), "  ")
    head.append(short(one.reason))
    yield Padding(head, (0, 0, 0, 2), expand=False)
    for each in one.examples:
        why = message_text(each, one)
        said = Text.assemble((short(each.where), "cyan"), f"  {short(why)}" if why else "")
        yield Padding(said, (0, 0, 0, width + _INDENT), expand=False)
        if each.value is not None:
            value = Text(short(each.value), style="dim")
            yield Padding(value, (0, 0, 0, width + _INDENT + 2), expand=False)


def _fields(topic: TopicResult) -> Iterator[RenderableType]:
    """What becomes of values although the message can be read."""
    rows = [(one, field) for one in topic.asked for field in altered(one.fields)]
    if not rows:
        return
    yield Text("")
    yield Text("fields:")
    table = [
        (
            Text(f"  {safe(field.path) or '(message)'}"),
            Text(altered_text(field), style="yellow" if field.changed else ""),
            Text(safe(way_text(one)), style="dim"),
        )
        for one, field in rows[:_MAX_FIELDS]
    ]
    yield aligned(table)
    left = len(rows) - _MAX_FIELDS
    if left > 0:
        yield Text(f"  … {count(left, 'more field')}; `--format json` has all")
