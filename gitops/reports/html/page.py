"""The parts of an HTML page and how it looks, on a screen and on paper; nothing is loaded."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gitops.reports.text.plain import short

# How a page looks, light and dark, on a screen and on paper; nothing is loaded from elsewhere.

STYLE: Final = """
:root {
  color-scheme: light dark;
  --page: #fafaf9; --card: #ffffff; --ink: #1c1b1a; --soft: #5f5c58; --line: #dddad5;
  --good: #1a7f46; --warn: #8f5d00; --bad: #b3261e; --track: #ecebe8;
  --s0: #2f6db5; --s1: #b8651b; --s2: #2f7d5b; --s3: #7a4fa3; --s4: #6b6a67; --s5: #a8326d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #161514; --card: #1f1e1c; --ink: #eceae6; --soft: #a9a5a0; --line: #3a3835;
    --good: #5cc98b; --warn: #e2b04a; --bad: #ff8a80; --track: #2c2a28;
    --s0: #6ea8ea; --s1: #eb9f5c; --s2: #63bd92; --s3: #b894dd; --s4: #a09d98; --s5: #e57fb1;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 68rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 0; overflow-wrap: anywhere; }
h3 { font-size: .95rem; margin: 1.6rem 0 .4rem; }
h4 { font-size: .93rem; font-weight: 600; margin: 1.1rem 0 .3rem; overflow-wrap: anywhere; }
p { margin: .3rem 0; }
a { color: inherit; }
code, .mono { font: .92em/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
li, li code { overflow-wrap: anywhere; } code { overflow-wrap: break-word; }
.wide + .wide { margin-top: .7rem; }
td svg.bar { margin-top: .35em; min-width: 6rem; } .bars td svg.bar { margin-top: 0; }
.small { font-size: .88rem; }
.soft { color: var(--soft); }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1.1rem 1.25rem; margin: 1.25rem 0;
}
.head { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { padding: .28rem .75rem .28rem 0; text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 500; border-bottom: 1px solid var(--line); }
tbody th { font-weight: 400; }
tbody tr + tr > * { border-top: 1px solid color-mix(in srgb, var(--line) 55%, transparent); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bars td, .bars th { padding-top: .12rem; padding-bottom: .12rem; vertical-align: middle; }
.bars tbody tr + tr > * { border-top: 0; }
.bars tbody + tbody tr:first-child > * { border-top: 1px solid var(--line); padding-top: .35rem; }
.bars tbody tr:last-child > * { padding-bottom: .35rem; }
.bars th.label { width: 24%; overflow-wrap: anywhere; }
.bars .series { width: 34%; color: var(--soft); overflow-wrap: anywhere; }
.bars td.plot { width: 26%; min-width: 8rem; }
svg.bar { display: block; width: 100%; height: .8rem; }
svg.bar .track { fill: var(--track); }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); }
.s3 { fill: var(--s3); } .s4 { fill: var(--s4); } .s5 { fill: var(--s5); }
.sbad { fill: var(--bad); } .swarn { fill: var(--warn); } .ssoft { fill: var(--s4); }
ul { margin: .3rem 0; padding-left: 1.2rem; }
li { margin: .2rem 0; }
footer { color: var(--soft); font-size: .9rem; }
.findings { list-style: none; padding-left: 0; } .findings li { margin: .5rem 0; }
@media (max-width: 40rem) {
  body { padding: 1rem .6rem 2rem; } .card { padding: .8rem .7rem; } h1 { font-size: 1.3rem; }
  th, td { padding-right: .4rem; overflow-wrap: anywhere; } thead th { overflow-wrap: normal; }
  table { font-size: .86rem; } .number { white-space: normal; overflow-wrap: normal; }
  tbody code { overflow-wrap: anywhere; }
  .stack, .stack tbody, .stack tr, .stack td:last-child { display: block; }
  .stack thead { display: none; } .stack tr { padding: .3rem 0; }
  .stack th, .stack td { display: inline; border: 0; padding: 0 .4rem 0 0; }
  .bars th.label, .bars .series { width: auto; } .bars th.label { min-width: 6.5rem; }
  .roomy { display: none; }
}
@media print { body { max-width: none; } .card { break-inside: avoid; } }
"""


# The parts of a page: text that does nothing, tables, and bars.
#
# A bar is drawn in SVG; its label and its number stand beside it as text in a table, so that
# nobody needs the picture.


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
