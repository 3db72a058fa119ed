"""Histograms of a topic's numbers and dates, each field a row of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gitops.model.replay import ReaderReplay
from gitops.reports.check_summary import count
from gitops.reports.html.page import code, fold, key, more, table, text
from gitops.reports.replay_distributions import (
    Bar,
    FieldDistribution,
    Series,
    bars_of,
    field_distributions,
    value_text,
)
from gitops.reports.replay_wording import version_text

_UNFOLDED: Final = 12
_WIDTH: Final = 640
_HEIGHT: Final = 40
_COLOURS: Final = 5
"""Beside the grey one."""


def distributions(readers: Iterable[ReaderReplay], most: int) -> str:
    """The folded table; empty where no values are shown."""
    items = field_distributions(readers)
    heads = ("Field", "Version", "Distribution", "Least", "Greatest", "Values", "Data → reader")
    ends = {3: "number least", 4: "number most", 5: "number values"}
    marks = {1: "roomy", 2: "plot", **ends}
    rows = [_row(distribution) for distribution in items[:most]]
    shown = table(heads, rows, marks, name="stack spread", is_sorted=True) if rows else ""
    fields = count(len({distribution.path for distribution in items}), "field")
    differing = len({distribution.path for distribution in items if distribution.differs})
    note = f"{fields}, {differing:,} read differently" if differing else fields
    body = shown + more(items, most, "field")
    return fold("Numbers and dates", note, body, is_open=len(items) <= _UNFOLDED)


def _row(distribution: FieldDistribution) -> tuple[str, ...]:
    items = [series.distribution for series in distribution.series]
    return (
        code(distribution.path or "(message)"),
        version_text(distribution.version),
        _plot(distribution.series),
        _lines(value_text(item.least, item.unit) for item in items if item.least is not None),
        _lines(value_text(item.most, item.unit) for item in items if item.most is not None),
        _lines(f"{series.values:,}" for series in distribution.series),
        _readers(distribution),
    )


def _readers(distribution: FieldDistribution) -> str:
    """Who gets which; nothing where all get the same."""
    if not distribution.differs:
        return '<span class="soft">all alike</span>'
    return "".join(
        f"<div>{key(1 + number % _COLOURS)}{text(', '.join(series.ways))}</div>"
        for number, series in enumerate(distribution.series)
    )


def _lines(texts: Iterable[str]) -> str:
    return "".join(f"<div>{text(word)}</div>" for word in texts)


def _plot(series: Sequence[Series]) -> str:
    """One below the other on one axis."""
    return "".join(
        f'<svg class="spread" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" '
        f'aria-hidden="true"><path class="s{1 + number % _COLOURS}" d="{_outline(bars)}"/></svg>'
        for number, bars in enumerate(bars_of(series, _WIDTH, _HEIGHT))
    )


def _outline(bars: Sequence[Bar]) -> str:
    """Bars that touch are one line, so that a page of many histograms stays small."""
    drawn = ""
    at = -1
    for start, width, height in bars:
        if start != at:
            drawn += f"{f'V{_HEIGHT}' if drawn else ''}M{start} {_HEIGHT}"
        drawn += f"V{_HEIGHT - height}h{width}"
        at = start + width
    return f"{drawn}V{_HEIGHT}"
