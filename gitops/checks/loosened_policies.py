"""Policies that a change loosens or no longer manages, and what only a looser one accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from gitops.changes.change import LoadedChange
from gitops.changes.locations import place_of_policy
from gitops.model.findings import Finding, Location, Severity, group
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Plan, RefusedSchema, RegisterSchema
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    Policies,
    PolicyChange,
    PolicyValue,
    SchemaCompatibilityStrategy,
    camel_case,
    managed_items,
)
from gitops.model.rules import make_finding
from gitops.model.state import NamespaceState, RegistryState, Repository, TopicState
from gitops.planning.plan import PlanInput, make_plan, strategy_of
from gitops.planning.policies import direction, policy_text


def policy_guards(
    loaded: LoadedChange,
    registry: str,
    plan_inputs: tuple[PlanInput, PlanInput],
    refused: Sequence[RefusedSchema],
) -> Iterator[Finding]:
    """Loosened policies, and what only they let in; `plan_inputs` are before and after."""
    before, after = plan_inputs

    def locate(policy: LoosenedPolicy) -> Location | None:
        return place_of_policy(loaded, policy.subject, policy.change.key, registry)

    yield from loosened_findings(_loosened_policies(before, after), locate)
    yield from dropped_findings(_dropped_policies(before, after), locate)
    for name in _unmanaged_namespaces(loaded, after):
        yield namespace_unmanaged(name, loaded.head.namespaces.get(name))
    for refusal in refused:
        strategy = strategy_of(after, refusal.topic)
        key = "schemaCompatibilityStrategy"
        where = place_of_policy(loaded, refusal.topic, key, registry)
        where = where or place_of_policy(loaded, refusal.topic.namespace, key, registry)
        yield accepted_by_policy_change(refusal, strategy, where)


def _dropped_policies(before: PlanInput, after: PlanInput) -> Iterator[LoosenedPolicy]:
    """Of a topic that is gone itself another guard tells."""
    none = NamespacePolicies()
    for name, state in sorted(before.desired.namespaces.items()):
        new = after.desired.namespaces.get(name)
        yield from dropped_policies(name, new.policies if new else none, state.policies)
    for topic, known in sorted(before.desired.topics.items()):
        if wanted := after.desired.topics.get(topic):
            yield from dropped_policies(topic, wanted.policies, known.policies)


def _unmanaged_namespaces(loaded: LoadedChange, after: PlanInput) -> list[NamespaceName]:
    """The namespaces that the base has no file of, and the change no policy."""
    known = {path.rpartition("/")[0] for path in loaded.base_paths}
    none = NamespacePolicies()
    return [
        name
        for name, state in sorted(after.desired.namespaces.items())
        if state.policies == none and f"namespaces/{name}" not in known
    ]


def _loosened_policies(before: PlanInput, after: PlanInput) -> Iterator[LoosenedPolicy]:
    defaults = default_policies(before.broker)
    for name, state in sorted(after.desired.namespaces.items()):
        old = before.desired.namespaces.get(name)
        observed = after.observed.namespaces[name]
        if state.policies != (old and old.policies) and (old or observed.exists):
            base = old.policies if old else NamespacePolicies()
            held = effective_policies(base, observed.policies, defaults)
            yield from loosened_policies(name, state.policies, held)
    for topic, wanted in sorted(after.desired.topics.items()):
        known = before.desired.topics.get(topic)
        if known and known.policies != wanted.policies:
            above = _above(before, topic)
            held = effective_policies(known.policies, after.observed.topics[topic].policies, above)
            yield from loosened_policies(topic, wanted.policies, held)


def _above(before: PlanInput, topic: TopicName) -> Mapping[str, PolicyValue]:
    """What held for a topic before by its namespace and the broker."""
    none = NamespaceState(namespace=topic.namespace)
    desired = before.desired.namespaces.get(topic.namespace, none)
    observed = before.observed.namespaces.get(topic.namespace, none)
    return effective_policies(desired.policies, observed.policies, default_policies(before.broker))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoosenedPolicy:
    """A policy that lets more through than before; `subject` is a topic or a namespace."""

    subject: NamespaceName | TopicName
    change: PolicyChange


def loosened_policies(
    subject: NamespaceName | TopicName, head: Policies, before: Mapping[str, PolicyValue]
) -> tuple[LoosenedPolicy, ...]:
    """The policies in `head` that let more through than what holds `before`, by camelCase key."""
    loosened = []
    for field in fields(head):
        key, value = camel_case(field.name), getattr(head, field.name)
        change = PolicyChange(key=key, before=before.get(key), after=value)
        if value is not None and direction(change) == "loosened":
            loosened.append(LoosenedPolicy(subject=subject, change=change))
    return tuple(loosened)


def dropped_policies(
    subject: NamespaceName | TopicName, head: Policies, base: Policies
) -> tuple[LoosenedPolicy, ...]:
    """The policies that `base` manages and `head` does not, with nothing after them."""
    left = {key for key, _ in managed_items(head)}
    return tuple(
        LoosenedPolicy(subject=subject, change=PolicyChange(key=key, before=value, after=None))
        for key, value in managed_items(base)
        if key not in left
    )


def effective_policies(
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


def default_policies(defaults: BrokerSettings) -> dict[str, PolicyValue]:
    """What a broker does where nobody says anything, by the keys of policies."""
    return {
        "schemaCompatibilityStrategy": defaults.schema_compatibility_strategy,
        "isAllowAutoUpdateSchema": defaults.is_allow_auto_update_schema_enabled,
        "schemaValidationEnforced": defaults.is_schema_validation_enforced,
    }


def loosened_findings(
    policies: Iterable[LoosenedPolicy], locate: Callable[[LoosenedPolicy], Location | None]
) -> Iterator[Finding]:
    """Policies that let more through; one finding for all subjects with the same change."""
    for change, subjects, same in _by_change(policies):
        before, after = policy_text(change.before), policy_text(change.after)
        message = f"{change.key} of {subjects} is loosened: {before} → {after}"
        yield group(message, [policy_loosened(policy, locate(policy)) for policy in same])


def dropped_findings(
    policies: Iterable[LoosenedPolicy], locate: Callable[[LoosenedPolicy], Location | None]
) -> Iterator[Finding]:
    """Policies that no file has any more; one finding for all subjects with the same change."""
    for change, subjects, same in _by_change(policies):
        message = (
            f"{change.key} of {subjects} is no longer managed (it was "
            f"{policy_text(change.before)}): the cluster keeps its values, and no file contains "
            "them"
        )
        yield group(message, [policy_dropped(policy, locate(policy)) for policy in same])


def _by_change(
    policies: Iterable[LoosenedPolicy],
) -> Iterator[tuple[PolicyChange, str, list[LoosenedPolicy]]]:
    """The changes with the policies that change so, and `12 topics`."""
    alike: dict[tuple[str, PolicyChange], list[LoosenedPolicy]] = {}
    for policy in policies:
        kind = "topics" if isinstance(policy.subject, TopicName) else "namespaces"
        alike.setdefault((kind, policy.change), []).append(policy)
    for (kind, change), same in alike.items():
        yield change, f"{len(same):,} {kind}", same


def policy_loosened(loosened: LoosenedPolicy, where: Location | None) -> Finding:
    """A policy lets more through."""
    kind = "topic" if isinstance(loosened.subject, TopicName) else "namespace"
    change = loosened.change
    return make_finding(
        "CHECK-R003",
        f"{change.key} of {kind} {loosened.subject} is loosened: "
        f"{policy_text(change.before)} → {policy_text(change.after)}",
        location=where,
        subject=str(loosened.subject),
        hint="get the topic owners' approval; see `pulsar-gitops explain CHECK-R003`",
    )


def policy_dropped(loosened: LoosenedPolicy, where: Location | None) -> Finding:
    """A policy that the files said before and say no more."""
    kind = "topic" if isinstance(loosened.subject, TopicName) else "namespace"
    return make_finding(
        "CHECK-R003",
        f"{loosened.change.key} of {kind} {loosened.subject} is no longer managed (it was "
        f"{policy_text(loosened.change.before)}): the cluster keeps its value, and no file "
        "contains it",
        location=where,
        subject=str(loosened.subject),
        hint="keep the key with the wanted value, or get the topic owners' approval",
    )


def namespace_unmanaged(name: NamespaceName, where: Location | None) -> Finding:
    """A namespace that comes with a change, and whose policies no file says."""
    finding = make_finding(
        "CHECK-R003",
        f"namespace {name} is new and no file manages its policies: the cluster's "
        "values apply, and no file contains them",
        location=where,
        subject=str(name),
        hint=f"add namespaces/{name}/namespace.yaml with a schemaCompatibilityStrategy",
    )
    return replace(finding, severity=Severity.INFO)


def accepted_by_policy_change(
    refused: RefusedSchema, now: SchemaCompatibilityStrategy, where: Location | None
) -> Finding:
    """The change alters a strategy, and only so Pulsar takes the schema; `refused` says why not."""
    why = refused.findings[0].message if refused.findings else "Pulsar refuses it"
    return make_finding(
        "CHECK-R004",
        f"{refused.topic} is accepted only because the same change loosens its strategy from "
        f"{refused.strategy.value} to {now.value}: under {refused.strategy.value} {why}",
        location=where,
        subject=str(refused.topic),
        hint="split it into two pull requests: merge the policy first, then the schema",
    )


# Schemas that only a new strategy accepts.


def former_strategies(
    base: Repository, before: PlanInput, after: PlanInput
) -> dict[TopicName, SchemaCompatibilityStrategy]:
    """The strategies of the base, of topics that the base has and that get another one."""
    as_before = _with_policies(after, before)
    return {
        topic: strategy_of(as_before, topic)
        for topic in after.desired.topics
        if topic in base.desired.topics
        and strategy_of(as_before, topic) is not strategy_of(after, topic)
    }


def _with_policies(after: PlanInput, before: PlanInput) -> PlanInput:
    """The schemas of the one under the policies of the other."""
    old = before.desired
    topics = {
        name: replace(state, policies=old.topics.get(name, TopicState(topic=name)).policies)
        for name, state in after.desired.topics.items()
    }
    namespaces = {
        name: old.namespaces.get(name, NamespaceState(namespace=name))
        for name in after.desired.namespaces
    }
    desired = RegistryState(namespaces=namespaces, topics=topics)
    return replace(after, desired=desired, broker=before.broker)


def refused_before(
    before: PlanInput,
    after: PlanInput,
    plan: Plan,
    strategies: Mapping[TopicName, SchemaCompatibilityStrategy],
) -> list[RefusedSchema]:
    """Those that are accepted now, and that the old `strategies` would refuse."""
    as_before = _with_policies(after, before)
    accepted = {action.topic for action in plan.actions if isinstance(action, RegisterSchema)}
    names = accepted & strategies.keys()
    topics = {name: as_before.desired.topics[name] for name in names}
    asked = replace(as_before, desired=replace(as_before.desired, topics=topics))
    notices = make_plan(asked).notices if topics else ()
    return [notice for notice in notices if isinstance(notice, RefusedSchema)]
