"""What happens to one topic's schema."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gitops.compatibility.payload import PayloadError, stored_history
from gitops.compatibility.registration import register
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.plan import (
    RefusedSchema,
    RegisterSchema,
    SchemaSwallowed,
    SchemaWithoutEffect,
)
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.planning.diff.schemas import schema_changes
from gitops.planning.refusals import Locate, broken_history, findings_of
from gitops.planning.sameness import equal_version, is_same

TopicOutcome = RegisterSchema | RefusedSchema | SchemaWithoutEffect | SchemaSwallowed | None
"""None: the topic is as the files want it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCase:
    """Everything that the decision about a topic needs.

    `content` are the findings about the desired definition; `locate` says where a JSON pointer of
    it stands in the files.
    """

    topic: TopicName
    desired: SchemaInfo
    history: SchemaHistory
    strategy: SchemaCompatibilityStrategy
    locate: Locate
    content: tuple[Finding, ...] = ()


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
    return SchemaSwallowed(topic=case.topic, version=latest.version, changes=swallowed)


def _decided(case: TopicCase) -> RegisterSchema | RefusedSchema:
    latest = case.history.latest
    changes = schema_changes(latest.info if latest else None, case.desired)
    held = _refusals(case)
    if any(finding.severity is Severity.ERROR for finding in held):
        return RefusedSchema(
            topic=case.topic,
            info=case.desired,
            latest_version=latest.version if latest else None,
            strategy=case.strategy,
            findings=held,
            changes=changes,
        )
    return RegisterSchema(
        topic=case.topic,
        info=case.desired,
        version=case.history.next_version,
        latest_version=latest.version if latest else None,
        strategy=case.strategy,
        changes=changes,
    )


def _refusals(case: TopicCase) -> tuple[Finding, ...]:
    """What the broker says against it, and what our own rules say against its content."""
    try:
        history = stored_history(case.history)
    except PayloadError as error:
        return (broken_history(str(case.topic), str(error)),)
    decision = register(history, case.desired, case.strategy)
    said = () if decision.accepted else findings_of(str(case.topic), decision, case.locate)
    known = {finding.location for finding in said}
    return (*said, *(finding for finding in case.content if finding.location not in known))
