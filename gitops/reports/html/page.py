"""The parts of an HTML page: text that does nothing, tables, plots; nothing is loaded."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gitops.reports.html.style import SCRIPT, STYLE
from gitops.reports.text.plain import short

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


def page(title: str, body: str, *, has_script: bool = False) -> str:
    """A whole document that needs nothing else; it runs the script of `style`, or nothing.

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
