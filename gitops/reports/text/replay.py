"""A replay in a terminal: the verdict, then each topic with its readers, failures and fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.findings import Location, Severity
from gitops.model.replay import ReaderReplay, ReplayReport
from gitops.reports.check_summary import count
from gitops.reports.replay_by_topic import TopicResult, other_findings, topics_of, verdict
from gitops.reports.replay_wording import (
    ReaderStatus,
    Reason,
    ReasonGroup,
    VersionedExample,
    altered_rows,
    altered_text,
    changed_rows,
    changed_text,
    direction_legend,
    groups_of,
    message_text,
    share_text,
    status_of,
    status_text,
    version_text,
    way_text,
)
from gitops.reports.results import Excerpt, ReplayResult
from gitops.reports.text.findings import STYLES, count_line, finding_block
from gitops.reports.text.layout import align_columns
from gitops.reports.text.plain import safe, short

_MAX_FAILURES: Final = 20
_MAX_FIELDS: Final = 40
_INDENT: Final = 4
_STYLES: Final = {
    ReaderStatus.COUNTS: "red",
    ReaderStatus.ALLOWED: "yellow",
    ReaderStatus.LEFT_BEHIND: "yellow",
}


def replay_text(result: ReplayResult) -> RenderableType:
    """The samples that were replayed."""
    return replay_report(result.replay, result.excerpt, seconds=result.seconds)


def replay_report(report: ReplayReport, excerpt: Excerpt, *, seconds: float) -> RenderableType:
    """The whole answer; `seconds` is how long it took."""
    worst, text = verdict(report)
    style = STYLES.get(worst, "bold green") if worst > Severity.INFO else "bold green"
    sign = {Severity.ERROR: "✗", Severity.WARNING: "⚠"}.get(worst, "✓" if report.rows else "·")
    parts: list[RenderableType] = [Text(f"{sign} {text}", style=style), _head(report)]
    parts += [Text(safe(limit), style="dim") for limit in report.limits]
    topics = topics_of(report)
    parts += _overview(topics)
    parts.append(Text(""))
    for topic in topics:
        parts += [*_topic(topic), *_findings(topic, excerpt), Text("")]
    for other_finding in other_findings(report):
        parts += [finding_block(other_finding, excerpt), Text("")]
    parts += [Text(word, style="dim") for word in direction_legend(report)]
    parts += [Text("")] if report.readers else []
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


def _overview(topics: Sequence[TopicResult]) -> Iterator[RenderableType]:
    """A line for each, where there are several: who fares worst, and how badly."""
    if len(topics) > 1:
        yield Text("")
        yield align_columns([_overview_line(topic) for topic in topics])


def _overview_line(topic: TopicResult) -> Sequence[Text]:
    style = STYLES.get(topic.worst, "green")
    text = topic.cell.removeprefix(f"{topic.sign} ")
    return (
        Text(f"{topic.sign} {safe(str(topic.topic))}", style=style),
        Text(text),
        Text(safe(topic.failing_way), style="dim"),
    )


def _topic(topic: TopicResult) -> Iterator[RenderableType]:
    """The heading, and below it what each reader made of the messages."""
    head = Text.assemble(
        (topic.sign, STYLES.get(topic.worst, "green")), " ", (safe(str(topic.topic)), "bold")
    )
    columns = (head, Text(topic.strategy.value), Text(topic.messages))
    body: list[RenderableType] = [_readers(topic)] if topic.asked else []
    for group in groups_of((*topic.asked, *topic.aside)):
        body += _failures(group)
    body += _fields(topic)
    yield align_columns([columns])
    if body:
        yield Padding(Group(*body), (0, 0, 0, _INDENT), expand=False)


def _findings(topic: TopicResult, excerpt: Excerpt) -> Iterator[RenderableType]:
    """All of them, the errors with the line that they are on."""
    for finding in topic.findings:
        yield Text("")
        block = finding_block(
            finding, excerpt if finding.severity is Severity.ERROR else _no_excerpt
        )
        yield Padding(block, (0, 0, 0, _INDENT), expand=False)


def _no_excerpt(_where: Location) -> str | None:
    return None


def _readers(topic: TopicResult) -> RenderableType:
    """A line for each reader and version, numbers below each other."""
    cells = [_cells(reader) for reader in topic.asked]
    heads = ("data → reader", "messages", "fail", "share", "blocks")
    widths = [max(len(row[i]) for row in (heads, *cells)) for i in range(len(heads))]
    lines: list[Sequence[Text]] = [_line(heads, widths, "dim")]
    lines += [
        _line(cell, widths, _STYLES.get(status_of(reader), ""))
        for cell, reader in zip(cells, topic.asked, strict=True)
    ]
    return align_columns(lines)


def _cells(reader: ReaderReplay) -> tuple[str, ...]:
    return (
        safe(way_text(reader)),
        f"{reader.rows:,}",
        f"{reader.failed:,}",
        share_text(reader.failed, reader.rows),
        status_text(reader),
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


def _failures(group: ReasonGroup) -> Iterator[RenderableType]:
    yield Text("")
    style = _STYLES.get(group.standing, "") if group.readers else ""
    yield Text(f"{safe(group.title)}:", style=style)
    width = max(len(f"{item.rows:,}") for item in group.reasons)
    for reason in group.reasons[:_MAX_FAILURES]:
        yield from _reason(reason, width)
    left = len(group.reasons) - _MAX_FAILURES
    if left > 0:
        yield Text(f"  … {count(left, 'more reason')}; `--format json` has all")


def _reason(reason: Reason, width: int) -> Iterator[RenderableType]:
    path = safe(reason.path) or "(message)"
    head = Text.assemble(f"{reason.rows:,}".rjust(width), "  ", (path, "bold"), "  ")
    head.append(short(reason.reason))
    if reason.versions_text:
        head.append(f"  ({reason.versions_text})", style="dim")
    yield Padding(head, (0, 0, 0, 2), expand=False)
    for shown in reason.examples:
        yield from _example(reason, shown, width + _INDENT)
    if (left := reason.rows - len(reason.examples)) > 0:
        text = Text(f"… {count(left, 'more message')}", style="dim")
        yield Padding(text, (0, 0, 0, width + _INDENT), expand=False)


def _example(reason: Reason, shown: VersionedExample, indent: int) -> Iterator[RenderableType]:
    example = shown.example
    text = Text(short(example.where), style="cyan")
    if reason.versions:
        text.append(f"  {version_text(shown.version)}", style="dim")
    if why := message_text(example, reason.path, reason.reason):
        text.append(f"  {short(why)}", style="default")
    yield Padding(text, (0, 0, 0, indent), expand=False)
    if example.value is not None:
        yield Padding(Text(short(example.value), style="dim"), (0, 0, 0, indent + 2), expand=False)


def _fields(topic: TopicResult) -> Iterator[RenderableType]:
    """What becomes of values although the message can be read."""
    rows = altered_rows(topic.asked)
    if not rows:
        return
    yield Text("")
    yield Text("fields:")
    table = [
        (
            Text(f"  {safe(field.path) or '(message)'}"),
            Text(altered_text(field), style="yellow" if field.changed else ""),
            Text(safe(way), style="dim"),
        )
        for field, way in rows[:_MAX_FIELDS]
    ]
    yield align_columns(table)
    left = len(rows) - _MAX_FIELDS
    if left > 0:
        yield Text(f"  … {count(left, 'more field')}; `--format json` has all")
    yield from _changed(topic)


def _changed(topic: TopicResult) -> Iterator[RenderableType]:
    """What became of the first value that is another one."""
    examples = changed_rows(topic.asked)
    if not examples:
        return
    yield Text("")
    yield Text("changed, for example:")
    for path, example in examples[:_MAX_FIELDS]:
        head = Text.assemble((safe(path) or "(message)", "bold"), "  ")
        head.append(short(example.reason)).append("  ").append(short(example.where), style="cyan")
        yield Padding(head, (0, 0, 0, 2), expand=False)
        if text := changed_text(example):
            yield Padding(Text(short(text), style="dim"), (0, 0, 0, _INDENT), expand=False)
    left = len(examples) - _MAX_FIELDS
    if left > 0:
        yield Text(f"  … {count(left, 'more example')}; `--format json` has all")
