"""Schema policies of topics, namespaces and brokers, and which strategy holds in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum

from gitops.model.schema import SchemaType


class SchemaCompatibilityStrategy(Enum):
    """Pulsar's SchemaCompatibilityStrategy."""

    UNDEFINED = "UNDEFINED"
    ALWAYS_INCOMPATIBLE = "ALWAYS_INCOMPATIBLE"
    ALWAYS_COMPATIBLE = "ALWAYS_COMPATIBLE"
    BACKWARD = "BACKWARD"
    FORWARD = "FORWARD"
    FULL = "FULL"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"


class UpgradeFirst(Enum):
    """Which clients may take a new schema into use first; the value is what people read."""

    CONSUMERS = "consumers"
    PRODUCERS = "producers"
    ANY_ORDER = "any order"
    NOBODY = "nobody"


def upgrade_first(strategy: SchemaCompatibilityStrategy) -> UpgradeFirst:
    """What Pulsar's documentation says of a strategy; UNDEFINED counts as FULL.

    It follows from the strategy alone. Which of the declared clients can really read which is
    another question.
    """
    match strategy:
        case SchemaCompatibilityStrategy.BACKWARD | SchemaCompatibilityStrategy.BACKWARD_TRANSITIVE:
            return UpgradeFirst.CONSUMERS
        case SchemaCompatibilityStrategy.FORWARD | SchemaCompatibilityStrategy.FORWARD_TRANSITIVE:
            return UpgradeFirst.PRODUCERS
        case SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE:
            return UpgradeFirst.NOBODY
        case _:
            return UpgradeFirst.ANY_ORDER


