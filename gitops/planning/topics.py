"""What happens to one topic's schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gitops.compatibility.payload import PayloadError, as_kept, stored_history, to_stored
from gitops.compatibility.registration import register
from gitops.compatibility.review.reviewing import changes_of
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.plan import (
    RefusedSchema,
    RegisterSchema,
    SchemaSwallowed,
    SchemaWithoutEffect,
)
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rules import with_severities
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.planning.diff.schemas import schema_changes
from gitops.planning.refusals import (
    Locate,
    Places,
    broken_history,
    findings_of,
    findings_of_remarks,
)
from gitops.planning.sameness import equal_version, is_same

TopicOutcome = RegisterSchema | RefusedSchema | SchemaWithoutEffect | SchemaSwallowed | None
"""None: the topic is as the files want it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCase:
    """Everything that the decision about a topic needs.

    `content` are the findings about the desired definition; `locate` says where a JSON pointer of
    it stands in the files; `rules` are the severities that differ from the table's.
    """

    topic: TopicName
    desired: SchemaInfo
    history: SchemaHistory
    strategy: SchemaCompatibilityStrategy
    locate: Locate
    content: tuple[Finding, ...] = ()
    rules: Mapping[str, Severity] = field(default_factory=dict)


def plan_topic(case: TopicCase) -> TopicOutcome:
    """Unchanged, swallowed, without effect, refused, or a new version."""
    latest = case.history.latest
    if latest and is_same(latest.info, case.desired):
        return _swallowed(case)
    equal = equal_version(case.history, case.desired)
    if equal is not None and latest:
        return SchemaWithoutEffect(
            topic=case.topic,
            equal_version=equal,
            latest_version=latest.version,
            changes=schema_changes(latest.info, case.desired),
        )
    return _decided(case)


def _swallowed(case: TopicCase) -> SchemaSwallowed | None:
    latest = case.history.latest
    if latest is None:
        return None
    changes = schema_changes(latest.info, case.desired)
    if not changes:
        return None
    swallowed = tuple(replace(change, ignored=True) for change in changes)
    return SchemaSwallowed(
        topic=case.topic,
        version=latest.version,
        changes=swallowed,
        findings=_remarks(case),
    )


def _decided(case: TopicCase) -> RegisterSchema | RefusedSchema:
    latest = case.history.latest
    changes = schema_changes(latest.info if latest else None, case.desired)
    said, accepted = _broker_says(case)
    remarks = _remarks(case)
    known = {one.location for one in said}
    content = tuple(one for one in case.content if one.location not in known)
    if any(one.severity is Severity.ERROR for one in (*said, *remarks, *content)):
        return RefusedSchema(
            topic=case.topic,
            info=case.desired,
            latest_version=latest.version if latest else None,
            strategy=case.strategy,
            findings=(*said, *remarks, *content),
            changes=changes,
            accepted=accepted,
        )
    return RegisterSchema(
        topic=case.topic,
        info=case.desired,
        version=case.history.next_version,
        latest_version=latest.version if latest else None,
        strategy=case.strategy,
        changes=changes,
        findings=remarks,
    )


def _broker_says(case: TopicCase) -> tuple[tuple[Finding, ...], bool]:
    """What the broker has against it, and whether it would take it."""
    try:
        history = stored_history(case.history)
    except PayloadError as error:
        return (broken_history(str(case.topic), str(error)),), False
    decision = register(history, case.desired, case.strategy)
    if decision.accepted:
        return (), True
    return findings_of(str(case.topic), decision, Places(new=case.locate)), False


def _remarks(case: TopicCase) -> tuple[Finding, ...]:
    """What our own rules say about the change from the latest version."""
    latest = case.history.latest
    if latest is None:
        return ()
    try:
        old, new = (as_kept(to_stored(info)) for info in (latest.info, case.desired))
    except PayloadError:
        return ()
    remarks = changes_of(old, new, case.strategy)
    found = findings_of_remarks(
        str(case.topic), f"v{latest.version}", remarks, Places(new=case.locate)
    )
    return with_severities(found, case.rules)
