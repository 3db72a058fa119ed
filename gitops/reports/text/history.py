"""The versions of a topic and the policies of a subject in a terminal."""

from __future__ import annotations

import datetime

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import Policies, SchemaCompatibilityStrategy, managed_items
from gitops.model.schema import SchemaEntry, SchemaHistory
from gitops.planning.policies import policy_text
from gitops.reports.results import ExtractionResult, PoliciesResult, VersionResult, VersionsResult
from gitops.reports.text.layout import align_columns, change_table
from gitops.reports.text.plain import safe
from gitops.schemas.diff import schema_changes

# The versions of a topic in a terminal, each with what it changed.


def version_text(result: VersionResult) -> str:
    """The definition of one version."""
    return f"{result.entry.info.schema}\n"


def extraction_text(result: ExtractionResult) -> str:
    """The definition alone, so that a file has exactly what a client sends."""
    return result.info.schema


def versions_text(result: VersionsResult) -> RenderableType:
    """All versions of a topic."""
    return history_report(result.topic, result.history)


def policies_text(result: PoliciesResult) -> RenderableType:
    """The policies of a subject."""
    return policies_report(result.subject, result.own, result.effective)


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


# Policies of one subject in a terminal.


def policies_report(
    subject: NamespaceName | TopicName, own: Policies, effective: SchemaCompatibilityStrategy
) -> RenderableType:
    """What is set, and the strategy that holds."""
    rows = [(Text(f"  {key}"), Text(policy_text(value))) for key, value in managed_items(own)]
    holds = (Text("  the strategy in force"), Text(effective.value, style="bold"))
    return Group(Text(safe(str(subject)), style="bold"), align_columns([*rows, holds]))