class SchemaAutoUpdateCompatibilityStrategy(Enum):
    """The legacy namespace setting, which counts where the newer one is UNDEFINED."""

    AUTO_UPDATE_DISABLED = "AutoUpdateDisabled"
    BACKWARD = "Backward"
    FORWARD = "Forward"
    FULL = "Full"
    ALWAYS_COMPATIBLE = "AlwaysCompatible"
    BACKWARD_TRANSITIVE = "BackwardTransitive"
    FORWARD_TRANSITIVE = "ForwardTransitive"
    FULL_TRANSITIVE = "FullTransitive"

    @property
    def strategy(self) -> SchemaCompatibilityStrategy:
        """The strategy it stands for (Pulsar 4.0.7: disabled is ALWAYS_INCOMPATIBLE)."""
        if self is SchemaAutoUpdateCompatibilityStrategy.AUTO_UPDATE_DISABLED:
            return SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE
        return SchemaCompatibilityStrategy[self.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespacePolicies:
    """A namespace's schema policies; None: not set (observed) or not managed (desired)."""

    schema_compatibility_strategy: SchemaCompatibilityStrategy | None = None
    is_allow_auto_update_schema: bool | None = None
    schema_validation_enforced: bool | None = None
    schema_auto_update_compatibility_strategy: SchemaAutoUpdateCompatibilityStrategy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPolicies:
    """A topic's own schema policies; None: not set (observed) or not managed (desired)."""

    schema_compatibility_strategy: SchemaCompatibilityStrategy | None = None
    schema_validation_enforced: bool | None = None


Policies = NamespacePolicies | TopicPolicies
PolicyValue = SchemaCompatibilityStrategy | SchemaAutoUpdateCompatibilityStrategy | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long messages stay that all subscriptions have acknowledged; -1 is without a limit.

    Neither counts where one is 0: then no such message stays (Pulsar 4.0.7).
    """

    minutes: int = 0
    megabytes: int = 0

    @property
    def keeps_messages(self) -> bool:
        """Whether any message stays."""
        return self.minutes != 0 and self.megabytes != 0


NO_RETENTION = Retention()
"""Pulsar's default."""


DEFAULT_RELEASE = "4.0"
"""The broker line where nobody names one."""


class SettingSource(Enum):
    """Where a setting of a broker is from; the value is what people read.

    LEARNED is from the broker's configuration, PROBED from what a namespace shows of it.

    ASSUMED is Pulsar's default for a broker that may have another value. DEFAULT is the same for
    one that has no other, such as the embedded registry.
    """

    OPTION = "--as-if-broker"
    NAMED = "--broker"
    LEARNED = "learned"
    PROBED = "probed"
    RECORDED = "snapshot"
    GIVEN = "gitops.yaml"
    ASSUMED = "assumed"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRemark:
    """What is wrong about one setting of a broker; `key` is its name in broker.conf."""

    key: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """The release of a broker and its broker.conf; the defaults are Pulsar's own.

    `release` is a broker line (`4.2`) or a version of one (`4.2.4`). `sources` says where each
    value is from, by the name of its field. `limits` are whole sentences on why some are assumed,
    `conflicts` are values of gitops.yaml that the broker contradicts, and `doubts` are what
    decisions do not take into account. `other_releases` are those of brokers that the same cluster
    has beside the one that decides, oldest first. `types_without_checker` are those whose default
    checker broker.conf leaves out, so that the broker compares no two of their schemas.
    `default_retention` is None where it is not known; no decision about a schema rests on it, nor
    on `deletes_inactive_topics`: whether brokers delete topics that nobody uses, None if not known.
    `is_unanswered`: a broker that was asked failed, or gave no answer; later it may tell more.
    `has_policy_topics`: it is known that policies of topics are kept in one topic of a namespace.
    """

    release: str = DEFAULT_RELEASE
    schema_compatibility_strategy: SchemaCompatibilityStrategy = SchemaCompatibilityStrategy.FULL
    is_allow_auto_update_schema_enabled: bool = True
    is_schema_validation_enforced: bool = False
    schema_json_allow_legacy_jackson_format: bool = False
    system_topic_schema_compatibility_strategy: SchemaCompatibilityStrategy = (
        SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE
    )
    types_without_checker: tuple[SchemaType, ...] = ()
    sources: Mapping[str, SettingSource] = field(default_factory=dict, compare=False)
    limits: tuple[str, ...] = field(default=(), compare=False)
    conflicts: tuple[SettingRemark, ...] = field(default=(), compare=False)
    doubts: tuple[SettingRemark, ...] = field(default=(), compare=False)
    other_releases: tuple[str, ...] = field(default=(), compare=False)
    default_retention: Retention | None = field(default=NO_RETENTION, compare=False)
    deletes_inactive_topics: bool | None = field(default=None, compare=False)
    is_unanswered: bool = field(default=False, compare=False)
    has_policy_topics: bool = field(default=False, compare=False)

    def source(self, name: str) -> SettingSource:
        """Where the value of a field is from."""
        return self.sources.get(name, SettingSource.DEFAULT)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """One key that differs; `key` is Pulsar's camelCase name."""

    key: str
    before: PolicyValue
    after: PolicyValue


def camel_case(snake: str) -> str:
    """`schema_validation_enforced` → `schemaValidationEnforced`."""
    head, *rest = snake.split("_")
    return head + "".join(word.capitalize() for word in rest)


def managed_items(policies: Policies) -> tuple[tuple[str, PolicyValue], ...]:
    """The keys (camelCase) that are set, with their values, in the order of declaration."""
    return tuple(
        (camel_case(f.name), value)
        for f in fields(policies)
        if (value := getattr(policies, f.name)) is not None
    )


def is_unset(key: str, value: PolicyValue) -> bool:
    """Whether a value says no more than its absence.

    A Pulsar 4.0.7 broker spells out UNDEFINED for a new namespace's strategy, and answers false
    for schemaValidationEnforced wherever it was never set.
    """
    if value is None or value is SchemaCompatibilityStrategy.UNDEFINED:
        return True
    return key == "schemaValidationEnforced" and value is False


def is_same_value(key: str, left: PolicyValue, right: PolicyValue) -> bool:
    """Whether two values of a key say the same, though one may be absent and the other unset."""
    return left == right or (is_unset(key, left) and is_unset(key, right))


def effective_strategy(
    topic: TopicPolicies, namespace: NamespacePolicies, broker: BrokerSettings
) -> SchemaCompatibilityStrategy:
    """The strategy of `strategy_in_force`."""
    return strategy_in_force(topic, namespace, broker)[0]


def strategy_in_force(
    topic: TopicPolicies, namespace: NamespacePolicies, broker: BrokerSettings
) -> tuple[SchemaCompatibilityStrategy, str]:
    """Topic, else namespace, else the legacy setting, else the broker's; UNDEFINED never counts.

    Also says who set it. Pulsar 4.0.7, as POST …/schema resolves it and as a topic does for its
    clients; broker.conf unset or UNDEFINED means FULL.
    """
    legacy = namespace.schema_auto_update_compatibility_strategy
    chain = (
        (topic.schema_compatibility_strategy, "topic"),
        (namespace.schema_compatibility_strategy, "namespace"),
        (legacy.strategy if legacy else None, "namespace, by the legacy setting"),
        (broker.schema_compatibility_strategy, "broker"),
    )
    for strategy, by in chain:
        if strategy is not None and strategy is not SchemaCompatibilityStrategy.UNDEFINED:
            return strategy, by
    return SchemaCompatibilityStrategy.FULL, "broker"


def snake_case(camel: str) -> str:
    """`schemaValidationEnforced` → `schema_validation_enforced`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in camel)


def value_text(value: PolicyValue) -> str | bool | None:
    """A policy's value as JSON has it."""
    return value if value is None or isinstance(value, bool) else value.value


def plain_policies(policies: Policies) -> dict[str, str | bool | None]:
    """The keys that are set, in camelCase, with their values as JSON and YAML have them."""
    return {key: value_text(value) for key, value in managed_items(policies)}
