"""Messages of captures that consumers with a new schema cannot read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.findings import Finding
from gitops.model.rollout_reason import name_list
from gitops.model.rules import make_finding
from gitops.planning.refusals import TopicCase
from gitops.schemas.stored_messages import unreadable_versions

_MOST_VERSIONS: Final = 10


def captured_message_findings(
    case: TopicCase, versions: Sequence[tuple[int, StoredSchema]], new: StoredSchema
) -> Iterator[Finding]:
    """A finding where captures had such messages; `versions` are the live ones, oldest first."""
    captured = case.observed.messages if case.observed else {}
    versions = [entry for entry in versions if entry[0] in captured or entry == versions[-1]]
    unreadable = [
        version
        for version in unreadable_versions(case.line.types, versions, new, case.strategy)
        if version in captured
    ]
    if not unreadable:
        return
    counts = [f"{captured[version]:,} of v{version}" for version in unreadable]
    is_one = sum(captured[version] for version in unreadable) == 1
    yield make_finding(
        "CLIENT-R014",
        f"captures had messages that consumers with the new schema cannot read: "
        f"{name_list(counts, _MOST_VERSIONS)}",
        location=case.locate(""),
        subject=str(case.topic),
        hint=f"let them upgrade once {'this message is' if is_one else 'these messages are'} no "
        "longer stored. Only what was captured is counted: there may be more, also of other "
        "versions",
    )
