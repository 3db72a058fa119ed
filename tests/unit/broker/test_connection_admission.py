"""The steps of a decision, and how they end; a broker's own answers are in tests/broker."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.broker.connection import (
    Admission,
    ConnectionPolicies,
    ConnectionTarget,
    Offer,
    TopicUse,
)
from gitops.broker.consumer_connection import admit_consumer
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.producer_connection import admit_producer, admit_schemas
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import to_stored
from tests.support.states import INT64, STRING, avro, field

A = to_stored(avro(field("a")))
AB = to_stored(avro(field("a"), field("b", default="")))
B = to_stored(avro(field("b")))
NO_AVRO = StoredSchema(type=SchemaType.AVRO, data=b"{")
FAILING = StoredSchema(type=SchemaType.JSON, data=b'{"type": "nothing"}')


def place(
    *schemas: StoredSchema,
    strategy: Strategy = Strategy.FULL,
    update: bool = True,
    enforced: bool = False,
    use: TopicUse | None = "idle",
) -> ConnectionTarget:
    policies = ConnectionPolicies(
        strategy=strategy, allows_auto_update=update, enforces_validation=enforced
    )
    history = StoredHistory(entries=tuple(enumerate(schemas)), next_version=len(schemas))
    return ConnectionTarget(history=history, policies=policies, use=use, line=PULSAR_4_0)


def end(admission: Admission) -> tuple[str | None, int | None, bool]:
    """Error, version, and whether that is a new one; only the last step may fail."""
    assert all(step.passed for step in admission.steps[:-1])
    assert admission.steps[-1].passed is admission.accepted
    assert (admission.error is None) is admission.accepted
    return admission.error, admission.version, admission.registers


TEXT = to_stored(SchemaInfo(type=SchemaType.JSON, schema='"string"'))


@pytest.mark.parametrize(
    ("here", "offer", "expected"),
    [
        (place(), A, (None, 0, True)),
        (place(strategy=Strategy.ALWAYS_INCOMPATIBLE), A, (None, 0, True)),
        (place(update=False), A, ("IncompatibleSchema", None, False)),
        (place(A, update=False), A, (None, 0, False)),
        (place(A, update=False), AB, ("IncompatibleSchema", None, False)),
        (place(A), AB, (None, 1, True)),
        (place(A, AB), A, (None, 0, False)),
        (place(A), B, ("IncompatibleSchema", None, False)),
        (place(A), NO_AVRO, ("IncompatibleSchema", None, False)),
        (place(), FAILING, ("Timeout", None, False)),
        (place(), "NONE", (None, None, False)),
        (place(enforced=True), "NONE", (None, None, False)),
        (place(A), "NONE", (None, None, False)),
        (place(A, enforced=True), "NONE", ("IncompatibleSchema", None, False)),
        (place(A, enforced=True), to_stored(SchemaInfo(type=SchemaType.BYTES)),
         ("IncompatibleSchema", None, False)),
        (place(), "AUTO_PRODUCE", (None, None, False)),
        (place(A, AB, update=False), "AUTO_PRODUCE", (None, 1, False)),
        (place(TEXT), "AUTO_PRODUCE", ("ClientFailure", None, False)),
        (place(TEXT), TEXT, (None, 0, False)),
        (place(to_stored(replace(STRING, schema="null"))), "AUTO_PRODUCE", (None, 1, True)),
        (place(StoredSchema(type=SchemaType.NONE, data=b"")), "AUTO_PRODUCE",
         (None, None, False)),
    ],
)  # fmt: skip
def test_producers(
    here: ConnectionTarget, offer: Offer, expected: tuple[str | None, int | None, bool]
) -> None:
    assert end(admit_producer(here, offer)) == expected


@pytest.mark.parametrize(
    ("here", "offer", "expected"),
    [
        (place(), A, (None, 0, True)),
        (place(update=False), A, ("IncompatibleSchema", None, False)),
        (place(use="active"), A, ("IncompatibleSchema", None, False)),
        (place(use="active", strategy=Strategy.ALWAYS_COMPATIBLE), A, (None, None, False)),
        (place(use=None), A, (None, 0, True)),
        (place(), NO_AVRO, (None, None, False)),
        (place(), FAILING, ("UnknownError", None, False)),
        (place(A), A, (None, 0, False)),
        (place(A), AB, (None, None, False)),
        (place(A), B, ("IncompatibleSchema", None, False)),
        (place(A), to_stored(INT64), ("IncompatibleSchema", None, False)),
        (place(A, strategy=Strategy.ALWAYS_INCOMPATIBLE), A,
         ("IncompatibleSchema", None, False)),
        (place(A, strategy=Strategy.ALWAYS_COMPATIBLE), NO_AVRO, ("", None, False)),
        (place(A, enforced=True), "NONE", (None, None, False)),
        (place(A), "AUTO_CONSUME", (None, None, False)),
    ],
)  # fmt: skip
def test_consumers(
    here: ConnectionTarget, offer: Offer, expected: tuple[str | None, int | None, bool]
) -> None:
    error, *rest = expected
    assert end(admit_consumer(here, offer)) == (error or None, *rest)


def test_an_assumption_is_said_and_so_is_what_would_be_otherwise() -> None:
    assumed, told = (admit_consumer(place(use=use), A) for use in (None, "idle"))
    assert any("assumed" in step.why for step in assumed.steps)
    assert "would be refused" in assumed.notes[0]
    assert not any("assumed" in step.why for step in told.steps)
    assert told.notes == ()
    loose = admit_consumer(place(use=None, strategy=Strategy.ALWAYS_COMPATIBLE), A)
    assert "accepted as well" in loose.notes[0]


def test_a_consumer_that_seeds_a_strict_topic_does_not_come_back() -> None:
    here = place(strategy=Strategy.ALWAYS_INCOMPATIBLE)
    seeded = admit_consumer(here, A)
    assert "whenever it reconnects" in seeded.notes[0]
    later = replace(here, history=seeded.history_after(here.history))
    assert not admit_consumer(later, A).accepted


def test_each_further_schema_finds_what_those_before_it_registered() -> None:
    admissions = admit_schemas(place(), [A, AB, B, AB])
    assert [end(one) for one in admissions] == [
        (None, 0, True),
        (None, 1, True),
        ("IncompatibleSchema", None, False),
        (None, 1, False),
    ]
    assert [one.request for one in admissions] == ["connect", *["getOrCreateSchema"] * 3]


def test_nothing_more_is_asked_of_a_producer_that_is_refused() -> None:
    assert len(admit_schemas(place(A), [B, A])) == 1


def test_a_message_on_whose_schema_the_validator_fails_gets_an_answer() -> None:
    assert admit_producer(place(), FAILING, "getOrCreateSchema").error == "UnknownError"


def test_what_is_kept_of_a_schema_is_what_later_ones_find() -> None:
    here = place()
    first = admit_producer(here, to_stored(STRING))
    after = first.history_after(here.history)
    assert after == StoredHistory(entries=((0, to_stored(STRING)),), next_version=1)
    assert admit_producer(here, "NONE").history_after(after) == after


def test_an_older_version_does_not_become_the_latest() -> None:
    (*_, step) = admit_producer(place(A, AB), A).steps
    assert (step.answer, "v1 stays the latest" in step.why) == ("yes, as v0", True)


@pytest.mark.parametrize("strategy", [s for s in Strategy if s is not Strategy.UNDEFINED])
@pytest.mark.parametrize("history", [(), (A,), (A, AB)])
def test_every_strategy_has_its_words(strategy: Strategy, history: tuple[StoredSchema]) -> None:
    uses: tuple[TopicUse | None, ...] = ("idle", "active", None)
    for use in uses:
        here = place(*history, strategy=strategy, use=use)
        for admission in (admit_producer(here, B), admit_consumer(here, B)):
            end(admission)
            assert all("{" not in step.why for step in admission.steps)


def _pair(key: tuple[str, str], value: tuple[str, str]) -> StoredSchema:
    return to_stored(
        SchemaInfo(
            type=SchemaType.KEY_VALUE,
            schema=f'{{"key": {key[1]}, "value": {value[1]}}}',
            properties={"key.schema.type": key[0], "value.schema.type": value[0]},
        )
    )


_RECORD = '{"type": "record", "name": "R", "fields": []}'


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (_pair(("AVRO", _RECORD), ("JSON", _RECORD)), ""),
        (_pair(("STRING", '""'), ("INT32", '""')), ""),
        (
            _pair(("AVRO", '"string"'), ("AVRO", _RECORD)),
            "accepts records alone, and the key, AVRO, is none",
        ),
        (
            _pair(("STRING", '""'), ("JSON", '{"type": "array", "items": "int"}')),
            "accepts records alone, and the value, JSON, is none",
        ),
        (
            _pair(("STRING", '""'), ("PROTOBUF", _RECORD)),
            "does not read PROTOBUF, which the value of the topic's KEY_VALUE is",
        ),
    ],
)
def test_javas_automatic_clients_of_a_pair(schema: StoredSchema, reason: str) -> None:
    """As Java's client ends on a broker of 4.0.7."""
    here = place(schema)
    produced, consumed = admit_producer(here, "AUTO_PRODUCE"), admit_consumer(here, "AUTO_CONSUME")

    assert [one.accepted for one in (produced, consumed)] == [not reason] * 2
    if reason:
        assert [one.error for one in (produced, consumed)] == ["ClientFailure"] * 2
        assert produced.decision.reason == f"Java's AUTO_PRODUCE {reason}"
        assert consumed.decision.reason == f"Java's AUTO_CONSUME {reason}"
