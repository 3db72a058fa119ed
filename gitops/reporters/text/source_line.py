"""The line that a finding is on, with carets under the place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from gitops.model.findings import Location

_CUT: Final = "…"

_FAR: Final = 2_000
"""How many characters before and behind the place are looked at: whole files can be one line."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """As much of a line as the terminal is wide, the place always in it; a cut says so."""

    where: Location
    line: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        number = str(self.where.line)
        # Columns do not count a byte order mark, and nobody sees it.
        line = self.line.removeprefix("\ufeff")
        first = max(0, min(self.where.column - 1, len(line)))
        last = min(first + max(1, self.where.length), len(line))
        ahead, behind = max(0, first - _FAR), max(0, len(line) - last - _FAR)
        line = line[ahead : len(line) - behind]
        first, last = first - ahead, last - ahead
        # Tabs and other odd characters are shown as one mark each, so that the carets stand right.
        text = "".join(char if char.isprintable() else "·" for char in line)
        text = text.replace("##[", "##·")  # a command, wherever it stands in a workflow's log
        start, end = _window(text, first, last, max(1, options.max_width - len(number) - 3))
        head = f"{_CUT} " if start or ahead else ""
        tail = f" {_CUT}" if end < len(text) or behind else ""
        gap = " " * cell_len(head + text[start:first])
        carets = "^" * max(1, cell_len(text[first : min(last, end)]))
        for margin, content in (
            (number, f"{head}{text[start:end]}{tail}"),
            (" " * len(number), f"{gap}{carets}"),
        ):
            yield Text(f"{margin} | {content}", style="dim", no_wrap=True, overflow="crop")


def _window(text: str, first: int, last: int, room: int) -> tuple[int, int]:
    """Which characters to show in `room` cells, so that the place from `first` is among them."""
    behind_the_end = first == len(text)
    if cell_len(text) + behind_the_end <= room:
        return 0, len(text)
    left = max(1, room - 2 * (len(_CUT) + 1))
    start = first
    if cell_len(text[:last]) <= left:
        start = 0
    while start and cell_len(text[start - 1 : first]) <= left // 2:
        start -= 1
    end = start
    while end < len(text) and cell_len(text[start : end + 1]) <= left:
        end += 1
    return start, end
