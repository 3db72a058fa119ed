"""One topic of a replay as a card: findings, readers, why messages fail, what values become."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.model.replay import ReaderReplay
from gitops.model.rules import RULES
from gitops.reports.check_summary import count
from gitops.reports.html.distributions import distributions
from gitops.reports.html.page import bar, bars, code, fold, key, more, section, table, text
from gitops.reports.replay_by_topic import SIGNS, TopicResult
from gitops.reports.replay_differences import FieldDifference, Shares, field_differences
from gitops.reports.replay_wording import (
    ReaderStatus,
    Reason,
    ReasonGroup,
    VersionedExample,
    altered_rows,
    changed_rows,
    groups_of,
    message_text,
    share_text,
    status_of,
    status_text,
    version_text,
    way_text,
    ways_text,
)

COLOURS: Final = {Severity.ERROR: "bad", Severity.WARNING: "warn"}
_STATUS_COLOURS: Final = {
    ReaderStatus.COUNTS: "bad",
    ReaderStatus.ALLOWED: "warn",
    ReaderStatus.LEFT_BEHIND: "warn",
}
_UNREAD: Final = frozenset({"REPLAY-R001", "REPLAY-R002"})
"""Their messages name reasons and paths, which the table below them has too."""
_UNFOLDED: Final = 12
"""A table of more rows is folded."""
_ONE_LINE: Final = 24
_MAX_NAMES: Final = 25
_TWO: Final = 2
_WHAT: Final = {"nulls": "null rate", "branches": "union", "symbols": "enum, as written"}


def topic_card(
    topic: TopicResult, anchor: str, shared: Mapping[Finding, str], *, is_open: bool, most: int
) -> str:
    """Everything about a topic; `anchor` is what the table above links to.

    `shared` are the anchors of the findings that several topics have. A table has at most `most`
    rows.
    """
    colour = COLOURS.get(topic.worst, "good")
    head = (
        f'<summary class="head"><h2><span class="{colour}">{topic.sign}</span> '
        f"{text(str(topic.topic))}</h2>"
        f'<span class="soft">{topic.strategy.value} · {topic.messages}</span></summary>\n'
    )
    groups = groups_of((*topic.asked, *topic.aside))
    parts = (
        _findings(topic, shared),
        section("Readers", _readers(topic)) if topic.asked else "",
        section("Why messages fail", _reasons(groups, most)),
        _messages(groups, most),
        section("Values that are read otherwise than they were written", _changed(topic, most)),
        _fields(topic, most),
        _differences(topic, max(1, most // 10)),
        distributions(topic.asked, max(1, most // 8)),
    )
    opened = " open" * is_open
    return f'<details class="card" id="{anchor}"{opened}>{head}{"".join(parts)}</details>\n'


def _findings(topic: TopicResult, shared: Mapping[Finding, str]) -> str:
    has_reasons = any(reader.failures for reader in topic.asked)
    items = "".join(
        f"<li>{finding_link(finding, shared[finding])}</li>\n"
        if finding in shared
        else f"<li>{finding_item(finding, is_short=has_reasons and finding.rule in _UNREAD)}</li>\n"
        for finding in topic.findings
    )
    return f'<ul class="findings">{items}</ul>\n' if items else ""


def finding_item(finding: Finding, *, is_short: bool = False) -> str:
    """What is wrong; below it the rule, where it is, and what to do."""
    message = finding.message.partition(": ")[0] if is_short else finding.message
    name = (
        f'<a href="#{finding.rule}">{finding.rule}</a>'
        if finding.rule in RULES
        else text(finding.rule)
    )
    rule = f"{name} {finding.severity.name.lower()}"
    where = f" · {code(str(finding.location))}" if finding.location else ""
    hint = f" · {text(finding.hint)}" if finding.hint else ""
    return f'{_said(finding, text(message))}<div class="soft small">{rule}{where}{hint}</div>'


def finding_link(finding: Finding, anchor: str) -> str:
    """The rule alone, where the finding of several topics is told elsewhere."""
    title = RULES[finding.rule].title if finding.rule in RULES else finding.rule
    return _said(finding, f'<a href="#{anchor}">{text(title)}: in several topics</a>')


def _said(finding: Finding, message: str) -> str:
    colour = COLOURS.get(finding.severity, "soft")
    sign = SIGNS.get(finding.severity, "\N{INFORMATION SOURCE}")
    return f'<span class="{colour}">{sign}</span> <span class="{colour}">{message}</span>'


def _readers(topic: TopicResult) -> str:
    heads = (
        "Data → reader",
        "Direction",
        "Messages",
        "Fail",
        "Share",
        "0 to 100 %",
        "Blocks the merge",
    )
    rows = map(_reader, topic.asked)
    marks = {1: "roomy", 2: "number", 3: "number", 4: "number", 5: "plot roomy"}
    return table(heads, rows, marks)


def _reader(reader: ReaderReplay) -> tuple[str, ...]:
    colour = _STATUS_COLOURS.get(status_of(reader), "")
    share = reader.failed / reader.rows if reader.rows else 0
    return (
        text(way_text(reader)),
        reader.direction.value,
        f"{reader.rows:,}",
        f'<span class="{colour}">{reader.failed:,}</span>' if reader.failed else "0",
        share_text(reader.failed, reader.rows),
        bar(share, f"s{colour}") if reader.failed else "",
        f'<span class="{colour if colour == "bad" else "soft"}">{status_text(reader)}</span>',
    )


def _who(group: ReasonGroup) -> str:
    """Whose messages, and who cannot read them; a short way stays in one line."""
    way = text(ways_text(group.versions, group.direction, group.readers))
    return way.replace(" ", "\u00a0") if len(way) <= _ONE_LINE else way


def _reasons(groups: Sequence[ReasonGroup], most: int) -> str:
    rows = [_reason(group, reason) for group in groups for reason in group.reasons]
    heads = ("Path", "Why", "Data → reader", "0 to 100 %", "Messages")
    shown = table(heads, rows[:most], {3: "plot roomy", 4: "number"}, name="stack", is_sorted=True)
    return (shown if rows else "") + more(rows, most, "reason")


def _reason(group: ReasonGroup, reason: Reason) -> tuple[str, ...]:
    # Who was asked nothing has no whole to be a part of.
    colour = _STATUS_COLOURS.get(group.standing, "soft") if group.readers else "soft"
    share = reason.rows / group.rows if group.rows else 0
    versions = f" ({reason.versions_text})" if reason.versions_text else ""
    who = f'<span class="{colour}">{_who(group) if group.readers else text(group.title)}</span>'
    return (
        code(reason.path or "(message)"),
        text(f"{reason.reason}{versions}"),
        who,
        bar(share, f"s{colour}"),
        number_text(reason.rows, group.rows),
    )


def _messages(groups: Sequence[ReasonGroup], most: int) -> str:
    """The failing messages that are shown, each in a row."""
    rows = [
        _message(group, reason, example)
        for group in groups
        for reason in group.reasons
        for example in reason.examples
    ]
    heads = ("Message", "Version", "Path", "Why", "Data → reader", "Content")
    shown = table(heads, rows[:most], name="stack", is_sorted=True) if rows else ""
    note = f"{len(rows):,} of {_failed(groups)}"
    body = shown + more(rows, most, "message")
    return fold("Failing messages", note, body, is_open=len(rows) <= _UNFOLDED)


def _failed(groups: Sequence[ReasonGroup]) -> str:
    return count(sum(reason.rows for group in groups for reason in group.reasons), "failure")


def _message(group: ReasonGroup, reason: Reason, shown: VersionedExample) -> tuple[str, ...]:
    example = shown.example
    message = message_text(example, reason.path, reason.reason)
    return (
        code(example.where),
        version_text(shown.version) if reason.versions else "",
        code(reason.path) if reason.path else "",
        text(f"{reason.reason}: {message}" if message else reason.reason),
        _who(group) if group.readers else "",
        "" if example.value is None else code(example.value),
    )


def _changed(topic: TopicResult, most: int) -> str:
    """What became of the first value that is another one, and for which readers."""
    items = changed_rows(topic.asked)
    ways = _changed_ways(topic)
    rows = [
        (
            code(path or "(message)"),
            "" if example.before is None else code(example.before or "(empty)"),
            "" if example.after is None else code(example.after or "(empty)"),
            f'{text(example.reason)}<div class="soft small">first in {code(example.where)}</div>',
            text(", ".join(ways[path, example.reason])),
        )
        for path, example in items[:most]
    ]
    heads = ("Field", "Before", "After", "Why", "Data → reader")
    name = "stack changed" if any(row[1] for row in rows) else "stack"
    shown = table(heads, rows, name=name, is_sorted=True) if rows else ""
    return shown + _withheld(topic) + more(items, most, "example")


def _changed_ways(topic: TopicResult) -> dict[tuple[str, str], list[str]]:
    ways: dict[tuple[str, str], list[str]] = {}
    for reader in topic.asked:
        for field in reader.fields:
            if field.example is not None:
                ways.setdefault((field.path, field.example.reason), []).append(way_text(reader))
    return ways


def _withheld(topic: TopicResult) -> str:
    if any(example.before is None for _, example in changed_rows(topic.asked)):
        return (
            '<p class="soft small">Values are shown with --show-values, '
            "but for those of sensitive fields.</p>\n"
        )
    return ""


def _fields(topic: TopicResult, most: int) -> str:
    items = altered_rows(topic.asked)
    rows = [
        (
            code(field.path or "(message)"),
            text(way),
            *(f"{n:,}" if n else "" for n in (field.defaulted, field.dropped, field.promoted)),
            f'<span class="warn">{field.changed:,}</span>' if field.changed else "",
        )
        for field, way in items[:most]
    ]
    heads = ("Field", "Data → reader", "Default", "Dropped", "Promoted", "Changed")
    shown = (
        table(heads, rows, dict.fromkeys((2, 3, 4, 5), "number"), is_sorted=True) if rows else ""
    )
    title = "Fields that are changed, filled in, dropped or promoted"
    note = count(len({field.path for field, _ in items}), "field")
    is_open = len(items) <= _UNFOLDED
    return fold(title, note, shown + more(items, most, "field"), is_open=is_open)


def _differences(topic: TopicResult, most: int) -> str:
    """Null rates, branches and symbols that readers of the same messages do not get alike."""
    results = field_differences(topic.asked)
    items = "".join(map(_difference, results[:most]))
    shown = f'<div data-filter="">\n{items}</div>\n' if items else ""
    title = "Nulls, union branches and enum symbols that differ between readers"
    body = shown + more(results, most, "field")
    note = count(len(results), "field")
    return fold(title, note, body, is_open=len(results) <= _UNFOLDED)


def _difference(difference: FieldDifference) -> str:
    names = difference.names
    head = (
        f'{code(difference.path or "(message)")} <span class="soft">{_WHAT[difference.what]}</span>'
    )
    plotted = (
        "",
        "old above, new below, 0 to 100 %" if len(difference.shares) == _TWO else "0 to 100 %",
    )
    heads = (
        *plotted,
        *(_series(number, shares) for number, shares in enumerate(difference.shares)),
    )
    rows = [
        (
            code(name),
            bars([share.share(name) for share in difference.shares]),
            *(_share(share, name) for share in difference.shares),
        )
        for name in names[:_MAX_NAMES]
    ]
    marks = {1: "plot", **dict.fromkeys(range(2, 2 + len(difference.shares)), "number")}
    shown = table(heads, rows, marks, name="compare")
    left = more(names, _MAX_NAMES, "name")
    return f"<section><h4>{head}</h4>\n{shown}{left}</section>\n"


def _series(number: int, shares: Shares) -> str:
    return f"{key(number)}{text(', '.join(shares.ways))}"


def _share(shares: Shares, name: str) -> str:
    part = shares.counts.get(name, 0)
    return number_text(part, shares.whole)


def number_text(part: int, whole: int) -> str:
    """`12 (0.02 %)`, of which a line ends at most between the two."""
    share = html.escape(share_text(part, whole) or "0 %").replace(" ", "\u00a0")
    return f"{part:,} ({share})"


def rules_of(findings: Sequence[Finding]) -> Iterator[str]:
    """What the findings link to; the page has to do without any other."""
    for rule in sorted({finding.rule for finding in findings} & RULES.keys()):
        yield (
            f'<li id="{rule}">{code(rule)} {text(RULES[rule].title)}: '
            f"{code(f'pulsar-gitops explain {rule}')}</li>\n"
        )
