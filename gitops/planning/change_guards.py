"""Guards of a change: findings about what it does beyond its single schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from gitops.model.config import Config, SafetyConfig
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import RefusedSchema
from gitops.model.policy import (
    BrokerDefaults,
    Policies,
    PolicyChange,
    PolicyValue,
    SchemaCompatibilityStrategy,
    camel_case,
    managed_items,
)
from gitops.model.rules import RULES, finding
from gitops.planning.policies import direction, policy_text
from gitops.planning.strictness import severity_in

_Weaker = tuple[tuple[str, str], str]
"""A key of gitops.yaml, and what is said of it."""

_MOST_NAMED: Final = 5
_STILL: Final = "this change is still judged by what the base says; a reviewer should know why"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loosened:
    """A policy that lets more through than before; `subject` is a topic or a namespace."""

    subject: NamespaceName | TopicName
    change: PolicyChange


def of_removed(topic: TopicName, where: Location, safety: SafetyConfig) -> Finding:
    """A manifest is gone; `where` it was, in the base."""
    setting = "set safety.allowDeletions in a change before this one, and "
    first = "" if safety.allow_deletions else setting
    found = finding(
        "CHECK-R001",
        f"the manifest of {topic} is removed; its schema stays in the registry, and nothing here "
        "manages it any more",
        location=replace(where, in_base=True),
        subject=str(topic),
        hint=f"keep the manifest; or {first}`plan --prune` deletes the schema with all its "
        "versions",
    )
    return _unless_allowed(found, safety)


def of_let_go(topic: TopicName, where: Location, safety: SafetyConfig) -> Finding:
    """A manifest says nothing of a schema any more."""
    allowed = safety.allow_deletions
    stopping = "" if allowed else "; where the base has safety.allowDeletions it stops nobody"
    found = finding(
        "CHECK-R001",
        f"the schema of {topic} is taken out of its manifest; it stays in the registry, and "
        "nothing here manages it any more",
        location=where,
        subject=str(topic),
        hint=f"keep schema: in the manifest{stopping}",
    )
    return _unless_allowed(found, safety)


def of_renamed(new: TopicName, old: TopicName, where: Location, safety: SafetyConfig) -> Finding:
    """A topic's file has another name: to Pulsar that is another topic."""
    found = finding(
        "CHECK-R002",
        f"{old} becomes {new}, which starts without its history: consumers of the old topic's "
        "messages stay behind",
        location=where,
        subject=str(new),
        hint=_keeping(new, old),
    )
    return _unless_allowed(found, safety)


def _keeping(new: TopicName, old: TopicName) -> str:
    """How the file may move and the topic stay; the folder always says the namespace."""
    if new.namespace == old.namespace:
        return f"a file may be renamed and keep its topic: write topic: {old.local_name} in it"
    return (
        f"a topic is in the namespace of its folder, and no namespace can be renamed: put it back "
        f"into namespaces/{old.namespace}"
    )


def _unless_allowed(found: Finding, safety: SafetyConfig) -> Finding:
    """With safety.allowDeletions it is told and stops nobody."""
    return replace(found, severity=Severity.WARNING) if safety.allow_deletions else found


def loosened(
    subject: NamespaceName | TopicName, head: Policies, before: Mapping[str, PolicyValue]
) -> tuple[Loosened, ...]:
    """The policies in `head` that let more through than what holds `before`, by camelCase key."""
    found = []
    for field in fields(head):
        key, value = camel_case(field.name), getattr(head, field.name)
        change = PolicyChange(key=key, before=before.get(key), after=value)
        if value is not None and direction(change) == "loosened":
            found.append(Loosened(subject=subject, change=change))
    return tuple(found)


def dropped(
    subject: NamespaceName | TopicName, head: Policies, base: Policies
) -> tuple[Loosened, ...]:
    """The policies that `base` manages and `head` does not, with nothing after them."""
    left = {key for key, _ in managed_items(head)}
    return tuple(
        Loosened(subject=subject, change=PolicyChange(key=key, before=value, after=None))
        for key, value in managed_items(base)
        if key not in left
    )


def in_force(
    base: Policies, observed: Policies, above: Mapping[str, PolicyValue]
) -> dict[str, PolicyValue]:
    """What holds before a change, by camelCase key: the files', the registry's, what is above."""
    held: dict[str, PolicyValue] = {}
    for field in fields(base):
        key = camel_case(field.name)
        values = getattr(base, field.name), getattr(observed, field.name), above.get(key)
        held[key] = next((value for value in values if value not in _NOTHING), None)
    return held


_NOTHING: Final = (None, SchemaCompatibilityStrategy.UNDEFINED)


def of_defaults(defaults: BrokerDefaults) -> dict[str, PolicyValue]:
    """What a broker does where nobody says anything, by the keys of policies."""
    return {
        "schemaCompatibilityStrategy": defaults.schema_compatibility_strategy,
        "isAllowAutoUpdateSchema": defaults.is_allow_auto_update_schema_enabled,
        "schemaValidationEnforced": defaults.is_schema_validation_enforced,
    }


