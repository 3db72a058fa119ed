"""Topics and namespaces of a registry or a repository, in one shape, so that any two compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitops.model.clients import Client, ObservedClients
from gitops.model.config import Config
from gitops.model.findings import Finding, Location
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.policy import NamespacePolicies, Retention, TopicPolicies
from gitops.model.replay import Sample
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.waivers import LimitWaiver, Waiver

# What a registry holds, or should hold: one shape for both, so that any two can be compared.


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantState:
    """A tenant: the clusters that it may use, and the roles that administer it.

    None where the files leave it open, or the registry does not show it. Without clusters a tenant
    of the files may use all that its registry has.
    """

    tenant: TenantName
    allowed_clusters: frozenset[str] | None = None
    admin_roles: frozenset[str] | None = None
    exists: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPartitions:
    """How many partitions a topic has, 0 for one without; None where that is not known.

    `exists` is false where the registry has no such topic.
    """

    topic: TopicName
    count: int | None = None
    exists: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceState:
    """A namespace and its schema policies; `exists` is false where the registry has none.

    `tenant_exists` is false where the tenant is missing too, so that the namespace cannot be
    created either. Without a `retention` of its own the broker's default holds.
    `encryption_required` is whether brokers accept encrypted messages alone, `is_compacted` whether
    they compact topics that have grown. `replication_clusters` are those between which messages are
    copied, this one among them; none where that is not known.
    """

    namespace: NamespaceName
    policies: NamespacePolicies = field(default_factory=NamespacePolicies)
    retention: Retention | None = None
    encryption_required: bool = False
    is_compacted: bool = False
    replication_clusters: tuple[str, ...] = ()
    exists: bool = True
    tenant_exists: bool = True

    @property
    def is_replicated(self) -> bool:
        """Whether its messages are copied to another cluster."""
        return len(self.replication_clusters) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicState:
    """A topic's schemas and its own policies.

    The files say one schema: a desired history has a single entry (or none, where the topic's
    schema is not managed), and its version number means nothing. `exists` is false where the
    registry has no such topic: it takes a schema for it all the same, but no policies.
    """

    topic: TopicName
    history: SchemaHistory = field(default_factory=SchemaHistory)
    policies: TopicPolicies = field(default_factory=TopicPolicies)
    exists: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether it has neither a schema nor policies of its own: no file could say anything."""
        return not self.history.entries and self.policies == TopicPolicies()


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryState:
    """Tenants, namespaces and topics, by name.

    `tenants` and `partitions` are those that the files declare, to be created where the registry
    has none.
    """

    namespaces: Mapping[NamespaceName, NamespaceState] = field(default_factory=dict)
    topics: Mapping[TopicName, TopicState] = field(default_factory=dict)
    tenants: Mapping[TenantName, TenantState] = field(default_factory=dict)
    partitions: Mapping[TopicName, TopicPartitions] = field(default_factory=dict)

    def subject(self, name: NamespaceName | TopicName) -> NamespaceState | TopicState:
        """A namespace or a topic that is in it."""
        return self.namespaces[name] if isinstance(name, NamespaceName) else self.topics[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What to read from a registry: these namespaces' policies, these topics' schemas.

    Of `partitions` it is whether these topics exist, and with how many. Without `topic_policies`
    the topics' own policies are not needed, which only administrators may read. Nothing is decided
    about the topics of `settled` where this schema is their latest: policies of their own are not
    asked for where their namespace shows that it is likely to have none.
    """

    namespaces: frozenset[NamespaceName] = frozenset()
    topics: frozenset[TopicName] = frozenset()
    topic_policies: bool = True
    settled: Mapping[TopicName, SchemaInfo] = field(default_factory=dict, hash=False)
    tenants: frozenset[TenantName] = frozenset()
    partitions: frozenset[TopicName] = frozenset()


# A schemas repository as it was read: what it wants, where each word stands, what is wrong.


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSource:
    """Where a topic is written down.

    `definitions` are the files (relative to the root) that the schema was built from, the
    topic's own first, shared types after it; empty where the definition is inline or none. Of a
    KEY_VALUE, `halves` are the same for `key` and `value`.
    `findings` are those about the schema's content (a definition that a broker would not take):
    they hold back this topic only, and only if it changes.
    """

    manifest: Location
    definitions: tuple[str, ...] = ()
    halves: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanScope:
    """What a plan is asked for: whole namespaces, and single topics of others.

    `editable` are the files that nothing outside the scope uses.
    """

    namespaces: frozenset[NamespaceName] = frozenset()
    topics: frozenset[TopicName] = frozenset()
    editable: frozenset[str] = frozenset()

    def __contains__(self, topic: TopicName) -> bool:
        """Whether the plan is about this topic."""
        keepers = {item.keeper for item in self.topics}
        return topic.namespace in self.namespaces or topic.keeper in keepers

    def covers(self, subject: NamespaceName | TopicName) -> bool:
        """Whether the plan is about this namespace or topic."""
        return subject in self if isinstance(subject, TopicName) else subject in self.namespaces

    @property
    def names(self) -> tuple[str, ...]:
        """Namespaces and topics as they are named on a command line, sorted."""
        return tuple(sorted(map(str, (*self.namespaces, *self.topics))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """Everything that the files say.

    `findings` are those about the files themselves (a key that does not exist, a missing file):
    with an error among them the desired state is not known, and nothing may be planned from it.
    `observed_clients` are those that snapshots recorded, by registry.
    `digest` is `sha256:` and 64 hex digits over the path and the content of every file read.
    With a `scope` it is the part of a repository that a plan was asked for.
    """

    config: Config
    desired: RegistryState
    digest: str
    namespaces: Mapping[NamespaceName, Location] = field(default_factory=dict)
    topics: Mapping[TopicName, TopicSource] = field(default_factory=dict)
    clients: tuple[Client, ...] = ()
    observed_clients: Mapping[str, ObservedClients] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()
    findings: tuple[Finding, ...] = ()
    scope: PlanScope | None = None
    limit_waivers: tuple[LimitWaiver, ...] = ()
