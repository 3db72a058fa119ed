"""The parts of an HTML page and how it looks; nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gitops.reports.check_summary import count
from gitops.reports.text.plain import short

# How a page looks, light and dark, on a screen and on paper, and the script that sorts tables.

STYLE: Final = """
:root {
  color-scheme: light dark;
  --page: #fafaf9; --card: #ffffff; --ink: #1c1b1a; --soft: #5f5c58; --line: #dddad5;
  --good: #1a7f46; --warn: #8f5d00; --bad: #b3261e; --track: #ecebe8;
  --s0: #8a8782; --s1: #2f6db5; --s2: #b8651b; --s3: #2f7d5b; --s4: #7a4fa3; --s5: #a8326d;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #161514; --card: #1f1e1c; --ink: #eceae6; --soft: #a9a5a0; --line: #3a3835;
    --good: #5cc98b; --warn: #e2b04a; --bad: #ff8a80; --track: #2c2a28;
    --s0: #8f8c87; --s1: #6ea8ea; --s2: #eb9f5c; --s3: #63bd92; --s4: #b894dd; --s5: #e57fb1;
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
.small { font-size: .88rem; }
.soft { color: var(--soft); }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1.1rem 1.25rem; margin: 1.25rem 0;
}
.head { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; }
summary { cursor: pointer; } summary.head { list-style: none; margin: -.3rem 0; }
summary.head::-webkit-details-marker { display: none; }
summary.head::after { content: "▸"; color: var(--soft); margin-left: auto; }
details[open] > summary.head::after { content: "▾"; }
details:not([open]).card { padding: .6rem 1.25rem; margin: .5rem 0; }
details:not([open]).card h2 { font-size: 1rem; font-weight: 500; }
summary h3 { display: inline; }
details > details, h3 + .wide { margin-top: .4rem; } .card > details { margin-top: 1.4rem; }
summary h3 + .soft { margin-left: .5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { padding: .28rem .75rem .28rem 0; text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 500; border-bottom: 1px solid var(--line); }
tbody th { font-weight: 400; }
tbody tr + tr > * { border-top: 1px solid color-mix(in srgb, var(--line) 55%, transparent); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
thead button {
  all: unset; cursor: pointer; color: inherit;
} thead button:focus-visible { outline: 2px solid var(--s1); outline-offset: 2px; }
thead button:hover { color: var(--ink); }
[aria-sort="ascending"] button::after { content: " ↑"; }
[aria-sort="descending"] button::after { content: " ↓"; }
.filter { display: flex; gap: .6rem; align-items: center; margin: .2rem 0 .5rem; }
.filter input {
  font: inherit; font-size: .93rem; color: inherit; background: var(--page); width: 18rem;
  max-width: 100%; border: 1px solid var(--line); border-radius: .4rem; padding: .2rem .6rem;
}
td.plot { width: 24%; min-width: 7rem; vertical-align: middle; }
svg.bar { display: block; width: 100%; height: .8rem; }
svg.two { height: 1.25rem; }
svg .track { fill: var(--track); }
svg.spread { display: block; width: 100%; height: 1.5rem; border-bottom: 1px solid var(--line); }
.spread div { line-height: 1.5rem; } .spread td.plot { vertical-align: top; width: 28%; }
.compare td.plot { width: 34%; } .compare tbody th { width: 18%; overflow-wrap: anywhere; }
.key { display: inline-block; width: .7em; height: .7em; border-radius: .15em; }
.key { margin-right: .35em; }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); }
.s3 { fill: var(--s3); } .s4 { fill: var(--s4); } .s5 { fill: var(--s5); }
.sbad { fill: var(--bad); } .swarn { fill: var(--warn); } .ssoft { fill: var(--s0); }
.changed code { font-size: 1em; } .changed td { min-width: 7rem; }
ul { margin: .3rem 0; padding-left: 1.2rem; }
li { margin: .2rem 0; }
footer { color: var(--soft); font-size: .9rem; }
footer code { color: var(--ink); }
.findings { list-style: none; padding-left: 0; margin-top: .7rem; }
.findings li { margin: .5rem 0; }
@media (max-width: 40rem) {
  body { padding: 1rem .6rem 2rem; } .card { padding: .8rem .7rem; } h1 { font-size: 1.3rem; }
  details:not([open]).card { padding: .6rem .7rem; }
  th, td { padding-right: .4rem; overflow-wrap: anywhere; } thead th { overflow-wrap: normal; }
  table { font-size: .86rem; } .number { white-space: normal; overflow-wrap: normal; }
  tbody code { overflow-wrap: anywhere; }
  .stack, .stack tbody, .stack tr, .stack td:last-child { display: block; }
  .stack thead { display: none; } .stack tr { padding: .3rem 0; }
  .stack th, .stack td { display: inline; border: 0; padding: 0 .4rem 0 0; }
  .changed td + td::before { content: "→ "; color: var(--soft); }
  .changed td:nth-child(n+4)::before { content: none; } .changed td { min-width: 0; }
  .stack td.number { text-align: left; }
  .stack.spread td { display: block; } .stack.spread td.plot { width: auto; }
  .spread td.least div::before { content: "least "; color: var(--soft); }
  .spread td.most div::before { content: "greatest "; color: var(--soft); }
  .spread td.values div::after { content: " values"; color: var(--soft); }
  .roomy, .stack .roomy, .stack.spread td.roomy { display: none; } td.plot { min-width: 4rem; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; background: none; }
  .card { border-width: 1px 0 0; border-radius: 0; padding: .6rem 0; }
  details:not([open]).card { padding: .4rem 0; margin: 0; }
  .filter, summary.head::after { display: none; } code { overflow-wrap: anywhere; }
  tr, svg, li { break-inside: avoid; } h2, h3, h4, summary { break-after: avoid; }
  .wide { overflow: visible; } a { text-decoration: none; }
}
"""

SCRIPT: Final = """
"use strict";
const order = new Intl.Collator("en", {numeric: true});
const key = (row, column) =>
  row.cells[column].textContent.replace(/(\\d),(?=\\d{3})/g, "$1");
