"""What has to exist before policies and schemas do: tenants, namespaces and topics.

What the files declare is created, in this order. Nothing that is there is changed or deleted:
where a tenant or a topic is not as the files declare it, that is reported.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from gitops.model.findings import Finding
from gitops.model.names import TopicName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.policy import BrokerSettings
from gitops.model.rules import make_finding
from gitops.model.state import RegistryState, TenantState
from gitops.planning.policies import changes


def tenant_actions(desired: RegistryState, observed: RegistryState) -> Iterator[Action]:
    """The tenants that the files declare and the registry has not."""
    for name, wanted in sorted(desired.tenants.items()):
        tenant_state = observed.tenants.get(name)
        if tenant_state is not None and not tenant_state.exists:
            yield CreateTenant(state=wanted)


def namespace_actions(desired: RegistryState, observed: RegistryState) -> Iterator[Action]:
    """The namespaces that the registry has not, and the policies that differ."""
    for name, wanted in sorted(desired.namespaces.items()):
        state = observed.namespaces[name]
        if not state.exists:
            yield CreateNamespace(namespace=name)
        for change in changes(wanted.policies, state.policies):
            yield SetPolicy(subject=name, change=change)


def topic_creation(
    topic: TopicName, desired: RegistryState, observed: RegistryState
) -> tuple[CreateTopic, ...]:
    """The creation of a topic that the files declare and the registry has not."""
    wanted, partitions = desired.partitions.get(topic), observed.partitions.get(topic)
    if wanted is None or partitions is None or partitions.exists:
        return ()
    return (CreateTopic(topic=topic, partitions=wanted.count or 0),)


def existence_findings(
    actions: Sequence[Action],
    desired: RegistryState,
    observed: RegistryState,
    broker: BrokerSettings,
) -> Iterator[Finding]:
    """What has to exist first, here or in other clusters, and what is not as it is declared."""
    yield from _missing_tenants(desired, observed)
    yield from _missing_topics(actions, desired, observed)
    if broker.deletes_inactive_topics is not False:
        yield from _short_lived_topics(actions)
    yield from _other_tenants(desired, observed)
    yield from _other_partitions(desired, observed)
    yield from _replicated_schemas(actions, observed)


def _missing_tenants(desired: RegistryState, observed: RegistryState) -> Iterator[Finding]:
    """A namespace cannot be made where its tenant is not."""
    absent = {n.tenant for n, state in observed.namespaces.items() if not state.tenant_exists}
    missing = sorted(absent - {str(name) for name in desired.tenants})
    name = _only_one(missing, "<tenant>")
    for tenant in missing:
        yield make_finding(
            "PLAN-R006",
            "the registry has no such tenant",
            subject=tenant,
            hint=f"declare it in namespaces/{name}/tenant.yaml, and apply creates it; or create "
            f"it: pulsar-admin tenants create {name}",
        )


def _missing_topics(
    actions: Sequence[Action], desired: RegistryState, observed: RegistryState
) -> Iterator[Finding]:
    """A topic's own policies need the topic; its schema does not (Pulsar 4.0.7)."""
    subjects = dict.fromkeys(action.subject for action in actions if isinstance(action, SetPolicy))
    missing = [
        topic
        for topic in subjects
        if isinstance(topic, TopicName)
        and topic not in desired.partitions
        and not observed.topics[topic].exists
    ]
    name = _only_one(missing, "<topic>")
    for topic in missing:
        by_hand = f"create it: pulsar-admin topics create {name}"
        if topic.domain == "persistent":
            by_hand = f"write partitions: into its manifest, and apply creates it; or {by_hand}"
        yield make_finding(
            "PLAN-R008",
            "the registry has no such topic, so Pulsar accepts no policies for it",
            subject=str(topic),
            hint=f"{by_hand}; or set the policies for its namespace",
        )


def _short_lived_topics(actions: Sequence[Action]) -> Iterator[Finding]:
    """Topics that a broker deletes while nobody uses them; a partitioned one stays (Pulsar 4.0.7).

    `brokerDeleteInactiveTopicsEnabled` is true by default, and looks every minute.
    """
    for action in actions:
        if isinstance(action, CreateTopic) and not action.partitions:
            yield make_finding(
                "PLAN-R018",
                "a broker deletes a topic without partitions that has no clients and no "
                "subscriptions, and its schemas and policies with it",
                subject=str(action.topic),
                hint="write partitions: 1 in place of create: true, or create the topic's "
                "subscriptions soon",
            )


