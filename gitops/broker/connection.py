"""What is asked about a client that connects: policies, steps, and how they end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from gitops.broker.consumer_compatibility import AS_BACKWARD
from gitops.broker.lines.line import BrokerLine
from gitops.broker.registration import NOT_REGISTERED
from gitops.model.clients import SchemalessClient
from gitops.model.decision import Decision, Gate, StoredHistory, StoredSchema
from gitops.model.names import TopicName
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    SchemaCompatibilityStrategy,
    TopicPolicies,
    strategy_in_force,
)
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaType
from gitops.schemas.payload import to_stored_type
from gitops.schemas.strategies import TRANSITIVE

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
    topic: TopicName, own: TopicPolicies, namespace: NamespacePolicies, broker: BrokerSettings
) -> ConnectionPolicies:
    """What a Pulsar 4.0.7 broker resolves for a client.

    The strategy as for a registration; isAllowAutoUpdateSchema of the namespace, else of the
    broker; schemaValidationEnforced of the broker if it is on there, which nobody can take back,
    else of the topic, else of the namespace. A system topic has the broker's strategy for such
    topics, with auto-update on for its clients, whatever its namespace says; a registration by
    REST knows no such exception.
    """
    enforced, enforced_by = _enforced(own, namespace, broker)
    if topic.is_system:
        return ConnectionPolicies(
            strategy=broker.system_topic_schema_compatibility_strategy,
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
    own: TopicPolicies, namespace: NamespacePolicies, broker: BrokerSettings
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
ClientError = Literal[
    "IncompatibleSchema", "NotAllowedError", "UnknownError", "Timeout", "ClientFailure"
]
"""What the client gets; on a ClientFailure it does not even ask the broker."""

NO_SCHEMA: Final = frozenset({SchemaType.NONE, SchemaType.BYTES})
"""Types that client libraries do not send, and that the broker takes for no schema."""

_NOT_ALLOWED_STATUS: Final = 405
_WITH_INCOMPATIBLE_SCHEMA: Final = (404, 409, 422)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionTarget:
    """The topic that a client wants to connect to.

    `use` is None where nobody knows; idle is assumed then, and said.
    """

    history: StoredHistory
    policies: ConnectionPolicies
    line: BrokerLine
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
    later, or would follow if an assumption were wrong. `fails_in_client`: the client's library
    fails before the broker is asked.
    """

    role: Role
    request: Request = "connect"
    sent: StoredSchema | None
    decision: Decision
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    fails_in_client: bool = False

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
        if self.fails_in_client:
            return "ClientFailure"
        if self.decision.status == _NOT_ALLOWED_STATUS:
            return "NotAllowedError"
        if self.decision.status in _WITH_INCOMPATIBLE_SCHEMA:
            return "IncompatibleSchema"
        producer = (self.role, self.request) == ("producer", "connect")
        return "Timeout" if producer and self.decision.gate is Gate.DATA else "UnknownError"

    def history_after(self, before: StoredHistory) -> StoredHistory:
        """The topic's history once the client is connected."""
        if not self.registers or self.sent is None or self.version is None:
            return before
        return StoredHistory(
            entries=(*before.entries, (self.version, to_stored_type(self.sent))),
            next_version=self.version + 1,
        )


def refuse_transaction_topic(topic: TopicName, role: Role) -> Admission:
    """The answer to every client of a topic that brokers keep for transactions (Pulsar 4.0.7)."""
    reason = f"Can not create transaction system topic persistent://{topic}"
    step = Step(
        question="May clients use the topic?",
        answer="no",
        passed=False,
        why="brokers keep topics of this name for transactions",
    )
    return Admission(
        role=role,
        sent=None,
        decision=Decision(accepted=False, status=_NOT_ALLOWED_STATUS, reason=reason),
        steps=(step,),
    )


# The broker's questions about a schema in words, as far as a decision went through them.


NOT_ALLOWED: Final = "Schema not found and schema auto updating is disabled."
SCHEMALESS: Final = (
    "Producers cannot connect or send message without a schema to topics with a schema "
    "when SchemaValidationEnforced is enabled"
)
ACTIVE: Final = "Failed to add schema to an active topic with empty(BYTES) schema: new schema type"

_IN_WORDS: Final = {
    Strategy.ALWAYS_COMPATIBLE: "nothing is compared",
    Strategy.ALWAYS_INCOMPATIBLE: "no other schema is allowed",
    Strategy.BACKWARD: "the new schema must read what {} writes",
    Strategy.FORWARD: "{} must read what the new schema writes",
    Strategy.FULL: "{} and the new schema must read each other",
    Strategy.BACKWARD_TRANSITIVE: "the new schema must read what each of {} writes",
    Strategy.FORWARD_TRANSITIVE: "each of {} must read what the new schema writes",
    Strategy.FULL_TRANSITIVE: "each of {} and the new schema must read each other",
}


def has_schema(history: StoredHistory) -> Step:
    """Whether the topic has a live schema."""
    return Step(question="Does the topic have a schema?", answer=_versions(history))


