"""All that a plug-in imports, beside `gitops.testing` in its tests.

Names that are listed here stay when modules move. Nothing else here is meant for other packages.
"""

from __future__ import annotations

from gitops.broker.lines.table import line_of
from gitops.broker.registration import register
from gitops.model.config import PulsarAuthentication, RegistryConfig, SecretRef, TlsConfig
from gitops.model.decision import Decision, StoredSchema
from gitops.model.errors import GitopsError, OutsideError, RegistryRefusedError, UsageError
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    PolicyChange,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
    TopicPolicies,
    effective_strategy,
)
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import (
    NamespaceState,
    RegistryState,
    Scope,
    TenantState,
    TopicPartitions,
    TopicState,
)
from gitops.ports import (
    CompatibilityChecker,
    ConcurrentRegistry,
    IncompatibleSchemaError,
    Progress,
    Registry,
    UnreadableTopicsError,
    no_progress,
)
from gitops.registries.pulsar.secrets import read_secret
from gitops.repository.documents.authentication import (
    AuthenticationDocument,
    Secret,
    SecretFile,
    TlsDocument,
    Url,
)
from gitops.repository.documents.authentication import environment as secret_ref
from gitops.repository.documents.base import Document, NonEmpty, Number, problem
from gitops.repository.documents.registry_kinds import RegistryKind
from gitops.repository.documents.registry_settings import RegistryDocument
from gitops.schemas.payload import stored_history, to_info, to_stored, to_stored_type

__all__ = [
    "AuthenticationDocument",
    "BrokerSettings",
    "CompatibilityChecker",
    "ConcurrentRegistry",
    "Decision",
    "Document",
    "GitopsError",
    "IncompatibleSchemaError",
    "NamespaceName",
    "NamespacePolicies",
    "NamespaceState",
    "NonEmpty",
    "Number",
    "OutsideError",
    "PolicyChange",
    "Progress",
    "PulsarAuthentication",
    "Registry",
    "RegistryConfig",
    "RegistryDocument",
    "RegistryKind",
    "RegistryRefusedError",
    "RegistryState",
    "SchemaAutoUpdateCompatibilityStrategy",
    "SchemaCompatibilityStrategy",
    "SchemaEntry",
    "SchemaHistory",
    "SchemaInfo",
    "SchemaType",
    "Scope",
    "Secret",
    "SecretFile",
    "SecretRef",
    "StoredSchema",
    "TenantName",
    "TenantState",
    "TlsConfig",
    "TlsDocument",
    "TopicName",
    "TopicPartitions",
    "TopicPolicies",
    "TopicState",
    "UnreadableTopicsError",
    "Url",
    "UsageError",
    "decide",
    "effective_strategy",
    "no_progress",
    "problem",
    "read_secret",
    "secret_ref",
    "stored_form",
]


def decide(
    history: SchemaHistory,
    info: SchemaInfo,
    strategy: SchemaCompatibilityStrategy,
    broker: BrokerSettings,
) -> Decision:
    """What a broker answers to a registration, for a store that does not decide."""
    return register(stored_history(history), info, strategy, line_of(broker))


def stored_form(info: SchemaInfo) -> SchemaInfo:
    """An accepted schema as a broker gives it back: BYTES becomes NONE."""
    return to_info(to_stored_type(to_stored(info)))
