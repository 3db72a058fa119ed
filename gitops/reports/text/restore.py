"""A restore in a terminal: the verdict, a line for each topic, and what else is written."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from gitops.reports.operation_results import RestoreResult
from gitops.reports.restore_wording import (
    RestoreEntry,
    other_lines,
    restore_entries,
    scope_text,
    verdict_text,
)
from gitops.reports.text.layout import SIGNS, Hanging, align_columns
from gitops.reports.text.plain import safe, short

_STYLES = {"✗": "bold red", "✓": "bold green", "+": SIGNS["+"], "~": SIGNS["~"]}
_LONGEST = 2000


def restore_text(result: RestoreResult) -> RenderableType:
    """All of it."""
    return Group(*_parts(result))


def _parts(result: RestoreResult) -> Iterator[RenderableType]:
    verdict = verdict_text(result)
    yield Text(safe(verdict), style=_STYLES[verdict[0]])
    yield Text(safe(scope_text(result.restore)), style="dim")
    if entries := [*restore_entries(result)]:
        yield Text("")
        yield from _entries(entries)
    if lines := other_lines(result):
        yield Text("")
        yield from (Hanging(Text(line), 2) for line in lines)


def _entries(entries: list[RestoreEntry]) -> Iterator[RenderableType]:
    if not any(entry.lines for entry in entries):
        yield align_columns(
            [
                (_subject(restore_entry), Text(short(restore_entry.title, _LONGEST)))
                for restore_entry in entries
            ]
        )
        return
    for entry in entries:
        yield Hanging(_subject(entry).append(f"   {short(entry.title, _LONGEST)}", ""))
        yield from (Hanging(Text(f"    {short(line, _LONGEST)}"), 6) for line in entry.lines)


def _subject(entry: RestoreEntry) -> Text:
    return Text.assemble((entry.sign, _STYLES[entry.sign]), " ", safe(entry.subject))
