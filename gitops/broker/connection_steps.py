"""The broker's questions about a schema in words, as far as a decision went through them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitops.broker.connection import ConnectionPolicies, ConnectionTarget, Step
from gitops.broker.consumer_compatibility import AS_BACKWARD
from gitops.broker.registration import NOT_REGISTERED
from gitops.model.decision import Decision, Gate, StoredHistory, StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.strategies import TRANSITIVE

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
        return Step(question=question, answer="cannot be told", passed=False, why=decision.reason)
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
        return "every consumer is let in, whatever its schema"
    if not history.entries:
        return "the topic is in use without a schema, which only ALWAYS_COMPATIBLE gets over"
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
        question="May a producer come without a schema?",
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