const numbers = (text) =>
  /^-?[\\d.]+( %)?( \\([^)]*\\))?$/.test(text) ? text.match(/-?\\d+(\\.\\d+)?/g).map(Number) : [];
const compare = (a, b) => {
  const mine = numbers(a), other = numbers(b);
  for (let at = 0; at < Math.min(mine.length, other.length); at += 1)
    if (mine[at] !== other[at]) return mine[at] - other[at];
  return order.compare(a, b);
};
const filter = (items, before) => {
  if (items.length < 9) return;
  const box = document.createElement("div"), input = document.createElement("input");
  const shown = document.createElement("span"), number = items.length.toLocaleString("en");
  box.className = "filter";
  shown.className = "soft";
  input.type = "search";
  input.placeholder = `filter ${number}`;
  input.setAttribute("aria-label", "show only what contains these words");
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\\s+/);
    for (const item of items) {
      const content = item.textContent.toLowerCase();
      item.hidden = !words.every((word) => content.includes(word));
    }
    const left = items.filter((item) => !item.hidden).length;
    shown.textContent = input.value ? `${left.toLocaleString("en")} of ${number}` : "";
  });
  box.append(input, shown);
  before.before(box);
};
for (const table of document.querySelectorAll("table[data-sort]")) {
  const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      const up = head.ariaSort !== "ascending";
      for (const each of heads) each.ariaSort = null;
      head.ariaSort = up ? "ascending" : "descending";
      rows.sort((a, b) => (up ? 1 : -1) * compare(key(a, column), key(b, column)));
      body.append(...rows);
    });
    head.replaceChildren(button);
  });
  filter(rows, table.parentElement);
}
for (const list of document.querySelectorAll("[data-filter]")) filter([...list.children], list);
const open = () => {
  let at = document.getElementById(location.hash.slice(1));
  for (; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};
addEventListener("hashchange", open);
open();
"""
"""What a page does beside being read: tables that are sorted and filtered, links that unfold."""

# The parts of a page.

_MAX_TEXT: Final = 600
_NO_MARKS: Final[Mapping[int, str]] = {}
_SERIES: Final = 6
"""How many colours there are."""
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)


def text(content: str) -> str:
    """Text from anywhere, cut in the middle where it is too long."""
    return html.escape(short(content, _MAX_TEXT))


def code(content: str) -> str:
    """The same, as code."""
    return f"<code>{text(content)}</code>"


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    marks: Mapping[int, str] = _NO_MARKS,
    *,
    name: str = "",
    is_sorted: bool = False,
) -> str:
    """A table of cells that are HTML; `marks` are classes of columns, `name` is one of the table.

    Columns `number` stand to the right. Columns `roomy` are left out where the screen is narrow:
    nothing may stand only there. Columns without anything are left out everywhere. The script of a
    page sorts and filters the rows of a table that `is_sorted`.
    """
    rows = tuple(rows)
    kept = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    classes = [f' class="{marks[i]}"' if i in marks else "" for i in kept]
    heads, rows = [heads[i] for i in kept], [[row[i] for i in kept] for row in rows]
    named = f' class="{name}"' if name else ""
    sort = ' data-sort=""' if is_sorted else ""
    head = "".join(f'<th scope="col"{c}>{h}</th>' for h, c in zip(heads, classes, strict=True))
    body = "".join(_row(row, classes) for row in rows)
    return (
        f'<div class="wide"><table{named}{sort}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>\n"
    )


def _row(cells: Sequence[str], marks: Sequence[str]) -> str:
    first = f'<th scope="row"{marks[0]}>{cells[0]}</th>'
    rest = "".join(f"<td{m}>{c}</td>" for c, m in zip(cells[1:], marks[1:], strict=True))
    return f"<tr>{first}{rest}</tr>\n"


def bar(share: float, colour: str) -> str:
    """A bar from 0 to 1 in the colour of a class; the number has to stand beside it."""
    return _bars([(share, colour)], "bar")


def bars(shares: Sequence[float]) -> str:
    """A bar for each share, one below the other, in the colours of `key`."""
    coloured = [(share, f"s{number % _SERIES}") for number, share in enumerate(shares)]
    return _bars(coloured, "bar two")


def key(number: int) -> str:
    """The colour of that bar, beside its name."""
    square = f'<rect class="s{number % _SERIES}" width="10" height="10"/>'
    return f'<svg class="key" viewBox="0 0 10 10" aria-hidden="true">{square}</svg>'


def _bars(coloured: Sequence[tuple[float, str]], name: str) -> str:
    height = 10 * len(coloured)
    drawn = "".join(
        f'<rect class="track" y="{10 * at}" width="100" height="9"/>'
        f'<rect class="{colour}" y="{10 * at}" width="{_width(share):.2f}" height="9"/>'
        for at, (share, colour) in enumerate(coloured)
    )
    return (
        f'<svg class="{name}" viewBox="0 0 100 {height}" preserveAspectRatio="none" '
        f'aria-hidden="true">{drawn}</svg>'
    )


def _width(share: float) -> float:
    """What is there at all is to be seen."""
    return max(0.8, min(100.0, 100 * share)) if share > 0 else 0.0


def section(title: str, *parts: str) -> str:
    """A heading with what stands below it; empty where nothing does."""
    body = "".join(parts)
    return f"<h3>{text(title)}</h3>\n{body}" if body else ""


def fold(title: str, note: str, body: str, *, is_open: bool) -> str:
    """The same with a note beside the heading, and unfolded by a click; empty without a body."""
    if not body:
        return ""
    head = f'<h3>{text(title)}</h3> <span class="soft small">{text(note)}</span>'
    return f"<details{' open' * is_open}><summary>{head}</summary>\n{body}</details>\n"


def more(members: Sequence[object], most: int, what: str) -> str:
    """How many are left out."""
    left = len(members) - most
    message = f"… {count(left, f'more {what}')}; the JSON has all"
    return f'<p class="soft">{message}</p>\n' if left > 0 else ""


def page(title: str, body: str, *, has_script: bool = False) -> str:
    """A whole document that needs nothing else; it runs the script above, or nothing.

    The policy names the script by its digest, so that no other one runs.
    """
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"{_POLICY}; script-src 'sha256-{digest}'" if has_script else _POLICY
    script = f"<script>{SCRIPT}</script>\n" if has_script else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{body}{script}</body>\n</html>\n"
    )
