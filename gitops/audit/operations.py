"""What a broker line answers to every operation on a topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gitops.audit.evolution import evolved_schema
from gitops.audit.topic import AuditedTopic
from gitops.broker.connection import ConnectionTarget
from gitops.broker.consumer_compatibility import check_sent
from gitops.broker.lines.line import BrokerLine
from gitops.broker.producer_connection import decide
from gitops.broker.registration import compatible, register, unknown_type
from gitops.model.audit import Asked, Difference, Operation
from gitops.model.decision import Decision, StoredHistory, StoredSchema
from gitops.model.schema import SchemaInfo
from gitops.schemas.key_value.parser import known_halves
from gitops.schemas.payload import PayloadError, to_info
from gitops.schemas.row import DefinitionForm, UndecodableError

Answers = Mapping[Asked, Decision]

_READ = Decision(accepted=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A schema that is sent again, or a new one (`version` is None)."""

    version: int | None
    sent: StoredSchema
    info: SchemaInfo


def differences(topic: AuditedTopic, target: BrokerLine) -> tuple[Difference, ...]:
    """The operations that the target line accepts and the present one not, or the reverse."""
    if _are_read_alike(topic, target):
        return ()
    asked = candidates(topic)
    before = answers(topic, topic.line, asked)
    after = answers(topic, target, asked)
    return tuple(
        Difference(operation=operation, version=version, before=old, after=new)
        for (operation, version), old in before.items()
        if (new := after[operation, version]).accepted is not old.accepted
    )


def _are_read_alike(topic: AuditedTopic, target: BrokerLine) -> bool:
    """Whether every version is the same to both lines, which then answer the same.

    So is the new schema then: no line reads the field that it has more otherwise.
    """
    types, live = topic.line.types, topic.history.entries
    return all(types.reads_alike(target.types, schema) for _, schema in live) and all(
        _is_sent(candidate, line)
        for candidate in _candidates(live)
        for line in (topic.line, target)
    )


def refused(topic: AuditedTopic, line: BrokerLine) -> frozenset[Asked]:
    """All that a line refuses, whatever the present one answers."""
    grouped = answers(topic, line, candidates(topic))
    return frozenset(asked for asked, answer in grouped.items() if not answer.accepted)


def candidates(topic: AuditedTopic) -> tuple[Candidate, ...]:
    """The live versions, and a new schema where there can be one."""
    new = evolved_schema(topic.latest)
    return tuple(_candidates((*topic.history.entries, *([(None, new)] if new else []))))


def _candidates(schemas: Iterable[tuple[int | None, StoredSchema]]) -> Iterator[Candidate]:
    for version, schema in schemas:
        try:
            info = to_info(schema)
        except PayloadError:
            continue
        yield Candidate(version=version, sent=schema, info=info)


def answers(topic: AuditedTopic, line: BrokerLine, asked: tuple[Candidate, ...]) -> Answers:
    """What a line answers to each operation with each of these schemas."""
    return {
        (operation, candidate.version): decision
        for candidate in asked
        for operation, decision in _answers_to(topic, line, candidate)
    }


def _answers_to(
    topic: AuditedTopic, line: BrokerLine, candidate: Candidate
) -> Iterator[tuple[Operation, Decision]]:
    history, strategy = topic.history, topic.policies.strategy
    target = ConnectionTarget(history=history, policies=topic.policies, line=line)
    produced = decide(target, candidate.sent)
    yield Operation.PRODUCE, produced
    yield Operation.CONSUME, check_sent(history, candidate.sent, strategy, line)
    is_registration = topic.policies.allows_auto_update and _is_sent(candidate, line)
    yield (
        Operation.REGISTER,
        produced if is_registration else register(history, candidate.info, strategy, line),
    )
    yield Operation.TEST, compatible(history, candidate.info, strategy, line)
    yield Operation.READ, _read(history, candidate, line)


def _read(history: StoredHistory, candidate: Candidate, line: BrokerLine) -> Decision:
    """What the line does not know the type of cannot be shown, as a half neither (Pulsar 4.0.7).

    Nor can another version of its topic; a new one is the latest, which is read alone.
    """
    if reason := unknown_type(history, line, only_latest=candidate.version is None):
        return Decision(accepted=False, status=500, reason=reason)
    row = line.types.row_of(candidate.sent.type)
    if row.form is not DefinitionForm.HALVES:
        return _READ
    try:
        known_halves(line.types.row_of, candidate.sent)
    except UndecodableError as error:
        return Decision(accepted=False, status=500, reason=str(error))
    return _READ


def _is_sent(candidate: Candidate, line: BrokerLine) -> bool:
    """Whether an upload stores the bytes that a producer sends."""
    try:
        return line.types.to_stored(candidate.info) == candidate.sent
    except PayloadError:
        return False
