"""The parts of a page: text that does nothing, tables, and bars.

A bar is drawn in SVG; its label and its number stand beside it as text in a table, so that nobody
needs the picture.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gitops.reporters.html.style import STYLE
from gitops.reporters.text.plain import short

_MAX_TEXT: Final = 600
_SERIES: Final = 6
"""How many colours there are."""
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """`share` is from 0 to 1, `said` the number as text; `colour` is a class, or by its number."""

    name: str
    share: float
    said: str
    colour: str | int = 0


def text(content: str) -> str:
    """Text from anywhere, cut in the middle where it is too long."""
    return html.escape(short(content, _MAX_TEXT))


def code(content: str) -> str:
    """The same, as code."""
    return f"<code>{text(content)}</code>"


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Sequence[int] = (),
    roomy: Sequence[int] = (),
    name: str = "",
) -> str:
    """A table of cells that are HTML; the columns `numbers` stand to the right.

    The columns `roomy` are left out where the screen is narrow: nothing may stand only there.
    Columns without anything are left out everywhere. `name` is a class.
    """
    rows = tuple(rows)
    kept = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    marks = [_mark(number=i in numbers, roomy=i in roomy) for i in kept]
    heads, rows = [heads[i] for i in kept], [[row[i] for i in kept] for row in rows]
    named = f' class="{name}"' if name else ""
    head = "".join(f'<th scope="col"{m}>{h}</th>' for h, m in zip(heads, marks, strict=True))
    body = "".join(_row(row, marks) for row in rows)
    return (
        f'<div class="wide"><table{named}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>\n"
    )


def _mark(*, number: bool, roomy: bool) -> str:
    names = " ".join(("number",) * number + ("roomy",) * roomy)
    return f' class="{names}"' if names else ""


def _row(cells: Sequence[str], marks: Sequence[str]) -> str:
    first = f'<th scope="row"{marks[0]}>{cells[0]}</th>'
    rest = "".join(f"<td{m}>{c}</td>" for c, m in zip(cells[1:], marks[1:], strict=True))
    return f"<tr>{first}{rest}</tr>\n"


def bars(caption: str, groups: Iterable[tuple[str, Sequence[Bar]]], heads: Sequence[str]) -> str:
    """Bars in groups, each with its label; empty without any. `heads` name the four columns."""
    bodies = "".join(_group(label, its) for label, its in groups if its)
    if not bodies:
        return ""
    named = f"<caption>{text(caption)}</caption>" if caption else ""
    marks = ("label", "series", "plot roomy", "number")
    head = "".join(
        f'<th scope="col" class="{mark}">{text(one)}</th>'
        for mark, one in zip(marks, heads, strict=True)
    )
    return (
        f'<div class="wide"><table class="bars">{named}<thead><tr>{head}</tr></thead>{bodies}'
        "</table></div>\n"
    )


def _group(label: str, its: Sequence[Bar]) -> str:
    head = f'<th class="label" scope="rowgroup" rowspan="{len(its)}">{code(label)}</th>'
    rows = "".join(
        f'<tr>{head if number == 0 else ""}<td class="series">{text(one.name)}</td>'
        f'<td class="plot roomy">{plot(one)}</td><td class="number">{text(one.said)}</td></tr>\n'
        for number, one in enumerate(its)
    )
    return f"<tbody>{rows}</tbody>\n"


def plot(one: Bar) -> str:
    """A bar from 0 to 100 %; the number has to stand beside it."""
    width = max(0.0, min(100.0, 100 * one.share))
    colour = one.colour if isinstance(one.colour, str) else f"s{one.colour % _SERIES}"
    # What is there at all is to be seen.
    shown = max(width, 0.8) if one.share > 0 else 0.0
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="10"/>'
        f'<rect class="{colour}" width="{shown:.2f}" height="10"/></svg>'
    )


def section(title: str, *parts: str) -> str:
    """A heading with what stands below it; empty where nothing does."""
    body = "".join(parts)
    return f"<h3>{text(title)}</h3>\n{body}" if body else ""


def page(title: str, body: str) -> str:
    """A whole document that needs nothing else and runs nothing."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{body}</body>\n</html>\n"
    )
