"""Tables; the column of registries is there where there are several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

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
