"""The versions of a topic in a terminal, each with what it changed."""

from __future__ import annotations

import datetime

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.names import TopicName
from gitops.model.schema import SchemaEntry, SchemaHistory
from gitops.planning.diff.schemas import schema_changes
from gitops.reporters.text.changes import change_table
from gitops.reporters.text.plain import safe


def history_report(topic: TopicName, history: SchemaHistory) -> RenderableType:
    """One line for each version, and below it its changes."""
    if not history.entries:
        return Text(f"{safe(str(topic))} has no schema")
    parts: list[RenderableType] = [Text(safe(str(topic)), style="bold")]
    before: SchemaEntry | None = None
    for entry in history.entries:
        parts.append(Text(f"v{entry.version}  {entry.info.type.value}  {_when(entry.timestamp)}"))
        changes = schema_changes(before.info, entry.info) if before else ()
        if changes:
            parts.append(Padding(change_table(changes), (0, 0, 0, 4)))
        before = entry
    return Group(*parts)


def _when(timestamp: int | None) -> str:
    if timestamp is None:
        return ""
    try:
        moment = datetime.datetime.fromtimestamp(timestamp / 1000, tz=datetime.UTC)
    except (OverflowError, ValueError, OSError):  # no year that a calendar has
        return f"{timestamp} ms since 1970"
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
