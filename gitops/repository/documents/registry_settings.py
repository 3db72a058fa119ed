"""What the settings of every registry in `gitops.yaml` share, whatever its kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TypedDict

from pydantic import Field

from gitops.model.config import RegistryConfig
from gitops.model.names import NamespaceName
from gitops.model.policy import BrokerDefaults, NamespacePolicies, SchemaCompatibilityStrategy
from gitops.repository.documents.base import Document, NamespaceText, Strategy
from gitops.repository.documents.manifests import NamespacePoliciesDocument


class BrokerDefaultsDocument(Document):
    """What broker.conf says, where it differs from Pulsar's own defaults."""

    schema_compatibility_strategy: Strategy = SchemaCompatibilityStrategy.FULL
    is_allow_auto_update_schema_enabled: bool = True
    is_schema_validation_enforced: bool = False

    def model(self) -> BrokerDefaults:
        """The same as a value of the model."""
        return BrokerDefaults(
            schema_compatibility_strategy=self.schema_compatibility_strategy,
            is_allow_auto_update_schema_enabled=self.is_allow_auto_update_schema_enabled,
            is_schema_validation_enforced=self.is_schema_validation_enforced,
        )


class CommonSettings(TypedDict):
    """The arguments of a RegistryConfig that every kind has."""

    kind: str
    broker_defaults: BrokerDefaults
    namespaces: Mapping[NamespaceName, NamespacePolicies]


class RegistryDocument(Document):
    """The settings of a registry; each kind adds its own keys in a subclass."""

    broker_defaults: BrokerDefaultsDocument = Field(default_factory=BrokerDefaultsDocument)
    namespaces: dict[NamespaceText, NamespacePoliciesDocument] = Field(
        default_factory=dict, description="Policies that differ on this registry, by namespace."
    )
    kind: str

    @abstractmethod
    def model(self) -> RegistryConfig:
        """The same as a value of the model."""

    def common(self) -> CommonSettings:
        """What every kind has, as arguments of its RegistryConfig."""
        return CommonSettings(
            kind=self.kind,
            broker_defaults=self.broker_defaults.model(),
            namespaces={
                NamespaceName.parse(name): each.policies() for name, each in self.namespaces.items()
            },
        )
