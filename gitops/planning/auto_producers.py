"""Clients that send with AUTO_PRODUCE: their messages carry a version that they do not know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.findings import Finding
from gitops.model.rollout_reason import name_list
from gitops.model.rules import make_finding
from gitops.planning.refusals import TopicCase
from gitops.schemas.event_kinds import changed_parts
from gitops.schemas.layout import layout_change
from gitops.schemas.types import SchemaTypes

_MOST_NAMES: Final = 10


def auto_producer_findings(
    case: TopicCase, versions: Sequence[tuple[int, StoredSchema]], new: StoredSchema
) -> Iterator[Finding]:
    """A finding where declared clients would send the former layout as the new version.

    `versions` are the live ones, oldest first. An AUTO_PRODUCE producer uses the latest version
    when it connects, and sends bytes that its application made (pulsar-client 4.0.7 for Java).
    """
    clients = {
        client.name
        for client in case.clients
        for use in client.produces
        if use.topic.keeper == case.topic.keeper and "AUTO_PRODUCE" in use.schemas
    }
    if not clients:
        return
    next_version = case.history.next_version
    pointer, wrong = "", f"its messages carry v{next_version}, whatever they contain"
    if versions:
        version, latest = versions[-1]
        change = _layout_change(case.line.types, latest, new)
        if change is None:
            return
        path, pointer = change
        place = f" from '{path}' on" if path else ""
        wrong = (
            f"its messages carry v{next_version}, and those that it still writes as v{version} "
            f"are refused by the client or decode wrongly{place}"
        )
    yield make_finding(
        "CLIENT-R015",
        f"{name_list(sorted(clients), _MOST_NAMES)}: AUTO_PRODUCE sends what the application wrote "
        f"as the latest version: once the client reconnects, {wrong}",
        location=case.locate(pointer),
        subject=str(case.topic),
        hint=f"stop it before v{next_version} is registered, and start it with an application "
        f"that writes v{next_version}",
    )


def _layout_change(
    types: SchemaTypes, old: StoredSchema, new: StoredSchema
) -> tuple[str, str] | None:
    """The path and the pointer from which messages of both differ in their bytes."""
    if old.type is not new.type:
        return "", ""
    for half, before, after in changed_parts(types, old, new):
        if change := layout_change(types.row_of(after.type), before, after):
            path = ".".join(filter(None, (half, change.path)))
            return path, "" if half else change.pointer
    return None
