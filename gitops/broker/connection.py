"""What is asked about a client that connects, and the answer: policies, steps, and how they end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from gitops.model.clients import SchemalessClient
from gitops.model.decision import Decision, Gate, StoredHistory, StoredSchema
from gitops.model.names import TopicName
from gitops.model.policy import (
    BrokerDefaults,
    NamespacePolicies,
    SchemaCompatibilityStrategy,
    TopicPolicies,
    strategy_in_force,
)
from gitops.model.schema import SchemaType
from gitops.schemas.payload import as_kept

# The three policies that decide about clients, and who set each.

_OWN: Final = "Pulsar's own topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionPolicies:
    """What holds for the clients of a topic; `…_by` says who set it: topic, namespace, broker."""

    strategy: SchemaCompatibilityStrategy
    allows_auto_update: bool = True
    enforces_validation: bool = False
    strategy_by: str = "broker"
    auto_update_by: str = "broker"
    validation_by: str = "broker"


def connection_policies(
    topic: TopicName, own: TopicPolicies, namespace: NamespacePolicies, broker: BrokerDefaults
) -> ConnectionPolicies:
    """What a Pulsar 4.0.7 broker resolves for a client.

    The strategy as for a registration; isAllowAutoUpdateSchema of the namespace, else of the
    broker; schemaValidationEnforced of the broker if it is on there, which nobody can take back,
    else of the topic, else of the namespace. A system topic is ALWAYS_COMPATIBLE with auto-update
    on for its clients, whatever its namespace says; a registration by REST knows no such exception.
    """
    enforced, enforced_by = _enforced(own, namespace, broker)
    if topic.is_system:
        return ConnectionPolicies(
            strategy=SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE,
            strategy_by=_OWN,
            auto_update_by=_OWN,
            enforces_validation=enforced,
            validation_by=enforced_by,
        )
    strategy, strategy_by = strategy_in_force(own, namespace, broker)
    allowed = namespace.is_allow_auto_update_schema
    return ConnectionPolicies(
        strategy=strategy,
        strategy_by=strategy_by,
        allows_auto_update=broker.is_allow_auto_update_schema_enabled
        if allowed is None
        else allowed,
        auto_update_by="broker" if allowed is None else "namespace",
        enforces_validation=enforced,
        validation_by=enforced_by,
    )


def _enforced(
    own: TopicPolicies, namespace: NamespacePolicies, broker: BrokerDefaults
) -> tuple[bool, str]:
    if broker.is_schema_validation_enforced:
        return True, "broker"
    if own.schema_validation_enforced is not None:
        return own.schema_validation_enforced, "topic"
    # A namespace always says something: false is what it says unless it was told otherwise.
    return bool(namespace.schema_validation_enforced), "namespace"


# What is asked about a client, and the answer: steps, and how they end.


Role = Literal["producer", "consumer"]
Offer = StoredSchema | SchemalessClient
"""What the application gives its client: a schema, or one of those that have none of their own."""

TopicUse = Literal["idle", "active"]
"""Idle is a topic without producers, without consumers other than AUTO_CONSUME, without data."""

Request = Literal["connect", "getOrCreateSchema"]
ClientError = Literal["IncompatibleSchema", "UnknownError", "Timeout"]

PULSAR: Final = "4.0.7"
"""The broker whose behaviour the steps tell."""

NO_SCHEMA: Final = frozenset({SchemaType.NONE, SchemaType.BYTES})
"""Types that client libraries do not send, and that the broker takes for no schema."""

_WITH_INCOMPATIBLE_SCHEMA: Final = (404, 409, 422)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionTarget:
    """The topic that a client wants to connect to.

    `use` is None where nobody knows; idle is assumed then, and said.
    """

    history: StoredHistory
    policies: ConnectionPolicies
    use: TopicUse | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One question of the decision: its answer, whether it goes on from there, and why."""

    question: str
    answer: str
    passed: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The decision about one client, or about one further schema of a producer.

    `sent` is the schema that reaches the broker, None for none. `decision` is the last gate's:
    its version is the one that a producer's messages carry, or the one that a consumer seeds the
    topic with or has the schema of; None where there is no such version. `notes` are what follows
    later, or would follow if an assumption were wrong.
    """

    role: Role
    request: Request = "connect"
    sent: StoredSchema | None
    decision: Decision
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the client is let in."""
        return self.decision.accepted

    @property
    def version(self) -> int | None:
        """The version that the decision names."""
        return self.decision.version

    @property
    def registers(self) -> bool:
        """Whether connecting stores a new version."""
        return self.accepted and self.version is not None and not self.decision.known

    @property
    def error(self) -> ClientError | None:
        """The error that the client gets, None if it is let in.

        What the broker does not expect is an UnknownError, on which clients try again until their
        operation timeout. It does not even answer a producer whose definition makes the validator
        fail instead of refuse, so that the client runs into its timeout (Pulsar 4.0.7).
        """
        if self.accepted:
            return None
        if self.decision.status in _WITH_INCOMPATIBLE_SCHEMA:
            return "IncompatibleSchema"
        producer = (self.role, self.request) == ("producer", "connect")
        return "Timeout" if producer and self.decision.gate is Gate.DATA else "UnknownError"

    def history_after(self, before: StoredHistory) -> StoredHistory:
        """The topic's history once the client is connected."""
        if not self.registers or self.sent is None or self.version is None:
            return before
        return StoredHistory(
            entries=(*before.entries, (self.version, as_kept(self.sent))),
            next_version=self.version + 1,
        )
