"""The gates that a schema passes on its way into the registry, and who compares it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.model.decision import Decision, Gate, StoredHistory, StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.row import InvalidSchemaDataError, PayloadError
from gitops.schemas.strategies import (
    COMPATIBLE,
    TRANSITIVE,
    End,
    LabelledSchema,
    Outcome,
    check_types,
)


def check_latest(
    latest: LabelledSchema, candidate: LabelledSchema, strategy: Strategy, line: BrokerLine
) -> Outcome:
    """Against the latest version: type, then bytes, then the type's checker (Pulsar 4.0.7)."""
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        return COMPATIBLE
    if outcome := check_types([latest], candidate):
        return outcome
    if latest.schema.data == candidate.schema.data:
        return COMPATIBLE
    return line.types.check_latest(latest, candidate, strategy)


def check_all(
    existing: Sequence[LabelledSchema],
    candidate: LabelledSchema,
    strategy: Strategy,
    line: BrokerLine,
) -> Outcome:
    """Against the whole live history; Java's exceptions count as incompatible (Pulsar 4.0.7)."""
    outcome = check_types(existing, candidate) or line.types.checker_of(candidate.schema.type)(
        existing, candidate, strategy
    )
    if outcome.end is not End.CRASHED:
        return outcome
    return replace(outcome, end=End.INCOMPATIBLE)


def unknown_type(history: StoredHistory, line: BrokerLine, *, only_latest: bool = False) -> str:
    """Which version has a type that the line does not know, so that nothing is read; or empty.

    The store of Pulsar 4.0.7 reads every entry of a topic, those before a tombstone too, and fails
    on EXTERNAL of a 4.2 broker. What needs only the latest version reads only that.
    """
    end = f"a type that {line.name} does not support"
    for version, schema in history.entries[-1:] if only_latest else history.entries:
        if not line.types.row_of(schema.type).is_known:
            return f"v{version} is {schema.type.value}, {end}"
    deleted_types = () if only_latest else history.deleted_types
    for schema_type in deleted_types:
        if not line.types.row_of(schema_type).is_known:
            return f"a deleted version is {schema_type.value}, {end}"
    return ""


CANDIDATE: Final = "candidate"
NOT_REGISTERED: Final = 409
INVALID: Final = 422
TOO_DEEP: Final = Decision(
    accepted=False, status=500, reason="the definition nests too deep: the broker fails on it"
)
"""Where a decision needs more stack than there is.

Thousands of records in a chain overflow Java's stack, too, and the broker answers 500 (Pulsar
4.0.7); the exact number depends on its JVM.
"""
_STATUS: Final = {End.INCOMPATIBLE: 409, End.CRASHED: 500, End.OVERFLOWED: 500}


def register(
    history: StoredHistory, candidate: SchemaInfo, strategy: Strategy, line: BrokerLine
) -> Decision:
    """What POST …/schema answers, and a producer with auto-update on (Pulsar 4.0.7).

    In this order: the text is converted, its data validated, an equal version looked for, and
    only then the strategy asked; the first schema of a history passes under every strategy.
    UNDEFINED counts as FULL.
    """
    try:
        stored = line.types.to_stored(candidate)
    except PayloadError as error:
        return _refused(Gate.PAYLOAD, 500, str(error))
    except RecursionError:
        return TOO_DEEP
    return register_sent(history, stored, strategy, line)


def register_sent(
    history: StoredHistory, candidate: StoredSchema, strategy: Strategy, line: BrokerLine
) -> Decision:
    """The gates behind conversion: a client sends the bytes themselves."""
    try:
        line.types.validate(candidate)
        equal = find_registered(history, candidate, line)
        if equal.accepted or equal.status != NOT_REGISTERED:
            return equal
        if not history.entries:
            return Decision(accepted=True, version=history.next_version, gate=Gate.FIRST)
        outcome = check(history, candidate, strategy, line)
    except InvalidSchemaDataError as error:
        return _refused(Gate.DATA, error.status, str(error))
    except RecursionError:
        return TOO_DEEP
    if outcome.end is End.COMPATIBLE:
        return Decision(accepted=True, version=history.next_version, gate=Gate.STRATEGY)
    return refusal(outcome)


