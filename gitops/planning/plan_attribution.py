"""What of a plan comes from a change of the files, and what was to be done without it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from gitops.model.findings import Finding, Severity
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.plan import (
    Action,
    CreateTopic,
    Notice,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaDrift,
    SchemaSwallowed,
    SchemaWithoutEffect,
)
from gitops.planning.fingerprints import PARTITIONS, subject_name
from gitops.planning.plan import subject_of


def attributed_plan(plan: Plan, before: Plan) -> Plan:
    """`plan` without what `before`, the plan for the files without the change, holds too."""
    known = {_key(item) for item in (*before.actions, *before.notices)}
    actions = tuple(action for action in plan.actions if _key(action) not in known)
    notices = tuple(notice for notice in plan.notices if _key(notice) not in known)
    left = {subject_of(action) for action in actions} | {notice.topic for notice in notices}
    touched = sum(isinstance(item, TopicName) for item in left)
    names = {_subject_name(action) for action in actions}
    return replace(
        plan,
        actions=actions,
        notices=notices,
        findings=_findings(plan, before, left),
        expected={name: prints for name, prints in plan.expected.items() if name in names},
        unchanged=plan.topics - touched,
    )


def _subject_name(action: Action) -> str:
    """The subject whose fingerprint the action changes."""
    if isinstance(action, CreateTopic):
        return f"{PARTITIONS} {action.topic}"
    return subject_name(subject_of(action))


def _findings(
    plan: Plan, before: Plan, left: set[TenantName | NamespaceName | TopicName]
) -> tuple[Finding, ...]:
    """Those about what is left, and others that the change has brought, or made worse."""
    known: dict[str, Severity] = {}
    for finding in before.findings:
        worst = max(finding.severity, known.get(finding.fingerprint, Severity.OFF))
        known[finding.fingerprint] = worst
    subjects = {str(subject) for subject in left}
    return tuple(
        finding
        for finding in plan.findings
        if finding.subject in subjects
        or finding.severity > known.get(finding.fingerprint, Severity.OFF)
    )


def _key(item: Action | Notice) -> Hashable:
    """Equal for what does or says the same, wherever it stands in the files."""
    match item:
        case RegisterSchema() | RefusedSchema():
            info = item.info
            content = (info.type, info.schema, tuple(sorted(info.properties.items())))
            return type(item), item.topic, content, item.strategy, item.accepted, _waived(item)
        case SchemaWithoutEffect() | SchemaDrift() | SchemaSwallowed():
            return type(item), item.topic, item.changes
        case _:
            return item


def _waived(item: RegisterSchema | RefusedSchema) -> str:
    """The waiver that lets a schema pass, if any."""
    return item.waiver if isinstance(item, RegisterSchema) else ""