def of_loosened(one: Loosened, where: Location | None) -> Finding:
    """A policy lets more through."""
    kind = "topic" if isinstance(one.subject, TopicName) else "namespace"
    change = one.change
    return finding(
        "CHECK-R003",
        f"{change.key} of {kind} {one.subject} is loosened: "
        f"{policy_text(change.before)} → {policy_text(change.after)}",
        location=where,
        subject=str(one.subject),
        hint="whoever owns the topics should agree; `pulsar-gitops explain CHECK-R003` says more",
    )


def of_dropped(one: Loosened, where: Location | None) -> Finding:
    """A policy that the files said before and say no more."""
    kind = "topic" if isinstance(one.subject, TopicName) else "namespace"
    return finding(
        "CHECK-R003",
        f"{one.change.key} of {kind} {one.subject} is no longer managed (it was "
        f"{policy_text(one.change.before)}): whatever the cluster has stays, and nothing here says "
        "what",
        location=where,
        subject=str(one.subject),
        hint="keep the key with the value that is wanted; whoever owns the topics should agree",
    )


def of_unmanaged(name: NamespaceName, where: Location | None) -> Finding:
    """A namespace that comes with a change, and whose policies no file says."""
    found = finding(
        "CHECK-R003",
        f"namespace {name} is new here and no file manages its policies: whatever the cluster has "
        "holds, and nothing here says what",
        location=where,
        subject=str(name),
        hint=f"add namespaces/{name}/namespace.yaml with a schemaCompatibilityStrategy",
    )
    return replace(found, severity=Severity.INFO)


def of_let_in(
    refused: RefusedSchema, now: SchemaCompatibilityStrategy, where: Location | None
) -> Finding:
    """The change alters a strategy, and only so Pulsar takes the schema; `refused` says why not."""
    why = refused.findings[0].message if refused.findings else "Pulsar refuses it"
    return finding(
        "CHECK-R004",
        f"{refused.topic} is accepted only because its strategy changes from "
        f"{refused.strategy.value} to {now.value}; before: {why}",
        location=where,
        subject=str(refused.topic),
        hint="change the policy and the schema in two pull requests, the policy first",
    )


def of_share(touched: int, topics: int, safety: SafetyConfig) -> tuple[Finding, ...]:
    """A finding where `touched` of the base's `topics` are more than the allowed share."""
    if topics < safety.min_topics or touched <= topics * safety.max_changed_share:
        return ()
    return (
        finding(
            "CHECK-R005",
            f"{touched} of {topics} {'topic' if topics == 1 else 'topics'} change, "
            f"more than {safety.max_changed_share:.0%}",
            hint="split the change, or raise safety.maxChangedShare in a change before this one",
        ),
    )


def of_recorded(files: Sequence[str], where: Location) -> Finding:
    """Snapshots of the base are edited or deleted; `where` is the first of the files."""
    more = [f"{len(files) - _MOST_NAMED} more"] if len(files) > _MOST_NAMED else []
    names = ", ".join([*files[:_MOST_NAMED], *more])
    return finding(
        "CHECK-R007",
        f"recorded history is edited or deleted: {names}",
        location=where,
        subject="snapshots",
        hint="a snapshot is written by `pulsar-gitops snapshot` alone, and later changes are "
        "compared with it: leave it out, or run that again and see that it gives the same",
    )


def of_submodule(file: str) -> Finding:
    """Another repository that is part of this one; `file` is where."""
    found = finding(
        "REPO-R018",
        f"'{file}' is a submodule: its files are in another repository, and nothing of what "
        "changes there is checked here",
        location=Location(file=file),
        hint="keep files that schemas are made of in this repository",
    )
    return replace(found, severity=Severity.WARNING)


def of_limits(
    base: Config, head: Config, locate: Callable[[tuple[str, str]], Location]
) -> tuple[Finding, ...]:
    """Findings where `head` has weaker limits than `base`; `locate` finds a key of gitops.yaml."""
    return tuple(
        finding("CHECK-R006", message, location=locate(key), hint=_STILL)
        for key, message in (*_weaker_safety(base.safety, head.safety), *_weaker_rules(base, head))
    )


def _weaker_safety(base: SafetyConfig, head: SafetyConfig) -> list[_Weaker]:
    said = []
    if head.max_changed_share > base.max_changed_share:
        shares = f"{base.max_changed_share:.0%} → {head.max_changed_share:.0%}"
        said.append(_safety("maxChangedShare", f"raised: {shares}"))
    if head.min_topics > base.min_topics:
        said.append(_safety("minTopics", f"raised: {base.min_topics} → {head.min_topics}"))
    if head.allow_deletions and not base.allow_deletions:
        said.append(_safety("allowDeletions", "set"))
    return said


def _safety(key: str, what: str) -> _Weaker:
    return ("safety", key), f"safety.{key} is {what}"


def _weaker_rules(base: Config, head: Config) -> list[_Weaker]:
    said = []
    for rule in sorted({*base.rules, *head.rules} & RULES.keys()):
        old, new = severity_in(base, rule), severity_in(head, rule)
        if new < old and RULES[rule].configurable:
            names = f"{old.name.lower()} → {new.name.lower()}"
            said.append((("rules", rule), f"{rule} is rated lower: {names}"))
    return said
