"""What a broker decides about a producer, and about the further schemas of its messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gitops.broker import connection
from gitops.broker.connection import (
    NO_SCHEMA,
    Admission,
    ConnectionTarget,
    Offer,
    Request,
    Role,
    Step,
)
from gitops.broker.registration import NOT_REGISTERED, find_registered, register_sent
from gitops.model.decision import Decision, StoredSchema
from gitops.model.schema import SchemaType
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.key_value.parser import HALVES, split
from gitops.schemas.row import UndecodableError
from gitops.schemas.types import DEFINED_TYPES

_SENDS: Final = "What does the client send?"
_CPP: Final = "clients on top of the C++ one (Python, Node.js)"
_TOLD: Final = {
    **dict.fromkeys(SchemaType, f"{_CPP} send none of this type: for them ask with NONE"),
    **dict.fromkeys(DEFINED_TYPES, ""),
    SchemaType.STRING: f"as Java's client; {_CPP} may send the text null with it, another schema",
}


def admit_producer(
    place: ConnectionTarget, offer: Offer, request: Request = "connect"
) -> Admission:
    """The broker's answer to a producer, or to the request for a further schema of its messages.

    Both end in the same code (Pulsar 4.0.7). AUTO_PRODUCE sends the topic's latest schema; where
    there is none it does not fail, the client then sends bytes as they are.
    """
    sent, first = _sent(place, offer)
    unusable = _generic_schema_problem(place, sent) if offer == "AUTO_PRODUCE" and sent else ""
    if unusable:
        return client_failure("producer", request, f"Java's AUTO_PRODUCE {unusable}", first)
    if sent is None:
        return replace(_without_schema(place, first), request=request)
    decision = decide(place, sent)
    steps = (first, *connection.registration_steps(decision, place, sent))
    return Admission(role="producer", request=request, sent=sent, decision=decision, steps=steps)


def _generic_schema_problem(place: ConnectionTarget, schema: StoredSchema) -> str:
    """Why Java's client makes no generic schema of it, empty where it does (seen with 4.0.7)."""
    if not _is_record(place, schema):
        return f"accepts records alone, and the topic's {schema.type.value} is none"
    return pair_problem(place, schema)


def pair_problem(place: ConnectionTarget, schema: StoredSchema) -> str:
    """Why Java's client makes no generic schema of a KEY_VALUE, which AUTO_CONSUME needs as well.

    Empty where it does, and for other types.
    """
    if schema.type is not SchemaType.KEY_VALUE:
        return ""
    try:
        halves = zip(HALVES, split(schema), strict=True)
        for name, half in halves:
            if half.type is SchemaType.PROTOBUF:
                return f"does not read PROTOBUF, which the {name} of the topic's KEY_VALUE is"
            if not _is_record(place, half):
                return f"accepts records alone, and the {name}, {half.type.value}, is none"
    except UndecodableError:
        return ""
    return ""


def _is_record(place: ConnectionTarget, schema: StoredSchema) -> bool:
    """Whether a definition in Avro's form is a record, or is none in that form."""
    read = place.line.types.row_of(schema.type).definition
    if schema.type not in (SchemaType.AVRO, SchemaType.JSON) or read is None:
        return True
    try:
        return getattr(read(schema), "kind", "record") == "record"
    except AvroParseError:
        return True


def client_failure(role: Role, request: Request, reason: str, first: Step) -> Admission:
    """What Java's client does with a topic's schema of which it makes no generic one."""
    step = Step(question="Can the client use it?", answer="no", passed=False, why=reason)
    return Admission(
        role=role,
        request=request,
        sent=None,
        decision=Decision(accepted=False, status=0, reason=reason),
        steps=(first, step),
        fails_in_client=True,
    )


def admit_schemas(place: ConnectionTarget, offers: Sequence[Offer]) -> tuple[Admission, ...]:
    """A producer with the first of several schemas, and a get-or-create for each other.

    A refused producer sends nothing, so nothing more is asked; a refused further schema fails the
    message that needs it, and the producer stays connected.
    """
    admissions: list[Admission] = []
    for offer in offers:
        request: Request = "getOrCreateSchema" if admissions else "connect"
        admission = admit_producer(place, offer, request)
        admissions.append(admission)
        if not admissions[0].accepted:
            break
        place = replace(place, history=admission.history_after(place.history))
    return tuple(admissions)


def decide(place: ConnectionTarget, sent: StoredSchema) -> Decision:
    """A registration where clients may register, else a look for a schema that equals it."""
    if place.policies.allows_auto_update:
        return register_sent(place.history, sent, place.policies.strategy, place.line)
    decision = find_registered(place.history, sent, place.line)
    if decision.accepted or decision.status != NOT_REGISTERED:
        return decision
    return replace(decision, reason=connection.NOT_ALLOWED)


def schema_step(schema: StoredSchema) -> Step:
    """That a client sends a schema of its own."""
    answer = f"its schema, {schema.type.value}"
    return Step(question=_SENDS, answer=answer, why=_TOLD[schema.type])


def no_schema_step(why: str) -> Step:
    """That a client sends no schema."""
    return Step(question=_SENDS, answer="no schema", why=why)


def has_own_schema(offer: Offer) -> bool:
    """Whether a client sends a schema that the application gave it."""
    return isinstance(offer, StoredSchema) and offer.type not in NO_SCHEMA


def _sent(place: ConnectionTarget, offer: Offer) -> tuple[StoredSchema | None, Step]:
    if isinstance(offer, StoredSchema) and offer.type not in NO_SCHEMA:
        return offer, schema_step(offer)
    if offer != "AUTO_PRODUCE":
        return None, no_schema_step("clients send none for bytes")
    if not place.history.entries:
        return None, no_schema_step("the topic has none that AUTO_PRODUCE could use")
    version, latest = place.history.entries[-1]
    if latest.type in NO_SCHEMA:
        return None, no_schema_step(f"the topic's latest one, v{version}, is for bytes")
    if latest.type not in DEFINED_TYPES:
        latest = replace(latest, data=b"")  # the client's own, whatever text is stored
    why = "AUTO_PRODUCE asks for it before it connects"
    answer = f"the topic's latest schema, v{version}, {latest.type.value}"
    return latest, Step(question=_SENDS, answer=answer, why=why)


def _without_schema(place: ConnectionTarget, first: Step) -> Admission:
    """Refused only where the topic has a live schema and validation is enforced."""
    steps = [first, connection.has_schema(place.history)]
    decision = Decision(accepted=True)
    if place.history.entries:
        steps.append(connection.validation_step(place.policies))
        if place.policies.enforces_validation:
            decision = Decision(accepted=False, status=409, reason=connection.SCHEMALESS)
    return Admission(role="producer", sent=None, decision=decision, steps=tuple(steps))
