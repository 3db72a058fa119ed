"""What differs between two schemas, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from gitops.model.plan import SchemaChange
from gitops.reporters.text.columns import aligned
from gitops.reporters.text.plain import safe, short

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
    more = [Text(f"… {left} more changes; `--format json` has all")] if left > 0 else []
    return Group(aligned(rows), *more)


def _path(change: SchemaChange) -> str:
    return safe(change.path) or "(schema)"


def _values(change: SchemaChange) -> str:
    if change.before and change.after:
        return f"{short(change.before)} → {short(change.after)}"
    return short(change.before or change.after)
