"""What a rollout starts from and leads to: topics, and the services that use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gitops.broker.lines.line import BrokerLine
from gitops.model.clients import ClientLanguage, SchemalessClient
from gitops.model.decision import StoredHistory
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rollout import Role
from gitops.model.schema import SchemaInfo

UsedSchema = SchemaInfo | SchemalessClient
"""What a client works with; the version that it is pinned to has been looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One service on one side of one topic; several schemas where it has several kinds of event.

    `language` is None where its manifest does not say it: then it reads as Java does.
    """

    topic: TopicName
    role: Role
    schemas: tuple[UsedSchema, ...]
    language: ClientLanguage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What runs now and what runs after its upgrade, which happens once and whole.

    `assumed`: nobody declared the upgrade; it is to the schema that the change gives its topics.
    """

    name: str
    before: tuple[Use, ...]
    after: tuple[Use, ...]
    assumed: bool = False

    @property
    def changes(self) -> bool:
        """Whether it upgrades at all."""
        return self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The policies of a topic by which clients are let in."""

    strategy: SchemaCompatibilityStrategy = SchemaCompatibilityStrategy.FULL
    is_schema_validation_enforced: bool = False
    allows_auto_update: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicModel:
    """A topic's live versions, what is registered after them in this order, and its policies.

    `earlier` are the policies that hold until the change is applied, where they are others.
    `deleted`: the topic's schema goes away once nobody uses it.
    """

    topic: TopicName
    history: StoredHistory
    line: BrokerLine
    new: tuple[SchemaInfo, ...] = ()
    strategy: SchemaCompatibilityStrategy = SchemaCompatibilityStrategy.FULL
    is_schema_validation_enforced: bool = False
    allows_auto_update: bool = False
    earlier: Rules | None = None
    deleted: bool = False

    @property
    def before(self) -> TopicModel:
        """The topic as its clients find it now."""
        if self.earlier is None:
            return self
        return replace(
            self,
            strategy=self.earlier.strategy,
            is_schema_validation_enforced=self.earlier.is_schema_validation_enforced,
            allows_auto_update=self.earlier.allows_auto_update,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutModel:
    """All topics that a change touches, and all services that use one of them."""

    topics: Mapping[TopicName, TopicModel] = field(default_factory=dict)
    services: tuple[Service, ...] = ()
