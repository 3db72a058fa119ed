"""Aligned rows that wrap in a narrow terminal, and the table of what differs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from gitops.model.plan import SchemaChange
from gitops.reports.text.plain import safe, short

# Rows whose cells stand below each other, and wrap where the terminal is too narrow.

_GAP: Final = 3
_INDENT: Final = 4
_MAX_WIDTH: Final = 44
"""A wider cell pushes the rest of its own row aside, not the column of all rows."""
_MANY: Final = 3
"""Where one of so many titled rows has a line of its own for its title, all have."""


def align_columns(
    rows: Sequence[Sequence[Text]], *, widths: Sequence[int] = (), titled: bool = False
) -> RenderableType:
    """The rows as lines; `widths` are least widths of the first columns, in characters.

    A table would give each column its share of a narrow terminal and cut words; a line wraps. Of a
    `titled` row that does not fit the first cell has a line of its own.
    """
    columns = max((len(row) for row in rows), default=0)
    needed = [
        max(
            [min(row[i].cell_len, _MAX_WIDTH) for row in rows if i < len(row)]
            + [widths[i] if i < len(widths) else 0]
        )
        for i in range(columns)
    ]
    return _Rows(rows, needed, titled)


@dataclass(frozen=True, slots=True)
class Hanging:
    """A text whose further lines are set in by so many columns."""

    text: Text
    indent: int = _INDENT

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        if self.text.cell_len <= width or width <= self.indent:
            yield self.text
            return
        first, text = _split(self.text, width, console)
        yield first
        for item in text.wrap(console, width - self.indent):
            yield Text(" " * self.indent).append_text(item)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Aligned, with smaller gaps where the widest row needs it; what still does not fit wraps."""

    rows: Sequence[Sequence[Text]]
    widths: Sequence[int]
    titled: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        gap = _GAP if self.titled else self._gap(width)
        widths = self._title_widths(width) if self.titled else self.widths
        lines = [_line(row, widths, gap) for row in self.rows]
        wide = sum(line.cell_len > width for line in lines)
        every = self.titled and 0 < len(lines) <= wide * _MANY
        for row, line in zip(self.rows, lines, strict=True):
            if line.cell_len <= width and not every:
                yield line
            elif self.titled:
                yield row[0]
                for text in _line(row[1:], self.widths[1:]).wrap(console, max(1, width - _INDENT)):
                    yield Text(" " * _INDENT).append_text(text)
            else:
                yield Hanging(_line(row, ()))

    def _title_widths(self, width: int) -> Sequence[int]:
        """With a first column that leaves room for the others, so that few long names move few."""
        first, *rest = self.widths or (0,)
        others = sum(number + _GAP for number in rest)
        return [max(0, min(first, width - others)), *rest]

    def _gap(self, width: int) -> int:
        """The widest gap with which every row fits; the usual one where none is."""
        fits = (
            gap
            for gap in range(_GAP, 0, -1)
            if all(_line(row, self.widths, gap).cell_len <= width for row in self.rows)
        )
        return next(fits, _GAP)


def _split(line: Text, width: int, console: Console) -> tuple[Text, Text]:
    """The first line of a text that is too long, and what is left of it."""
    first = line.wrap(console, width)[0]
    first.rstrip()
    text = line[len(first) :]
    return first, text[len(text.plain) - len(text.plain.lstrip()) :]


def _line(row: Sequence[Text], widths: Sequence[int], gap: int = _GAP) -> Text:
    line = Text()
    for number, cell in enumerate(row):
        line.append_text(cell)
        width = widths[number] if number < len(widths) else 0
        line.append(" " * (max(0, width - cell.cell_len) + gap))
    line.rstrip()
    return line


# What differs between two schemas, as a table.


SIGNS: Final = {
    "+": "green",
    "~": "yellow",
    "-": "red",
    "✗": "bold red",
    "!": "magenta",
    "=": "cyan",
}
"""The signs in front of things, with their styles."""

_MAX_CHANGES: Final = 40


def change_table(changes: Sequence[SchemaChange]) -> RenderableType:
    """Place, values and note of each change; a long list is cut and says so."""
    rows = [
        (
            Text.assemble((change.kind.value, SIGNS[change.kind.value]), " ", _path(change)),
            Text(_values(change)),
            Text(safe(change.note), style="dim"),
        )
        for change in changes[:_MAX_CHANGES]
    ]
    left = len(changes) - _MAX_CHANGES
    texts = [Text(f"… {left} more changes; `--format json` has all")] if left > 0 else []
    return Group(align_columns(rows), *texts)


def _path(change: SchemaChange) -> str:
    return safe(change.path) or "(schema)"


def _values(change: SchemaChange) -> str:
    if change.before and change.after:
        return f"{short(change.before)} → {short(change.after)}"
    return short(change.before or change.after)


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """`reproduce: …`: a command that runs as it stands, also where the terminal is narrow.

    A line that goes on ends in a backslash.
    """

    label: str
    command: str

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Lines of whole words of the shell."""
        line = self.label
        for word in _shell_words(self.command):
            if line.strip() and len(line) + len(word) + _GAP > options.max_width:
                yield from _cut(f"{line} \\", options.max_width)
                line = " " * _INDENT + word
            else:
                line = f"{line} {word}"
        yield from _cut(line, options.max_width)


def _cut(line: str, width: int) -> Iterator[Text]:
    """A word that is longer than a line goes on at the start of the next one, unless in quotes."""
    while len(line) > width and not {"'", '"'} & set(line):
        yield Text(f"{line[: width - 1]}\\", style="dim")
        line = line[width - 1 :]
    yield Text(line, style="dim")


def _shell_words(command: str) -> list[str]:
    """Each with its quotes; what no shell takes apart is one word."""
    try:
        return [safe(shlex.quote(word)) for word in shlex.split(command)]
    except ValueError:
        return [safe(command)]
