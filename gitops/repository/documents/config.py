"""`gitops.yaml`: registries, safety limits, severities of rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from pydantic import AfterValidator, Field

from gitops.model.config import RegistryConfig, SafetyConfig
from gitops.model.rules import RULES
from gitops.repository.documents.base import ApiVersion, Document, NonEmpty, Number, problem
from gitops.repository.documents.registry_kinds import any_document
from gitops.repository.documents.registry_settings import RegistryDocument
from gitops.repository.shipped_files import guess_rule

_FIXED: Final = {
    "REPO-": (
        "a file that cannot be read cannot be checked",
        "remove this line, and correct what the finding is about",
    ),
    "PLAN-": (
        "the change cannot be made",
        "remove this line; `pulsar-gitops explain` with the id helps",
    ),
    "": (
        "Pulsar refuses the schema, whatever is written here",
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
        meant = guess_rule(text)
        hint = f"did you mean {meant}?" if meant else "`pulsar-gitops explain` lists all rules"
        raise problem("REPO-R011", f"unknown rule '{text}'", hint)
    if not RULES[text].configurable:
        why, hint = next(words for start, words in _FIXED.items() if text.startswith(start))
        raise problem("REPO-R012", f"{text} always is an error: {why}", hint)
    return text


class SafetyDocument(Document):
    """What one apply may do at most."""

    max_changed_share: Annotated[Number, Field(ge=0, le=1)] = Field(
        default=0.3, description="Share of the topics, 0 to 1."
    )
    min_topics: Annotated[int, Field(ge=0)] = Field(
        default=10, description="The share applies once so many topics are managed."
    )
    allow_deletions: bool = False

    def model(self) -> SafetyConfig:
        """The same as a value of the model."""
        return SafetyConfig(
            max_changed_share=float(self.max_changed_share),
            min_topics=self.min_topics,
            allow_deletions=self.allow_deletions,
        )


if TYPE_CHECKING:
    AnyRegistry = RegistryDocument
else:
    AnyRegistry = any_document()
RegistryKey = Annotated[str, AfterValidator(_registry_name)]
RuleKey = Annotated[str, AfterValidator(_rule_id)]


class ConfigDocument(Document):
    """The repository's settings."""

    has_secrets: ClassVar[bool] = True

    api_version: ApiVersion
    kind: Literal["Config"]
    default_registry: NonEmpty | None = Field(
        default=None, description="May be left out if there is one registry only."
    )
    registries: Annotated[dict[RegistryKey, AnyRegistry], Field(min_length=1)]
    groups: dict[RegistryKey, Annotated[list[NonEmpty], Field(min_length=1)]] = Field(
        default_factory=dict, description="Names for several registries, for `plan --registry`."
    )
    safety: SafetyDocument = Field(default_factory=SafetyDocument)
    rules: dict[RuleKey, Literal["off", "info", "warning", "error"]] = Field(
        default_factory=dict, description="Other severities of rules, by their ids."
    )

    def registry_models(self) -> dict[str, RegistryConfig]:
        """The registries as values of the model, by name."""
        return {name: registry.model() for name, registry in self.registries.items()}
