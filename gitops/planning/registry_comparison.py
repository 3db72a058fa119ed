"""Several registries of one repository: which one is applied first, and whose versions differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RefusedSchema
from gitops.model.rules import make_finding
from gitops.planning.fingerprints import is_same

RULE = "PLAN-R016"


def not_applied_finding(registry: str, before: Plan) -> Finding | None:
    """What is left to do at the registry that comes before `registry`; None where nothing is."""
    if not (left := _left(before)):
        return None
    first = before.registry
    return make_finding(
        RULE,
        f"{first} comes first, and is not applied: {left}",
        subject=registry,
        hint=f"apply to {first} before: pulsar-gitops plan --registry {first} --out {first}.json",
    )


def _left(plan: Plan) -> str:
    """`3 actions to carry out, 1 schema refused`; empty where an apply has nothing to do.

    Drift is not counted: no apply changes it, so waiting for one would never end.
    """
    refused = sum(isinstance(notice, RefusedSchema) for notice in plan.notices)
    counts = ((len(plan.actions), "action", "to carry out"), (refused, "schema", "refused"))
    return ", ".join(
        f"{number} {what}{'' if number == 1 else 's'} {how}"
        for number, what, how in counts
        if number
    )


def unknown_finding(registry: str, first: str, reason: str) -> Finding:
    """Nobody could find out whether the registry that comes before is applied."""
    return make_finding(
        RULE,
        f"{first} comes first, and whether it is applied is unknown: {reason}",
        subject=registry,
        hint=f"`apply` asks {first} again before it does anything",
    )


def noted(plan: Plan, finding: Finding | None) -> Plan:
    """The plan with what an apply of it waits for, as a note: others may still be waited for."""
    if finding is None:
        return plan
    note = replace(finding, severity=Severity.INFO)
    return replace(plan, findings=(*plan.findings, note))


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionSkew:
    """A topic whose latest version is not the same in all registries that have one.

    `versions` are the numbers by registry; `same_schema`: it is one schema under all of them.
    """

    topic: TopicName
    versions: Mapping[str, int]
    same_schema: bool


def version_skews(plans: Sequence[Plan]) -> tuple[VersionSkew, ...]:
    """The topics of the files whose number or schema differs between registries, by name.

    Both matter where messages are copied from one to another: they carry the number.
    """
    topics = sorted({topic for plan in plans for topic in plan.latest})
    items = (_skew(topic, plans) for topic in topics)
    return tuple(version_skew for version_skew in items if version_skew)


def _skew(topic: TopicName, plans: Sequence[Plan]) -> VersionSkew | None:
    entries = {plan.registry: plan.latest[topic] for plan in plans if topic in plan.latest}
    versions = {registry: entry.version for registry, entry in entries.items()}
    first, *other_schemas = (entry.info for entry in entries.values())
    same = all(is_same(first, schema) for schema in other_schemas)
    if same and len(set(versions.values())) == 1:
        return None
    return VersionSkew(topic=topic, versions=versions, same_schema=same)
