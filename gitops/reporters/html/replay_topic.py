"""One topic of a replay as a card: readers, failures, and what became of the values by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gitops.model.findings import Severity
from gitops.model.replay import FieldReplay, ReaderReplay, ReplayFailure
from gitops.reporters.html.parts import Bar, bars, code, section, table, text
from gitops.reporters.replay import (
    TopicResult,
    altered,
    message_text,
    share_text,
    way_text,
)
from gitops.reporters.tally import count

_COLOURS: Final = {Severity.ERROR: "bad", Severity.WARNING: "warn"}
_FAILED: Final = -1
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
        f'<span class="soft">{topic.strategy.value} · {count(topic.rows, "message")}</span></div>\n'
    )
    series = _series(topic)
    parts = (
        _findings(topic),
        section("Readers", _readers(topic)) if topic.asked else "",
        section("Failures by reason", _failures(topic)),
        section("Failing messages", _examples(topic)),
        section("Fields that are filled in, dropped, promoted or changed", _altered(topic)),
        section("Null rates", _nulls(series)),
        section("Enum symbols", _names(series, "symbols")),
        section("Union branches", _names(series, "branches")),
    )
    return f'<section class="card" id="{anchor}">\n{head}{"".join(parts)}</section>\n'


def _findings(topic: TopicResult) -> str:
    items = "".join(
        f'<li class="{_COLOURS.get(one.severity, "soft")}">{text(one.message)} '
        f'<span class="soft">{text(one.rule)}</span></li>\n'
        for one in topic.findings
    )
    return f"<ul>{items}</ul>\n" if items else ""


def _readers(topic: TopicResult) -> str:
    heads = ("Data → reader", "Direction", "Messages", "Fail", "Share", "")
    rows = [
        (
            text(way_text(one)),
            one.direction.value,
            f"{one.rows:,}",
            f'<span class="bad">{one.failed:,}</span>' if one.failed else "✓",
            share_text(one.failed, one.rows),
            "" if one.gates else '<span class="soft">does not count</span>',
        )
        for one in topic.asked
    ]
    return table(heads, rows, numbers=(2, 3, 4))


def _failures(topic: TopicResult) -> str:
    found = [(one, each) for one in _all(topic) for each in one.failures]
    found.sort(key=lambda pair: -pair[1].rows)
    most = max((each.rows for _, each in found), default=0)
    groups = [
        (
            each.path or "(message)",
            [
                Bar(
                    name=f"{way_text(one)}: {each.reason}",
                    share=each.rows / most,
                    said=f"{each.rows:,}",
                    series=_FAILED,
                )
            ],
        )
        for one, each in found[:_MAX_REASONS]
    ]
    return bars("Messages, by path and reason", groups) + _more(found, _MAX_REASONS, "reason")


def _examples(topic: TopicResult) -> str:
    found = [(one, each) for one in _all(topic) for each in one.failures if each.examples]
    rows = [row for one, each in found[:_MAX_REASONS] for row in _rows(one, each)]
    valued = any(row[-1] for row in rows)
    heads = ("Message", "Data → reader", "Path", "Why", *(("Value",) if valued else ()))
    return table(heads, [row[: len(heads)] for row in rows]) if rows else ""


def _rows(one: ReaderReplay, failure: ReplayFailure) -> Iterator[tuple[str, ...]]:
    for each in failure.examples:
        yield (
            code(each.where),
            text(way_text(one)),
            code(failure.path) if failure.path else "",
            text(message_text(each, failure) or failure.reason),
            code(each.value) if each.value is not None else "",
        )


def _altered(topic: TopicResult) -> str:
    found = [(one, field) for one in topic.asked for field in altered(one.fields)]
    rows = [
        (
            code(field.path or "(message)"),
            text(way_text(one)),
            *(f"{n:,}" if n else "" for n in (field.defaulted, field.dropped, field.promoted)),
            f'<span class="warn">{field.changed:,}</span>' if field.changed else "",
        )
        for one, field in found[:_MAX_FIELDS]
    ]
    heads = ("Field", "Data → reader", "Default", "Dropped", "Promoted", "Changed")
    shown = table(heads, rows, numbers=(2, 3, 4, 5)) if rows else ""
    return shown + _more(found, _MAX_FIELDS, "field")


def _nulls(series: Sequence[_SERIES]) -> str:
    """Of fields that are null at all: how often, as each reader gets them."""
    by_path = _by_path(series)
    paths = [path for path, its in by_path.items() if any(one.nulls for one in its.values())]
    groups = [(path, list(_null_bars(series, by_path[path]))) for path in paths[:_MAX_FIELDS]]
    caption = "Share of a field's values that are null, as each reader gets them"
    return bars(caption, groups) + _more(paths, _MAX_FIELDS, "field")


def _null_bars(series: Sequence[_SERIES], fields: Mapping[str, FieldReplay]) -> Iterator[Bar]:
    for number, (name, _) in enumerate(series):
        field = fields.get(name)
        whole = field.read + field.defaulted if field else 0
        if field and whole:
            said = share_text(field.nulls, whole) or "0 %"
            yield Bar(name=name, share=field.nulls / whole, said=said, series=number)


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
        shown += bars(path, groups) + _more(names, _MAX_NAMES, "name")
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
            yield Bar(name=who, share=part / whole, said=f"{part:,} ({share})", series=number)


def _series(topic: TopicResult) -> list[_SERIES]:
    """Who got which values: old data first, then what was written with the new schema."""
    return [(way_text(one), one) for one in topic.asked if one.fields][:_MAX_SERIES]


def _by_path(series: Sequence[_SERIES]) -> dict[str, dict[str, FieldReplay]]:
    found: dict[str, dict[str, FieldReplay]] = {}
    for name, one in series:
        for field in one.fields:
            found.setdefault(field.path, {})[name] = field
    return dict(sorted(found.items()))


def _all(topic: TopicResult) -> tuple[ReaderReplay, ...]:
    return (*topic.asked, *topic.aside)


def _more(its: Sequence[object], most: int, what: str) -> str:
    left = len(its) - most
    said = f"… {count(left, f'more {what}')}; the JSON has all"
    return f'<p class="soft">{said}</p>\n' if left > 0 else ""