def _only_one(names: Sequence[object], instead: str) -> str:
    """The only name; what stands for each of several, so that they have one hint."""
    return str(names[0]) if len(names) == 1 else instead


def _other_tenants(desired: RegistryState, observed: RegistryState) -> Iterator[Finding]:
    for name, wanted in sorted(desired.tenants.items()):
        tenant_state = observed.tenants.get(name)
        if (
            tenant_state
            and tenant_state.exists
            and (text := _tenant_difference(wanted, tenant_state))
        ):
            yield make_finding(
                "PLAN-R014", text, subject=str(name), hint=_update_command(wanted, tenant_state)
            )


def _tenant_difference(wanted: TenantState, tenant_state: TenantState) -> str:
    """`allowedClusters are a, and the files have a, b`; empty where nothing is known to differ."""
    pairs = (
        ("allowedClusters", wanted.allowed_clusters, tenant_state.allowed_clusters),
        ("adminRoles", wanted.admin_roles, tenant_state.admin_roles),
    )
    return "; ".join(
        f"{key} in the registry: {_names(has)}; in the files: {_names(want)}"
        for key, want, has in pairs
        if want is not None and has is not None and want != has
    )


def _names(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _update_command(wanted: TenantState, tenant_state: TenantState) -> str:
    clusters = wanted.allowed_clusters or tenant_state.allowed_clusters
    roles = wanted.admin_roles if wanted.admin_roles is not None else tenant_state.admin_roles
    words = ["pulsar-admin", "tenants", "update", str(wanted.tenant)]
    words += ["--allowed-clusters", ",".join(sorted(clusters))] if clusters else []
    words += ["--admin-roles", ",".join(sorted(roles))] if roles else []
    return f"change tenant.yaml, or the tenant: {shlex.join(words)}"


def _other_partitions(desired: RegistryState, observed: RegistryState) -> Iterator[Finding]:
    for topic, wanted in sorted(desired.partitions.items()):
        partitions = observed.partitions.get(topic)
        if not partitions or not partitions.exists or partitions.count in (None, wanted.count):
            continue
        yield make_finding(
            "PLAN-R015",
            f"{counted(partitions.count)} in the registry, {counted(wanted.count)} in the files",
            subject=str(topic),
            hint=_partition_hint(topic, wanted.count or 0, partitions.count or 0),
        )


def _replicated_schemas(actions: Sequence[Action], observed: RegistryState) -> Iterator[Finding]:
    """Namespaces of several clusters, in one of which the plan registers schemas.

    A replicator is a producer of the other cluster's topic, and registers there what messages
    carry (Pulsar 4.0.7).
    """
    registered = Counter(
        action.topic.namespace for action in actions if isinstance(action, RegisterSchema)
    )
    for name, number in sorted(registered.items()):
        state = observed.namespaces.get(name)
        if state is None or not state.is_replicated:
            continue
        verb = "schema is" if number == 1 else "schemas are"
        yield make_finding(
            "PLAN-R019",
            f"{number:,} {verb} registered in one of the clusters that the namespace is "
            f"replicated between: {', '.join(state.replication_clusters)}",
            subject=str(name),
            hint="apply to all of them before producers use the schemas: else a replicator "
            "registers them, under the other cluster's strategy and in its order",
        )


def counted(count: int | None) -> str:
    """`4 partitions`, `no partitions`."""
    return f"{count or 'no'} partition{'' if count == 1 else 's'}"


def _partition_hint(topic: TopicName, wanted: int, number: int) -> str:
    manifest = f"write partitions: {number}" if number else "write create: true"
    if command := partitions_command(topic, wanted, number):
        return f"add them: {command}; or {manifest}"
    return f"{manifest} in place of it: {FIXED_PARTITIONS}"


def partitions_command(topic: TopicName, wanted: int, number: int) -> str:
    """How the missing partitions are added; empty where that cannot be done.

    Pulsar adds partitions to a partitioned topic, and never takes one away (Pulsar 4.0.7).
    """
    words = ("update-partitioned-topic", str(topic), "--partitions", str(wanted))
    return shlex.join(["pulsar-admin", "topics", *words]) if 0 < number < wanted else ""


FIXED_PARTITIONS: Final = "Pulsar cannot change that of a topic that exists"
