"""A replay as Markdown: a table of topics, and for each what fails and with which messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gitops.model.findings import Severity
from gitops.model.replay import ChangedExample, ReaderReplay, ReplayReport
from gitops.reports.check_summary import count
from gitops.reports.markdown.document import COMMENT_LIMIT, ICONS, Section, finding_item, fit
from gitops.reports.markdown.escaping import code, message, prose
from gitops.reports.replay_by_topic import (
    TopicResult,
    cell_text,
    other_findings,
    topics_of,
    verdict,
)
from gitops.reports.replay_wording import (
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
    status_text,
    version_text,
    way_text,
)
from gitops.reports.results import ReplayResult

_MAX_FAILURES: Final = 10
_MAX_FIELDS: Final = 30
_MAX_EXAMPLES: Final = 3
_MAX_FINDINGS: Final = 10
_HEAD: Final = (
    "| Topic | Strategy | Messages | Replay | Worst reader |\n| --- | --- | --: | --- | --- |\n"
)


def replay_result_markdown(result: ReplayResult, limit: int = COMMENT_LIMIT) -> str:
    """The replay, of at most `limit` bytes."""
    return replay_markdown(result.replay, result.command, limit)


def replay_markdown(report: ReplayReport, command: str, limit: int = COMMENT_LIMIT) -> str:
    """The document, of at most `limit` bytes; `command` shows what is left out."""
    worst, text = verdict(report)
    sign = ICONS[worst] if worst >= Severity.WARNING else "✓"
    topics = topics_of(report)
    sections = (
        Section(blocks=(f"### {sign} {text}\n\n",)),
        Section(
            blocks=tuple(_row(topic) for topic in topics),
            head=_HEAD,
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
            blocks=tuple(finding_item(other_finding) for other_finding in other_findings(report)),
            head="#### Findings\n\n",
            tail="\n",
            cut=2,
            noun="findings",
        ),
        Section(blocks=(_footer(report, command),)),
    )
    return fit(
        [section for section in sections if section.blocks], limit, f"{code(command)} shows all"
    )


def replay_folds(topics: Iterable[TopicResult], *, unfolded: bool = False) -> tuple[str, ...]:
    """A fold for each topic of which there is something to say."""
    return tuple(_fold(topic, unfolded=unfolded) for topic in topics if replay_body(topic))


def _row(topic: TopicResult) -> str:
    cells = (
        code(str(topic.topic)),
        topic.strategy.value,
        f"{topic.rows:,}",
        cell_text(topic),
        prose(topic.failing_way),
    )
    return f"| {' | '.join(cells)} |\n"


def _fold(topic: TopicResult, *, unfolded: bool) -> str:
    opened = "<details open>" if unfolded else "<details>"
    title = f"{topic.sign} <b>{prose(str(topic.topic))}</b>: {prose(_title(topic))}"
    return f"{opened}<summary>{title}</summary>\n\n{replay_body(topic)}\n</details>\n\n"


def _title(topic: TopicResult) -> str:
    return topic.findings[0].message if topic.findings else count(topic.rows, "message")


def replay_body(topic: TopicResult) -> str:
    """What fails, and what becomes of fields; empty where nothing was replayed or is to be said."""
    groups = groups_of((*topic.asked, *topic.aside))
    parts = (_table(topic), *map(_group, groups), _fields(topic), _findings(topic))
    return "\n".join(part for part in parts if part)


def _findings(topic: TopicResult) -> str:
    """The worst ones, and how many more there are."""
    items = [finding_item(finding) for finding in topic.findings[:_MAX_FINDINGS]]
    left = len(topic.findings) - _MAX_FINDINGS
    return "".join(items) + (f"- … {count(left, 'more finding')}\n" if left > 0 else "")


def _table(topic: TopicResult) -> str:
    """A row for each reader and version."""
    if not topic.asked:
        return ""
    head = "| Data → reader | Messages | Fail | Blocks the merge |\n| --- | --: | --: | --- |\n"
    return head + "".join(_reader(reader) for reader in topic.asked)


def _reader(reader: ReaderReplay) -> str:
    share = share_text(reader.failed, reader.rows)
    failed = f"{reader.failed:,}{f' ({share})' if share else ''}" if reader.failed else "0"
    cells = (
        prose(way_text(reader)),
        f"{reader.rows:,}",
        failed,
        status_text(reader),
    )
    return f"| {' | '.join(cells)} |\n"


def _group(group: ReasonGroup) -> str:
    return f"{prose(group.title)}:\n\n{''.join(_reasons(group.reasons))}"


def _reasons(reasons: Sequence[Reason]) -> Iterator[str]:
    for failure in reasons[:_MAX_FAILURES]:
        path = f" at {code(failure.path)}" if failure.path else ""
        versions = f" ({failure.versions_text})" if failure.versions_text else ""
        yield f"- {failure.rows:,}{path}: {message(failure.reason)}{versions}\n"
        shown = failure.examples[:_MAX_EXAMPLES]
        yield from (_example(failure, versioned_example) for versioned_example in shown)
        if (left := failure.rows - len(shown)) > 0:
            yield f"  - … {count(left, 'more message')}\n"
    if len(reasons) > _MAX_FAILURES:
        yield f"- … {count(len(reasons) - _MAX_FAILURES, 'more reason')}\n"


def _example(reason: Reason, shown: VersionedExample) -> str:
    example = shown.example
    version = f" ({version_text(shown.version)})" if reason.versions else ""
    why = message_text(example, reason.path, reason.reason)
    value = f"<br>\n    {code(example.value)}" if example.value is not None else ""
    return f"  - {code(example.where)}{version}{f': {message(why)}' if why else ''}{value}\n"


def _fields(topic: TopicResult) -> str:
    """What becomes of values although the message can be read."""
    rows = altered_rows(topic.asked)
    if not rows:
        return ""
    lines = [
        f"| {code(field.path or '(message)')} | {prose(way)} | {altered_text(field)} |\n"
        for field, way in rows[:_MAX_FIELDS]
    ]
    number = len(rows) - _MAX_FIELDS
    lines += [f"| … {count(number, 'more field')} | | |\n"] if number > 0 else []
    table = "| Field | Data → reader | Values |\n| --- | --- | --- |\n" + "".join(lines)
    return table + _changed(topic)


def _changed(topic: TopicResult) -> str:
    """What became of the first value that is another one."""
    examples = changed_rows(topic.asked)
    if not examples:
        return ""
    items = [_changed_item(path, example) for path, example in examples[:_MAX_FIELDS]]
    left = len(examples) - _MAX_FIELDS
    items += [f"- … {count(left, 'more example')}\n"] if left > 0 else []
    return f"\nChanged, for example:\n\n{''.join(items)}"


def _changed_item(path: str, example: ChangedExample) -> str:
    text = changed_text(example)
    values = f"<br>\n  {code(text)}" if text else ""
    return (
        f"- {code(path or '(message)')}: {message(example.reason)}, {code(example.where)}{values}\n"
    )


def _footer(report: ReplayReport, command: str) -> str:
    parts = [
        f"{prose(report.registry)}, versions from {prose(report.source)}",
        *(f"⚠ {message(limit)}" for limit in report.limits),
        *direction_legend(report),
        f"reproduce: {code(command)}",
    ]
    return "".join(f"<sub>{part}</sub><br>\n" for part in parts)
