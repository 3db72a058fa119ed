"""A replay as an HTML page: the verdict, a table of topics, a card for each topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.model.replay import FieldReplay, ReaderReplay, ReplayReport
from gitops.model.rules import RULES
from gitops.reports.check_summary import count
from gitops.reports.html.page import Bar, bars, code, page, plot, section, table, text
from gitops.reports.replay_by_topic import (
    SIGNS,
    TopicResult,
    cell_text,
    other_findings,
    topics_of,
    verdict,
)
from gitops.reports.replay_wording import (
    ReaderStatus,
    Reason,
    ReasonGroup,
    VersionedExample,
    altered_rows,
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
from gitops.reports.results import ReplayPage

# One topic of a replay as a card: readers, failures, and what became of the values by field.

_COLOURS: Final = {Severity.ERROR: "bad", Severity.WARNING: "warn"}
_STANDINGS: Final = {
    ReaderStatus.COUNTS: "bad",
    ReaderStatus.ALLOWED: "warn",
    ReaderStatus.LEFT_BEHIND: "warn",
}
_MAX_REASONS: Final = 30
_MAX_FIELDS: Final = 60
_MAX_NAMES: Final = 25
_MAX_SERIES: Final = 8
_SERIES = tuple[str, ReaderReplay]


def topic_card(topic: TopicResult, anchor: str) -> str:
    """Everything about a topic; `anchor` is what the table above links to."""
    colour = _COLOURS.get(topic.worst, "good")
    head = (
        f'<div class="head"><h2><span class="{colour}">{topic.sign}</span> '
        f"{text(str(topic.topic))}</h2>"
        f'<span class="soft">{topic.strategy.value} · {topic.messages}</span></div>\n'
    )
    everybody = _series(topic)
    series = everybody[:_MAX_SERIES]
    parts = (
        section("Readers", _readers(topic)) if topic.asked else "",
        section("Failures", *map(_failures, groups_of((*topic.asked, *topic.aside)))),
        section("Findings", _findings(topic)),
        section("Fields that are filled in, dropped, promoted or changed", _altered(topic)),
        section("Changed values, for example", _changed(topic)),
        section("Null rates", _nulls(series)),
        section("Enum symbols, as they were written", _names(series, "symbols")),
        section("Union branches", _names(series, "branches")),
        _more(everybody, _MAX_SERIES, "reader"),
    )
    return f'<section class="card" id="{anchor}">\n{head}{"".join(parts)}</section>\n'


def _findings(topic: TopicResult) -> str:
    items = "".join(f"<li>{finding_item(one)}</li>\n" for one in topic.findings)
    return f'<ul class="findings">{items}</ul>\n' if items else ""


def finding_item(one: Finding) -> str:
    """What is wrong; below it the rule, where it is, and what to do."""
    colour = _COLOURS.get(one.severity, "soft")
    sign = f'<span class="{colour}">{SIGNS.get(one.severity, "i")}</span>'
    name = f'<a href="#{one.rule}">{one.rule}</a>' if one.rule in RULES else text(one.rule)
    rule = f"{name} {one.severity.name.lower()}"
    where = f" · {code(str(one.location))}" if one.location else ""
    hint = f" · {text(one.hint)}" if one.hint else ""
    below = f'<div class="soft small">{rule}{where}{hint}</div>'
    return f'{sign} <span class="{colour}">{text(one.message)}</span>{below}'


def _readers(topic: TopicResult) -> str:
    heads = ("Data → reader", "Direction", "Messages", "Fail", "Share", "0 to 100 %", "Exit code")
    return table(heads, map(_reader, topic.asked), numbers=(2, 3, 4), roomy=(1, 5))


def _reader(one: ReaderReplay) -> tuple[str, ...]:
    colour = _STANDINGS.get(status_of(one), "")
    share = share_text(one.failed, one.rows)
    bar = Bar(name="", share=one.failed / one.rows if one.rows else 0, said="", colour=f"s{colour}")
    return (
        text(way_text(one)),
        one.direction.value,
        f"{one.rows:,}",
        f'<span class="{colour}">{one.failed:,}</span>' if one.failed else "✓",
        share,
        plot(bar) if one.failed else "",
        f'<span class="{colour if colour == "bad" else "soft"}">{status_text(one)}</span>',
    )


def _failures(group: ReasonGroup) -> str:
    colour = _STANDINGS.get(group.standing, "soft") if group.readers else "soft"
    shown = group.reasons[:_MAX_REASONS]
    # Who was asked nothing has no whole to be a part of.
    whole = group.rows
    rows = [(each.path or "(message)", [_bar(each, whole, f"s{colour}")]) for each in shown]
    heads = ("Path", "Reason", f"Share of {count(whole, 'message')}, 0 to 100 %", "Messages")
    title = f'<h4 class="{colour}">{text(group.title)}</h4>\n'
    return (
        title
        + bars("", rows, heads)
        + _more(group.reasons, _MAX_REASONS, "reason")
        + _examples(shown)
    )


def _bar(one: Reason, whole: int, colour: str) -> Bar:
    versions = f" ({one.versions_text})" if one.versions_text else ""
    share = share_text(one.rows, whole)
    return Bar(
        name=f"{one.reason}{versions}",
        share=one.rows / whole if whole else 0,
        said=f"{one.rows:,} ({share})",
        colour=colour,
    )


def _examples(reasons: Sequence[Reason]) -> str:
    rows = [_row(one, each) for one in reasons for each in one.examples]
    if not rows:
        return ""
    return table(("Message", "Version", "Path", "Why"), rows, name="stack")


def _row(one: Reason, shown: VersionedExample) -> tuple[str, ...]:
    each = shown.example
    said = message_text(each, one.path, one.reason)
    why = text(f"{one.reason}: {said}" if said else one.reason)
    return (
        code(each.where),
        version_text(shown.version) if one.versions else "",
        code(one.path) if one.path else "",
        why if each.value is None else f'{why}<div class="soft">{code(each.value)}</div>',
    )


def _altered(topic: TopicResult) -> str:
    found = altered_rows(topic.asked)
    rows = [
        (
            code(field.path or "(message)"),
            text(way),
            *(f"{n:,}" if n else "" for n in (field.defaulted, field.dropped, field.promoted)),
            f'<span class="warn">{field.changed:,}</span>' if field.changed else "",
        )
        for field, way in found[:_MAX_FIELDS]
    ]
    heads = ("Field", "Data → reader", "Default", "Dropped", "Promoted", "Changed")
    shown = table(heads, rows, numbers=(2, 3, 4, 5)) if rows else ""
    return shown + _more(found, _MAX_FIELDS, "field")


def _changed(topic: TopicResult) -> str:
    """What became of the first value that is another one."""
    found = changed_rows(topic.asked)
    rows = [
        (code(path or "(message)"), text(one.reason), code(one.where), text(changed_text(one)))
        for path, one in found[:_MAX_FIELDS]
    ]
    heads = ("Field", "Why", "Message", "Before → after")
    shown = table(heads, rows, name="stack") if rows else ""
    return shown + _more(found, _MAX_FIELDS, "example")


def _nulls(series: Sequence[_SERIES]) -> str:
    """Of fields that are null at all: how often, as each reader gets them."""
    by_path = _by_path(series)
    paths = [path for path, its in by_path.items() if any(one.nulls for one in its.values())]
    groups = [(path, list(_null_bars(series, by_path[path]))) for path in paths[:_MAX_FIELDS]]
    caption = "Share of a field's values that are null, as each reader gets them"
    heads = ("Field", "Data → reader", "0 to 100 %", "Null")
    return bars(caption, groups, heads) + _more(paths, _MAX_FIELDS, "field")


def _null_bars(series: Sequence[_SERIES], fields: Mapping[str, FieldReplay]) -> Iterator[Bar]:
    for number, (name, _) in enumerate(series):
        field = fields.get(name)
        whole = field.read + field.defaulted if field else 0
        if field and whole:
            said = share_text(field.nulls, whole) or "0 %"
            yield Bar(name=name, share=field.nulls / whole, said=said, colour=number)


def _names(series: Sequence[_SERIES], what: str) -> str:
    """How often each symbol of an enum, or branch of a union, is read."""
    by_path = _by_path(series)
    shown = ""
    for path, fields in list(by_path.items())[:_MAX_FIELDS]:
        counts = {name: getattr(field, what) for name, field in fields.items()}
        if not any(counts.values()):
            continue
        names = sorted({name for its in counts.values() for name in its})
        groups = [(name, list(_name_bars(series, counts, name))) for name in names[:_MAX_NAMES]]
        heads = ("Name", "Data → reader", "Share of the values, 0 to 100 %", "Values")
        shown += bars(path, groups, heads) + _more(names, _MAX_NAMES, "name")
    return shown


def _name_bars(
    series: Sequence[_SERIES], counts: Mapping[str, Mapping[str, int]], name: str
) -> Iterator[Bar]:
    for number, (who, _) in enumerate(series):
        its = counts.get(who, {})
        whole = sum(its.values())
        if whole:
            part = its.get(name, 0)
            share = share_text(part, whole) or "0 %"
            yield Bar(name=who, share=part / whole, said=f"{part:,} ({share})", colour=number)


def _series(topic: TopicResult) -> list[_SERIES]:
    """Who got which values: old data first, then what was written with the new schema."""
    return [(way_text(one), one) for one in topic.asked if one.fields]


def _by_path(series: Sequence[_SERIES]) -> dict[str, dict[str, FieldReplay]]:
    found: dict[str, dict[str, FieldReplay]] = {}
    for name, one in series:
        for field in one.fields:
            found.setdefault(field.path, {})[name] = field
    return dict(sorted(found.items()))


def _more(its: Sequence[object], most: int, what: str) -> str:
    left = len(its) - most
    said = f"… {count(left, f'more {what}')}; the JSON has all"
    return f'<p class="soft">{said}</p>\n' if left > 0 else ""


# A replay as a page: the verdict, a table of topics, then a card for each topic.


COLOURS: Final = {Severity.ERROR: "bad", Severity.WARNING: "warn"}
_SIGNS: Final = {Severity.ERROR: "✗", Severity.WARNING: "⚠"}


def page_html(result: ReplayPage) -> str:
    """The page of a replay."""
    return replay_page(result.replay)


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
    items = "".join(f"<li>{finding_item(one)}</li>\n" for one in findings)
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
    what = "".join(f"<p>{text(each)}</p>\n" for each in direction_legend(report))
    return f"<footer>\n{what}{limits}</footer>\n"
