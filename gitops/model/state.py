"""What a registry holds, or should hold: one shape for both, so that any two can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import NamespacePolicies, TopicPolicies
from gitops.model.schema import SchemaHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceState:
    """A namespace and its schema policies; `exists` is false where the registry has none.

    `tenant_exists` is false where the tenant is missing too, so that the namespace cannot be
    created either.
    """

    namespace: NamespaceName
    policies: NamespacePolicies = field(default_factory=NamespacePolicies)
    exists: bool = True
    tenant_exists: bool = True


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
    """Namespaces and topics, by name."""

    namespaces: Mapping[NamespaceName, NamespaceState] = field(default_factory=dict)
    topics: Mapping[TopicName, TopicState] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What to read from a registry: these namespaces' policies, these topics' schemas."""

    namespaces: frozenset[NamespaceName] = frozenset()
    topics: frozenset[TopicName] = frozenset()
