"""`gitops.yaml`: registries, safety limits, severities of rules."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from gitops.model.config import EmbeddedConfig, PulsarConfig, RegistryConfig, SafetyConfig
from gitops.model.names import NamespaceName
from gitops.model.policy import BrokerDefaults, NamespacePolicies, SchemaCompatibilityStrategy
from gitops.model.rules import RULES
from gitops.repository.documents.authentication import AuthenticationDocument, TlsDocument, Url
from gitops.repository.documents.base import (
    ApiVersion,
    Document,
    NamespaceText,
    NonEmpty,
    Number,
    Strategy,
)
from gitops.repository.documents.namespace import NamespacePoliciesDocument
from gitops.repository.documents.problems import problem
from gitops.repository.rule_pages import rule_meant

_FIXED: Final = {
    "REPO-": (
        "what a file that cannot be understood wants is not known",
        "remove this line, and correct what the finding is about",
    ),
    "PLAN-": (
        "the change cannot be made",
        "remove this line; `pulsar-gitops explain` with the id says what helps",
    ),
    "": (
        "it says why Pulsar refuses a schema, whatever stands here",
        "remove this line; policies decide what Pulsar refuses: see schemaCompatibilityStrategy",
    ),
}
"""Why rules have the severity that they have, and what to do, by the start of their ids."""

_REGISTRY_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _registry_name(text: str) -> str:
    if not _REGISTRY_NAME.fullmatch(text):
        raise problem(
            "REPO-R013", f"'{text}' is not a registry's name", "use letters, digits and - _ ."
        )
    return text


def _rule_id(text: str) -> str:
    if text not in RULES:
        meant = rule_meant(text)
        hint = f"did you mean {meant}?" if meant else "`pulsar-gitops explain` lists all rules"
        raise problem("REPO-R011", f"unknown rule '{text}'", hint)
    if not RULES[text].configurable:
        why, hint = next(words for start, words in _FIXED.items() if text.startswith(start))
        raise problem("REPO-R012", f"{text} always is an error: {why}", hint)
    return text


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


class _Registry(Document):
    broker_defaults: BrokerDefaultsDocument = Field(default_factory=BrokerDefaultsDocument)
    namespaces: dict[NamespaceText, NamespacePoliciesDocument] = Field(
        default_factory=dict, description="Policies that differ on this registry, by namespace."
    )

    def overrides(self) -> dict[NamespaceName, NamespacePolicies]:
        """The policies that differ, by namespace."""
        return {NamespaceName.parse(k): v.policies() for k, v in self.namespaces.items()}


class EmbeddedDocument(_Registry):
    """The embedded registry: one SQLite file."""

    kind: Literal["embedded"]
    path: NonEmpty = Field(description="Relative to the repository's root.")

    def model(self) -> EmbeddedConfig:
        """The same as a value of the model."""
        return EmbeddedConfig(
            path=self.path,
            broker_defaults=self.broker_defaults.model(),
            namespaces=self.overrides(),
        )


Seconds = Annotated[Number, Field(gt=0, le=3600)]


class TimeoutsDocument(Document):
    """In seconds."""

    connect: Seconds = Field(default=5, description="For one connection, with TLS.")
    read: Seconds = Field(default=30, description="Of silence while an answer is waited for.")
    request: Seconds | None = Field(
        default=None,
        description="For one request with all its bytes, tries and redirects; absent: twice read.",
    )
    run: Annotated[Number, Field(gt=0, le=86_400)] = Field(
        default=3600, description="For one command, from its first request to the last."
    )


class PulsarDocument(_Registry):
    """A Pulsar cluster, by its admin REST service."""

    kind: Literal["pulsar"]
    url: Url = Field(description="The admin service's address, or ${ENV_VAR}.")
    authentication: AuthenticationDocument | None = None
    tls: TlsDocument = Field(default_factory=TlsDocument)
    timeouts: TimeoutsDocument = Field(default_factory=TimeoutsDocument)
    concurrency: Annotated[int, Field(ge=1, le=64)] = Field(
        default=8, description="Requests at the same time."
    )

    def model(self) -> PulsarConfig:
        """The same as a value of the model."""
        return PulsarConfig(
            url=self.url,
            authentication=self.authentication.model() if self.authentication else None,
            tls=self.tls.model(),
            connect_timeout=float(self.timeouts.connect),
            read_timeout=float(self.timeouts.read),
            request_timeout=float(self.timeouts.request or 2 * self.timeouts.read),
            run_timeout=float(self.timeouts.run),
            concurrency=self.concurrency,
            broker_defaults=self.broker_defaults.model(),
            namespaces=self.overrides(),
        )


class SafetyDocument(Document):
    """What one apply may do at most."""

    max_changed_share: Annotated[Number, Field(ge=0, le=1)] = Field(
        default=0.3, description="Share of the topics, 0 to 1."
    )
    min_topics: Annotated[int, Field(ge=0)] = Field(
        default=10, description="The share counts once so many topics are managed."
    )
    allow_deletions: bool = False

    def model(self) -> SafetyConfig:
        """The same as a value of the model."""
        return SafetyConfig(
            max_changed_share=float(self.max_changed_share),
            min_topics=self.min_topics,
            allow_deletions=self.allow_deletions,
        )


RegistryDocument = Annotated[EmbeddedDocument | PulsarDocument, Field(discriminator="kind")]
RegistryKey = Annotated[str, AfterValidator(_registry_name)]
RuleKey = Annotated[str, AfterValidator(_rule_id)]


class ConfigDocument(Document):
    """The repository's settings."""

    api_version: ApiVersion
    kind: Literal["Config"]
    default_registry: NonEmpty | None = Field(
        default=None, description="May be left out if there is one registry only."
    )
    registries: Annotated[dict[RegistryKey, RegistryDocument], Field(min_length=1)]
    safety: SafetyDocument = Field(default_factory=SafetyDocument)
    rules: dict[RuleKey, Literal["off", "info", "warning", "error"]] = Field(
        default_factory=dict, description="Other severities of rules, by their ids."
    )

    def registry_models(self) -> dict[str, RegistryConfig]:
        """The registries as values of the model, by name."""
        return {name: registry.model() for name, registry in self.registries.items()}
