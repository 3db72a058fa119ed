"""Topics that a plan of single topics cannot decide about without their namespace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Action, Notice
from gitops.model.policy import TopicPolicies, is_unset, managed_items
from gitops.model.rules import make_finding
from gitops.model.state import NamespaceState, RegistryState
from gitops.planning.policies import changes, policy_text

RULE = "PLAN-R030"


def pending_namespace_findings(
    left_out: Mapping[NamespaceName, NamespaceState],
    observed: RegistryState,
    own_policies: Mapping[TopicName, TopicPolicies],
    actions: Sequence[Action],
    notices: Sequence[Notice],
) -> Iterator[Finding]:
    """Topics that change while their namespace's own pending change is left out.

    `left_out` are the namespaces as the files want them, `own_policies` those of the topics once
    the plan is carried out. A policy that a topic sets itself is not its namespace's concern.
    """
    about = (
        getattr(item, "topic", getattr(item, "subject", None)) for item in (*actions, *notices)
    )
    topics = sorted({topic for topic in about if isinstance(topic, TopicName)})
    for topic in topics:
        wanted = left_out.get(topic.namespace)
        if wanted is None:
            continue
        state = observed.namespaces[topic.namespace]
        if not state.exists:
            yield _finding(topic, "does not exist yet")
            continue
        policies = managed_items(own_policies.get(topic, TopicPolicies()))
        own = {key for key, value in policies if not is_unset(key, value)}
        pending = [
            f"{change.key} {policy_text(change.before)} → {policy_text(change.after)}"
            for change in changes(wanted.policies, state.policies)
            if change.key not in own
        ]
        if pending:
            yield _finding(topic, f"has a pending change: {', '.join(pending)}")


def _finding(topic: TopicName, state: str) -> Finding:
    return make_finding(
        RULE,
        f"its namespace {topic.namespace} {state}; the scope of this plan leaves that out",
        subject=str(topic),
        hint=f"plan the namespace with it: pulsar-gitops plan {topic.namespace}",
    )
