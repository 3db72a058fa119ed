"""Text from files and registries as Markdown that only shows it, also in tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gitops.reports.text.plain import short

# Text from files and registries as Markdown that shows it and does nothing else.
#
# Whoever opens a pull request chooses names, paths and values. None of it may become a link, an
# image, a mention, a reference, a heading, HTML or the end of the cell that it stands in. One
# function for each place: prose, a message of ours, code, and a block of lines.

_ZERO_WIDTH_SPACE: Final = "&#8203;"
_APART: Final = "\0"
"""Stands for a zero-width space while a text is escaped; `short` leaves none of its own."""

# GitHub looks for mentions, references and emoji in the finished page, where an entity is a
# character again: only something in between helps. Mail addresses are found by their `@`.
_JOINED: Final = re.compile(
    r"[@#](?=\w)|:(?=[\w+\-/])|\bwww(?=\.)|\bGH(?=-\d)", re.ASCII | re.IGNORECASE
)
_SYNTAX: Final = re.compile(r"[&<>\\`*_\[\]|~$]")
_FIRST: Final = re.compile(r"\A(?:[-+=#]|\d+[.)])")
_QUOTED: Final = re.compile(r"(?<!\w)'([^']*)'(?!\w)|`([^`]+)`")
_TICKS: Final = re.compile("`+")
_MAX_TEXT: Final = 600
_MAX_LINE: Final = 400
_MAX_LINES: Final = 60
_MAX_BLOCK: Final = 4000
"""Characters, which a line may exceed."""


def prose(text: str) -> str:
    """Inline text in a paragraph, a cell or HTML; cut in the middle where it is too long.

    Written as entities, which are literal everywhere; in HTML a backslash would be shown. What
    starts a heading or a list is one too where the text starts.
    """
    shown = _JOINED.sub(rf"\g<0>{_APART}", short(text, _MAX_TEXT).strip())
    shown = _SYNTAX.sub(_entity, shown)
    shown = _FIRST.sub(lambda match: f"{match[0][:-1]}&#{ord(match[0][-1])};", shown)
    return shown.replace(_APART, _ZERO_WIDTH_SPACE)


def message(text: str) -> str:
    """A finding's text: what it quotes in `'` or in backticks is code, the rest prose."""
    shown, end, parts = short(text, _MAX_TEXT), 0, []
    for match in _QUOTED.finditer(shown):
        parts += [_between(shown[end : match.start()]), code(match[1] or match[2] or "")]
        end = match.end()
    return "".join([*parts, _between(shown[end:])])


def code(text: str) -> str:
    """A code span; a dash for nothing.

    A `|` is written as an escape: in a table, GitHub cuts a row into cells before it looks for
    code, and a backslash in front of it can be undone by one that the text brings along.
    """
    shown = short(text).replace("|", "\\x7c")
    if not shown.strip():
        return "–"
    ticks = "`" * (_longest_run(shown) + 1)
    gap = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{gap}{shown}{gap}{ticks}"


def code_tag(text: str) -> str:
    """The same in HTML, such as the summary of a fold, where Markdown is not read."""
    return f"<code>{prose(text)}</code>"


def block(lines: Sequence[str], language: str = "", indent: str = "") -> str:
    """Lines as they are, with a fence that none of them can close; many are cut and counted."""
    shown: list[str] = []
    for line in lines[:_MAX_LINES]:
        if sum(map(len, shown)) > _MAX_BLOCK:
            break
        shown.append(short(line.replace("\t", "    "), _MAX_LINE))
    cut = len(lines) - len(shown)
    shown += [f"… {cut:,} more lines"] if cut > 0 else []
    fence = "`" * max([3, *(_longest_run(line) + 1 for line in shown)])
    return "".join(f"{indent}{line}\n" for line in (f"{fence}{language}", *shown, fence))


def _between(part: str) -> str:
    """Prose beside code keeps the blanks that part them."""
    before = " " if part[:1] == " " else ""
    behind = " " if part[-1:] == " " and part.strip() else ""
    return f"{before}{prose(part)}{behind}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


# Tables; the column of registries is there where there are several.


TOPICS: Final = ("Topic", "Registry", "Type", "Versions", "Strategy", "Verdict", "Upgrade first")
REPLAYED: Final = (*TOPICS, "Replay")
"""The same where samples were replayed."""
POLICIES: Final = ("Namespace or topic", "Registry", "Policies")
_REGISTRY: Final = 1
"""The column of registries, in every table."""


def table_head(columns: Sequence[str], *, several: bool) -> str:
    """The first two lines; `several` registries have a column."""
    return _line(columns, several=several) + _line(["---"] * len(columns), several=several)


def table_rows(rows: Iterable[Sequence[str]], *, several: bool) -> tuple[str, ...]:
    """A line for each row; cells are Markdown."""
    return tuple(_line(row, several=several) for row in rows)


def _line(cells: Sequence[str], *, several: bool) -> str:
    shown = cells if several else (*cells[:_REGISTRY], *cells[_REGISTRY + 1 :])
    return f"| {' | '.join(shown)} |\n"
