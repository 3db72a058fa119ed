"""Policies that a restore changed for its time and has not set back, since it was killed.

While versions are registered every strategy accepts them and no client can register one. The
journal has each policy as it was before, so that the same restore sets it back when it is run
again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import NamespacePolicies, TopicPolicies, snake_case
from gitops.model.restore import HeldPolicy
from gitops.model.rollout_reason import name_list
from gitops.model.rules import make_finding
from gitops.model.state import RegistryState
from gitops.planning.lost_versions import restore_command
from gitops.planning.policies import policy_text

UNFINISHED: Final = "PLAN-R025"


def still_held(held: Iterable[HeldPolicy], state: RegistryState) -> tuple[HeldPolicy, ...]:
    """Those that the registry has as the restore left them."""
    return tuple(policy for policy in held if _is_held(policy, state))


def _is_held(policy: HeldPolicy, state: RegistryState) -> bool:
    policies: NamespacePolicies | TopicPolicies | None = None
    if isinstance(policy.subject, TopicName):
        topic = state.topics.get(policy.subject)
        policies = topic.policies if topic else None
    else:
        namespace = state.namespaces.get(policy.subject)
        policies = namespace.policies if namespace else None
    return bool(policies) and getattr(policies, snake_case(policy.key)) == policy.value


def before_restore(held: Iterable[HeldPolicy], state: RegistryState) -> RegistryState:
    """The registry with its policies as they were before the restore that was killed."""
    topics, namespaces = dict(state.topics), dict(state.namespaces)
    for policy in still_held(held, state):
        values: dict[str, Any] = {snake_case(policy.key): policy.before}
        if isinstance(policy.subject, TopicName):
            topic = topics[policy.subject]
            topics[policy.subject] = replace(topic, policies=replace(topic.policies, **values))
        else:
            namespace = namespaces[policy.subject]
            policies = replace(namespace.policies, **values)
            namespaces[policy.subject] = replace(namespace, policies=policies)
    return replace(state, topics=topics, namespaces=namespaces)


def unfinished_restore_findings(
    held: Iterable[HeldPolicy], state: RegistryState, registry: str
) -> Iterator[Finding]:
    """One for each namespace or topic."""
    by_subject: dict[NamespaceName | TopicName, list[HeldPolicy]] = {}
    for policy in still_held(held, state):
        by_subject.setdefault(policy.subject, []).append(policy)
    for subject, policies in sorted(by_subject.items(), key=lambda item: str(item[0])):
        namespace = subject.namespace if isinstance(subject, TopicName) else subject
        yield make_finding(
            UNFINISHED,
            f"a restore did not come to its end and left {held_text(policies)}",
            subject=str(subject),
            hint=f"run it again, it sets back what it found: {restore_command(namespace, registry)}"
            f"; where this is intended by now, remove {policies[0].journal}",
        )


def held_text(policies: Iterable[HeldPolicy]) -> str:
    """`isAllowAutoUpdateSchema false (true before)`, of all."""
    return name_list(
        [
            f"{policy.key} {policy_text(policy.value)} ({policy_text(policy.before)} before)"
            for policy in policies
        ]
    )