def find_registered(history: StoredHistory, candidate: StoredSchema, line: BrokerLine) -> Decision:
    """The version of a schema that equals it; without one refused as while auto-update is off.

    Nothing is validated, so that a producer may send what a registration would not accept, and an
    empty history refuses even a first schema (Pulsar 4.0.7).
    """
    try:
        if unreadable := unknown_type(history, line):
            return _refused(Gate.EQUALITY, 500, unreadable)
        version = line.types.find_equal(history.entries, candidate)
    except AvroParseError as error:
        return _refused(Gate.EQUALITY, 500, _poisoned(history, error, line))
    except RecursionError:
        return TOO_DEEP
    if version is not None:
        return Decision(accepted=True, version=version, known=True, gate=Gate.EQUALITY)
    return _refused(Gate.EQUALITY, NOT_REGISTERED, "the topic has no such schema")


def compatible(
    history: StoredHistory, candidate: SchemaInfo, strategy: Strategy, line: BrokerLine
) -> Decision:
    """What POST …/compatibility answers: no equality, so it can differ from `register`.

    Under a transitive strategy the checker runs on an empty history as well (Pulsar 4.0.7).
    """
    try:
        stored = line.types.to_stored(candidate)
        line.types.validate(stored)
        needs_latest = strategy not in (*TRANSITIVE, Strategy.ALWAYS_COMPATIBLE)
        if needs_latest and not (history.entries or line.tests_first_schemas):
            return _refused(Gate.STRATEGY, 500, "Do not have existing schema.")
        outcome = check(history, stored, strategy, line)
    except PayloadError as error:
        return _refused(Gate.PAYLOAD, 500, str(error))
    except InvalidSchemaDataError as error:
        return _refused(Gate.DATA, 500, str(error))
    except RecursionError:
        return TOO_DEEP
    if outcome.end is End.COMPATIBLE:
        return Decision(accepted=True)
    # The endpoint never answers "false": whatever stands against it is a server error.
    return replace(refusal(outcome), status=500)


def check(
    history: StoredHistory, candidate: StoredSchema, strategy: Strategy, line: BrokerLine
) -> Outcome:
    """The strategy's question: against the latest version, or against all."""
    strategy = Strategy.FULL if strategy is Strategy.UNDEFINED else strategy
    needs_all = strategy in TRANSITIVE
    unreadable = unknown_type(history, line, only_latest=not needs_all)
    if unreadable and strategy is not Strategy.ALWAYS_COMPATIBLE:
        return Outcome(end=End.CRASHED, reason=unreadable)
    entries = [LabelledSchema(f"v{version}", schema) for version, schema in history.entries]
    new = LabelledSchema(CANDIDATE, candidate)
    if needs_all:
        return check_all(entries, new, strategy, line)
    if not entries:
        return Outcome(end=End.COMPATIBLE)
    return check_latest(entries[-1], new, strategy, line)


def refusal(outcome: Outcome) -> Decision:
    """The refusal that a failed check stands for."""
    return Decision(
        accepted=False,
        status=_STATUS[outcome.end],
        reason=outcome.reason,
        incompatibilities=outcome.incompatibilities,
        gate=Gate.STRATEGY,
    )


def _refused(gate: Gate, status: int, reason: str) -> Decision:
    return Decision(accepted=False, status=status, reason=reason, gate=gate)


def _poisoned(history: StoredHistory, error: AvroParseError, line: BrokerLine) -> str:
    for version, entry in history.entries:
        try:
            line.types.read_definition(entry)
        except AvroParseError as broken:
            return (
                f"v{version} of this topic is not a valid schema ({broken}); the broker fails on "
                "every further one until the topic's schema is deleted"
            )
        except RecursionError:
            break
    return f"the candidate is not a valid schema: {error}"


def find_version(history: StoredHistory, candidate: SchemaInfo, line: BrokerLine) -> int | None:
    """What POST …/version answers (None: -1); raises PayloadError, also for an unknown type.

    It compares type and raw bytes, also of Avro definitions, so it disagrees with a registration
    about white space (Pulsar 4.0.7).
    """
    wanted = line.types.to_stored(candidate)
    if unreadable := unknown_type(history, line):
        raise PayloadError(unreadable)
    for version, entry in history.entries:
        if (entry.type, entry.data) == (wanted.type, wanted.data):
            return version
    return None
