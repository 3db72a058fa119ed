"""What a broker decides about a consumer."""

from __future__ import annotations

from dataclasses import replace

from gitops.broker import connection
from gitops.broker.connection import Admission, ConnectionTarget, Offer, Step
from gitops.broker.consumer_compatibility import check_sent, is_dropped, let_in
from gitops.broker.producer_connection import (
    client_failure,
    decide,
    has_own_schema,
    no_schema_step,
    pair_problem,
    schema_step,
)
from gitops.broker.registration import find_registered
from gitops.model.decision import Decision, StoredSchema

_IDLE = "Is the topic idle?"
_DROPPED = "the broker ignores the validator's answer, and registers nothing"
_MEANS = "no producers, no consumers but AUTO_CONSUME, no stored data"


def admit_consumer(place: ConnectionTarget, offer: Offer) -> Admission:
    """The broker's answer to a consumer (Pulsar 4.0.7).

    Without a schema of its own it is always let in. With one it is checked by the rule for
    consumers; only on an idle topic without a schema it registers its own, as a producer would.
    There a definition that is not valid is no hindrance: nothing is registered then.
    """
    if not isinstance(offer, StoredSchema) or not has_own_schema(offer):
        return _without_schema(place, offer)
    steps = [schema_step(offer), connection.has_schema(place.history)]
    if place.history.entries:
        return _checked(place, offer, steps)
    steps.append(_use(place))
    return _checked(place, offer, steps) if place.use == "active" else _seeds(place, offer, steps)


def _without_schema(place: ConnectionTarget, offer: Offer) -> Admission:
    if offer == "AUTO_CONSUME":
        answer = "only that it accepts any schema"
        first = Step(question="What does the client send?", answer=answer)
        latest = place.history.entries[-1][1] if place.history.entries else None
        if latest and (unusable := pair_problem(place, latest)):
            reason = f"Java's AUTO_CONSUME {unusable}"
            return client_failure("consumer", "connect", reason, first)
        why = "each message is read with the version that it was written with"
    else:
        first = no_schema_step("clients send none for bytes")
        why = "schemaValidationEnforced is about producers only"
    second = Step(question="Does the broker ask more of it?", answer="no", why=why)
    decision = Decision(accepted=True)
    return Admission(role="consumer", sent=None, decision=decision, steps=(first, second))


def _use(place: ConnectionTarget) -> Step:
    if place.use is None:
        why = f"assumed, since no file contains it: {_MEANS}"
        return Step(question=_IDLE, answer="yes", why=why)
    return Step(question=_IDLE, answer="yes" if place.use == "idle" else "no", why=_MEANS)


def _checked(place: ConnectionTarget, sent: StoredSchema, steps: list[Step]) -> Admission:
    decision = check_sent(place.history, sent, place.policies.strategy, place.line)
    step = connection.check_step(decision, place)
    if not decision.accepted and not place.history.entries:
        decision = replace(decision, reason=f"{connection.ACTIVE} {sent.type.value}")
    if decision.accepted:
        equal = find_registered(place.history, sent, place.line).version
        decision = replace(decision, version=equal, known=equal is not None)
    return Admission(role="consumer", sent=sent, decision=decision, steps=(*steps, step))


def _seeds(place: ConnectionTarget, sent: StoredSchema, steps: list[Step]) -> Admission:
    decision = decide(place, sent)
    steps.extend(connection.registration_steps(decision, place, sent))
    if is_dropped(decision, place.line):
        # Only the refusal of an incompatible schema reaches the client (Pulsar 4.0.7).
        steps[-1] = replace(steps[-1], passed=True)
        steps.append(Step(question="Does that keep a consumer out?", answer="no", why=_DROPPED))
        decision = let_in(decision)
    seeded = Admission(role="consumer", sent=sent, decision=decision, steps=tuple(steps))
    return replace(seeded, notes=(*_if_active(place, seeded), *_when_it_returns(place, seeded)))


def _if_active(place: ConnectionTarget, seeded: Admission) -> tuple[str, ...]:
    """The other end, where it was only assumed that the topic is idle."""
    if place.use is not None or seeded.sent is None:
        return ()
    admission = _checked(replace(place, use="active"), seeded.sent, [])
    if admission.accepted:
        return ("on a topic in use it would be accepted as well, and nothing would be registered",)
    return (f"on a topic in use it would be refused: {admission.decision.reason}",)


def _when_it_returns(place: ConnectionTarget, seeded: Admission) -> tuple[str, ...]:
    """Its own schema keeps out a consumer that seeded the topic, if the strategy is so strict.

    Partitions are asked one by one, so that the second of a topic may refuse it at once.
    """
    if not seeded.registers or seeded.sent is None:
        return ()
    history = seeded.history_after(place.history)
    again = check_sent(history, seeded.sent, place.policies.strategy, place.line)
    if again.accepted:
        return ()
    what = "once it has registered its schema it is refused whenever it reconnects, and by further"
    return (f"{what} partitions of the topic: {again.reason}",)
