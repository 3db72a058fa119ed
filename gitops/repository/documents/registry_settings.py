"""What the settings of every registry in `gitops.yaml` share, whatever its kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, TypedDict

from pydantic import AfterValidator, Field

from gitops.broker.lines.table import LINES, find_named_line
from gitops.model.broker_settings import SETTINGS
from gitops.model.config import RegistryConfig
from gitops.model.names import NamespaceName
from gitops.model.policy import (
    DEFAULT_RELEASE,
    BrokerSettings,
    NamespacePolicies,
    SchemaCompatibilityStrategy,
    SettingSource,
)
from gitops.repository.documents.base import Document, NamespaceText, NonEmpty, Strategy, problem
from gitops.repository.documents.manifests import NamespacePoliciesDocument


class BrokerDefaultsDocument(Document):
    """What broker.conf says, where it differs from Pulsar's own defaults."""

    schema_compatibility_strategy: Strategy = SchemaCompatibilityStrategy.FULL
    is_allow_auto_update_schema_enabled: bool = True
    is_schema_validation_enforced: bool = False
    schema_json_allow_legacy_jackson_format: bool = False
    system_topic_schema_compatibility_strategy: Strategy = (
        SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE
    )

    def model(self, release: str, sources: Mapping[str, SettingSource]) -> BrokerSettings:
        """The same as a value of the model, of a broker of that release."""
        return BrokerSettings(
            release=release,
            sources=sources,
            schema_compatibility_strategy=self.schema_compatibility_strategy,
            is_allow_auto_update_schema_enabled=self.is_allow_auto_update_schema_enabled,
            is_schema_validation_enforced=self.is_schema_validation_enforced,
            schema_json_allow_legacy_jackson_format=self.schema_json_allow_legacy_jackson_format,
            system_topic_schema_compatibility_strategy=(
                self.system_topic_schema_compatibility_strategy
            ),
        )


def _known_release(text: str) -> str:
    if find_named_line(text) is None:
        hint = f"use one of {', '.join(LINES)}, or a version of one"
        raise problem("REPO-R011", f"there is no profile of Pulsar {text}", hint)
    return text


BrokerRelease = Annotated[str, AfterValidator(_known_release)]
"""A broker line, `4.2`, or a version of one, `4.2.4`."""


class CommonSettings(TypedDict):
    """The arguments of a RegistryConfig that every kind has."""

    kind: str
    broker: BrokerSettings
    namespaces: Mapping[NamespaceName, NamespacePolicies]
    after: str


class RegistryDocument(Document):
    """The settings of a registry; each kind adds its own keys in a subclass."""

    broker: BrokerRelease = Field(
        default=DEFAULT_RELEASE,
        description="The broker line that decides: 3.0, 4.0, 4.1, 4.2 or 5.0.",
    )
    broker_defaults: BrokerDefaultsDocument = Field(default_factory=BrokerDefaultsDocument)
    namespaces: dict[NamespaceText, NamespacePoliciesDocument] = Field(
        default_factory=dict, description="Policies that differ on this registry, by namespace."
    )
    after: NonEmpty | None = Field(
        default=None, description="The registry that is applied before this one."
    )
    kind: str

    _unsaid: ClassVar[SettingSource] = SettingSource.DEFAULT
    """Where a setting of the broker is from that nobody gives."""

    @abstractmethod
    def model(self) -> RegistryConfig:
        """The same as a value of the model."""

    def _sources(self) -> dict[str, SettingSource]:
        """Where each setting of the broker is from."""
        given = {*self.broker_defaults.model_fields_set}
        given |= {"release"} if "broker" in self.model_fields_set else set()
        return {name: SettingSource.GIVEN if name in given else self._unsaid for name in SETTINGS}

    def common(self) -> CommonSettings:
        """What every kind has, as arguments of its RegistryConfig."""
        broker = self.broker_defaults.model(self.broker, self._sources())
        may_retain = self._unsaid is SettingSource.ASSUMED
        return CommonSettings(
            kind=self.kind,
            broker=replace(broker, default_retention=None) if may_retain else broker,
            namespaces={
                NamespaceName.parse(name): item.policies() for name, item in self.namespaces.items()
            },
            after=self.after or "",
        )