def registration_steps(
    decision: Decision, place: ConnectionTarget, sent: StoredSchema
) -> Iterator[Step]:
    """Auto-update, and the gates of a registration up to the one that decided."""
    policies = place.policies
    allowed = policies.allows_auto_update
    yield Step(
        question="May clients register schemas here?",
        answer="yes" if allowed else "no",
        why=f"{_said('isAllowAutoUpdateSchema', allowed, policies.auto_update_by)}"
        + ("" if allowed else ": only a registered one passes, not even a first one"),
    )
    if allowed:
        yield _data(decision, sent)
        if decision.gate is Gate.DATA:
            return
    if not place.history.entries and allowed:
        yield _first(policies)
        return
    yield _equal(decision, place, allowed=allowed)
    if decision.gate is Gate.STRATEGY:
        yield _strategy(decision, place)


def _data(decision: Decision, sent: StoredSchema) -> Step:
    good = decision.gate is not Gate.DATA
    return Step(
        question=f"Is its definition valid for {sent.type.value}?",
        answer="yes" if good else "no",
        passed=good,
        why="asked first, also of a schema that is registered" if good else decision.reason,
    )


def _first(policies: ConnectionPolicies) -> Step:
    return Step(
        question="Is it the topic's first schema?",
        answer="yes",
        why=f"the first passes under every strategy, here {_held(policies)}",
    )


def _equal(decision: Decision, place: ConnectionTarget, *, allowed: bool) -> Step:
    question = "Is the schema registered already?"
    if decision.gate is not Gate.EQUALITY:
        return Step(question=question, answer="no")
    if decision.known:
        latest = place.history.entries[-1][0]
        newer = "" if decision.version == latest else f", and v{latest} stays the latest"
        why = f"the strategy is not asked{newer}"
        return Step(question=question, answer=f"yes, as v{decision.version}", why=why)
    if decision.status != NOT_REGISTERED:
        return Step(question=question, answer="unknown", passed=False, why=decision.reason)
    why = f"it has {_versions(place.history)}" if not allowed and place.history.entries else ""
    return Step(question=question, answer="no", passed=False, why=why)


def _strategy(decision: Decision, place: ConnectionTarget) -> Step:
    strategy = place.policies.strategy
    return Step(
        question=f"Does {strategy.value} allow it?",
        answer="yes" if decision.accepted else "no",
        passed=decision.accepted,
        why=f"{_held(place.policies)}: {rule_of(strategy, place.history)}",
    )


def check_step(decision: Decision, place: ConnectionTarget) -> Step:
    """The question that a broker asks of a consumer on a topic that is not idle."""
    strategy = place.policies.strategy
    return Step(
        question=f"Does {strategy.value} let such a consumer in?",
        answer="yes" if decision.accepted else "no",
        passed=decision.accepted,
        why=f"{_held(place.policies)}: {_rule_of_consumers(strategy, place.history)}",
    )


def rule_of(strategy: Strategy, history: StoredHistory) -> str:
    """What a strategy demands of a candidate, in words."""
    compared = _all(history) if strategy in TRANSITIVE else _latest(history)
    return _IN_WORDS[strategy].format(compared)


def _rule_of_consumers(strategy: Strategy, history: StoredHistory) -> str:
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        return "every consumer is accepted, whatever its schema"
    if not history.entries:
        return "the topic is in use without a schema, which only ALWAYS_COMPATIBLE accepts"
    if strategy is Strategy.ALWAYS_INCOMPATIBLE:
        return "every consumer with a schema is refused, the registered one included"
    if strategy is Strategy.FULL_TRANSITIVE:
        return f"it and each of {_all(history)} must read each other"
    if strategy not in AS_BACKWARD:
        return f"it must read each of {_all(history)}"
    other = "" if strategy is Strategy.BACKWARD else ", and no more: consumers are asked BACKWARD"
    return f"it must read {_latest(history)}{other}"


def _held(policies: ConnectionPolicies) -> str:
    return f"{policies.strategy.value} ({policies.strategy_by})"


def _said(key: str, value: bool, by: str) -> str:  # noqa: FBT001 - the value of the policy
    return f"{key} is {str(value).lower()} ({by})"


def validation_step(policies: ConnectionPolicies) -> Step:
    """Whether a producer may come without a schema to a topic that has one."""
    enforced = policies.enforces_validation
    return Step(
        question="May a producer connect without a schema?",
        answer="no" if enforced else "yes",
        passed=not enforced,
        why=_said("schemaValidationEnforced", enforced, policies.validation_by),
    )


def _versions(history: StoredHistory) -> str:
    return _all(history) if history.entries else "no"


def _latest(history: StoredHistory) -> str:
    return f"v{history.entries[-1][0]}" if history.entries else "the latest version"


def _all(history: StoredHistory) -> str:
    first, last = history.entries[0][0], history.entries[-1][0]
    return f"v{last}" if first == last else f"v{first} to v{last}"
