"""A replay as Markdown: a table of topics, and for each what fails and with which messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gitops.model.findings import Severity
from gitops.model.replay import ReaderReplay, ReplayFailure, ReplayReport
from gitops.reporters.markdown.escaping import code, message, prose
from gitops.reporters.markdown.parts import ICONS, finding_item
from gitops.reporters.markdown.sections import COMMENT_LIMIT, Section, fit
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

_MAX_FAILURES: Final = 10
_MAX_FIELDS: Final = 30
_MAX_EXAMPLES: Final = 3
_IN_TABLES: Final = ("REPLAY-R001", "REPLAY-R002", "REPLAY-R003", "REPLAY-R006", "REPLAY-R007")
"""What these rules find stands in a topic's own tables."""


def replay_markdown(report: ReplayReport, command: str, limit: int = COMMENT_LIMIT) -> str:
    """The document, of at most `limit` bytes; `command` shows what is left out."""
    worst, said = verdict(report)
    sign = ICONS[worst] if worst >= Severity.WARNING else "✓"
    topics = topics_of(report)
    sections = (
        Section(blocks=(f"### {sign} {said}\n\n",)),
        Section(
            blocks=tuple(_row(one) for one in topics),
            head="| Topic | Strategy | Messages | Replay |\n| --- | --- | --- | --- |\n",
            tail="\n",
            cut=1,
            noun="topics",
        ),
        Section(
            blocks=replay_folds(topics, unfolded=len(topics) == 1),
            cut=3,
            noun="topics' details",
        ),
        Section(
            blocks=tuple(finding_item(one) for one in other_findings(report)),
            head="#### Findings\n\n",
            tail="\n",
            cut=2,
            noun="findings",
        ),
        Section(blocks=(_footer(report, command),)),
    )
    return fit([one for one in sections if one.blocks], limit, f"{code(command)} shows all")


def replay_folds(topics: Iterable[TopicResult], *, unfolded: bool = False) -> tuple[str, ...]:
    """A fold for each topic of which there is something to say."""
    return tuple(_fold(one, unfolded=unfolded) for one in topics if replay_body(one))


def _row(topic: TopicResult) -> str:
    cells = (code(str(topic.topic)), topic.strategy.value, f"{topic.rows:,}", topic.cell)
    return f"| {' | '.join(cells)} |\n"


def _fold(topic: TopicResult, *, unfolded: bool) -> str:
    opened = "<details open>" if unfolded else "<details>"
    title = f"{topic.sign} <b>{prose(str(topic.topic))}</b>: {prose(_title(topic))}"
    return f"{opened}<summary>{title}</summary>\n\n{replay_body(topic)}\n</details>\n\n"


def _title(topic: TopicResult) -> str:
    return topic.findings[0].message if topic.findings else count(topic.rows, "message")


def replay_body(topic: TopicResult) -> str:
    """What fails, and what becomes of fields; empty where nothing was replayed or is to be said."""
    items = [finding_item(one) for one in topic.findings if one.rule not in _IN_TABLES]
    parts = (_table(topic), *_reasons(topic), _fields(topic), "".join(items))
    return "\n".join(part for part in parts if part)


def _table(topic: TopicResult) -> str:
    """A row for each reader and version."""
    if not topic.asked:
        return ""
    head = "| Data → reader | Messages | Fail | |\n| --- | --: | --: | --- |\n"
    return head + "".join(_reader(one) for one in topic.asked)


def _reader(one: ReaderReplay) -> str:
    share = share_text(one.failed, one.rows)
    failed = f"{one.failed:,}{f' ({share})' if share else ''}" if one.failed else "✓"
    cells = (
        prose(way_text(one)),
        f"{one.rows:,}",
        failed,
        "" if one.gates else "does not count",
    )
    return f"| {' | '.join(cells)} |\n"


def _reasons(topic: TopicResult) -> Iterator[str]:
    for one in (*topic.asked, *topic.aside):
        if one.failures:
            yield f"{_who(one)}\n\n{''.join(_failures(one.failures))}"


def _who(one: ReaderReplay) -> str:
    return f"{prose(way_text(one))}, {'fails' if one.reader else 'not replayed'}:"


def _failures(failures: Iterable[ReplayFailure]) -> Iterator[str]:
    its = list(failures)
    for one in its[:_MAX_FAILURES]:
        path = f" at {code(one.path)}" if one.path else ""
        yield f"- {one.rows:,}{path}: {message(one.reason)}\n"
        for each in one.examples[:_MAX_EXAMPLES]:
            why = message_text(each, one)
            value = f"<br>\n    {code(each.value)}" if each.value is not None else ""
            yield f"  - {code(each.where)}{f': {message(why)}' if why else ''}{value}\n"
    if len(its) > _MAX_FAILURES:
        yield f"- … {count(len(its) - _MAX_FAILURES, 'more reason')}\n"


def _fields(topic: TopicResult) -> str:
    """What becomes of values although the message can be read."""
    rows = [(one, field) for one in topic.asked for field in altered(one.fields)]
    if not rows:
        return ""
    lines = [
        f"| {code(field.path or '(message)')} | {prose(way_text(one))} | {altered_text(field)} |\n"
        for one, field in rows[:_MAX_FIELDS]
    ]
    more = len(rows) - _MAX_FIELDS
    lines += [f"| … {count(more, 'more field')} | | |\n"] if more > 0 else []
    return "| Field | Data → reader | Values |\n| --- | --- | --- |\n" + "".join(lines)


def _footer(report: ReplayReport, command: str) -> str:
    parts = [
        f"{prose(report.registry)}, versions from {prose(report.source)}",
        *(f"⚠ {message(limit)}" for limit in report.limits),
        f"reproduce: {code(command)}",
    ]
    return "".join(f"<sub>{part}</sub><br>\n" for part in parts)
