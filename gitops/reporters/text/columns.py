"""Rows whose cells stand below each other, and wrap where the terminal is too narrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

_GAP: Final = 3
_MAX_WIDTH: Final = 44
"""A wider cell pushes the rest of its own row aside, not the column of all rows."""


def aligned(rows: Sequence[Sequence[Text]], *, widths: Sequence[int] = ()) -> RenderableType:
    """The rows as lines; `widths` are least widths of the first columns, in characters.

    A table would give each column its share of a narrow terminal and cut words; a line wraps.
    """
    columns = max((len(row) for row in rows), default=0)
    needed = [
        max(
            [min(row[i].cell_len, _MAX_WIDTH) for row in rows if i < len(row)]
            + [widths[i] if i < len(widths) else 0]
        )
        for i in range(columns)
    ]
    return Group(*(_line(row, needed) for row in rows))


def _line(row: Sequence[Text], widths: Sequence[int]) -> Text:
    line = Text()
    for cell, width in zip(row, widths, strict=False):
        line.append_text(cell)
        line.append(" " * (max(0, width - cell.cell_len) + _GAP))
    line.rstrip()
    return line
