"""The broker's rule for consumers, which is not the one for producers."""

from __future__ import annotations

from typing import Final

from gitops.broker import registration
from gitops.broker.lines.line import BrokerLine
from gitops.broker.registration import (
    CANDIDATE,
    INVALID,
    TOO_DEEP,
    refusal,
    register,
    unknown_type,
)
from gitops.model.decision import Decision, Gate, StoredHistory, StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo
from gitops.schemas.row import PayloadError
from gitops.schemas.strategies import End, LabelledSchema

AS_BACKWARD: Final = frozenset(
    {Strategy.BACKWARD, Strategy.FORWARD, Strategy.FULL, Strategy.FORWARD_TRANSITIVE}
)
"""Strategies that ask of a consumer only whether it reads the latest version (Pulsar 4.0.7)."""


def check_consumer(
    history: StoredHistory, candidate: SchemaInfo, strategy: Strategy, line: BrokerLine
) -> Decision:
    """A consumer with a schema on an active topic: nothing is validated, nothing is stored.

    Four strategies ask alike whether it reads the latest version; BACKWARD_TRANSITIVE and
    FULL_TRANSITIVE ask their own question of all versions, and ALWAYS_INCOMPATIBLE refuses even
    the registered schema (Pulsar 4.0.7).
    """
    try:
        stored = line.types.to_stored(candidate)
    except PayloadError as error:
        return Decision(accepted=False, status=500, reason=str(error), gate=Gate.PAYLOAD)
    except RecursionError:
        return TOO_DEEP
    return check_sent(history, stored, strategy, line)


def check_sent(
    history: StoredHistory, candidate: StoredSchema, strategy: Strategy, line: BrokerLine
) -> Decision:
    """The same for the bytes that a client sends."""
    strategy = Strategy.FULL if strategy is Strategy.UNDEFINED else strategy
    if unreadable := _unreadable(history, candidate, strategy, line):
        return Decision(accepted=False, status=500, reason=unreadable, gate=Gate.STRATEGY)
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        return Decision(accepted=True, gate=Gate.STRATEGY)
    if not history.entries:
        reason = "the topic is active and has no schema"
        return Decision(accepted=False, status=404, reason=reason, gate=Gate.FIRST)
    new = LabelledSchema(CANDIDATE, candidate)
    entries = [LabelledSchema(f"v{version}", schema) for version, schema in history.entries]
    try:
        if strategy in AS_BACKWARD:
            outcome = registration.check_latest(entries[-1], new, Strategy.BACKWARD, line)
        else:
            outcome = registration.check_all(entries, new, strategy, line)
    except RecursionError:
        return TOO_DEEP
    if outcome.end is End.COMPATIBLE:
        return Decision(accepted=True, gate=Gate.STRATEGY)
    return refusal(outcome)


def _unreadable(
    history: StoredHistory, candidate: StoredSchema, strategy: Strategy, line: BrokerLine
) -> str:
    """Why the broker fails on a type that its line does not know; or empty."""
    if not line.types.row_of(candidate.type).is_known:
        return f"{candidate.type.value} is a type that {line.name} does not support"
    only_latest = strategy in AS_BACKWARD or strategy is Strategy.ALWAYS_COMPATIBLE
    return unknown_type(history, line, only_latest=only_latest)


def subscribe(
    history: StoredHistory,
    candidate: SchemaInfo,
    strategy: Strategy,
    line: BrokerLine,
    *,
    idle: bool,
) -> Decision:
    """A consumer that connects: on an idle topic without a schema it registers its own.

    Idle is a topic without producers, other consumers and stored data. There brokers from 3.3 on
    drop the validator's refusal, and register nothing (Pulsar 4.0.7, 4.2.4; not 3.0.7).
    """
    if not idle or history.entries:
        return check_consumer(history, candidate, strategy, line)
    decision = register(history, candidate, strategy, line)
    return let_in(decision) if is_dropped(decision, line) else decision


def is_dropped(decision: Decision, line: BrokerLine) -> bool:
    """Whether the broker drops the refusal of a consumer on an idle topic."""
    refused = decision.gate is Gate.DATA and decision.status == INVALID
    return refused and line.invalid_consumers_connect


def let_in(decision: Decision) -> Decision:
    """The decision about a consumer whose refusal is dropped."""
    return Decision(accepted=True, gate=decision.gate)
