"""What holds for every schema, however odd."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.broker.consumer_compatibility import check_consumer, subscribe
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.registration import compatible, register
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.avro.compatibility import can_read
from gitops.schemas.avro.equality import equal
from gitops.schemas.avro.errors import AvroParseError, AvroProblem
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.avro.recursion import recurses_directly
from gitops.schemas.avro.schema import Schema
from gitops.schemas.payload import PayloadError, to_stored, to_stored_type
from tests.support.random_avro import definitions, json_values, pairs

parse = AVRO_1_11.parse

Json = Any


def _parsed(definition: Json) -> Schema | None:
    try:
        return parse(json.dumps(definition))
    except AvroParseError:
        return None


def _shuffled(value: Json, random: Random) -> Json:
    if isinstance(value, dict):
        members = [(name, _shuffled(member, random)) for name, member in value.items()]
        random.shuffle(members)
        return dict(members)
    return [_shuffled(item, random) for item in value] if isinstance(value, list) else value


@given(text=st.text(max_size=200) | json_values.map(json.dumps), validate=st.booleans())
def test_a_text_is_a_schema_or_has_problems(text: str, *, validate: bool) -> None:
    problems: tuple[AvroProblem, ...] = ()
    try:
        schema = parse(text, validate_defaults=validate)
    except AvroParseError as error:
        problems, schema = error.problems, None

    assert bool(problems) == (schema is None)


@given(definitions(), st.randoms(use_true_random=False))
def test_the_order_of_members_does_not_count(definition: Json, random: Random) -> None:
    schema, shuffled = _parsed(definition), _parsed(_shuffled(definition, random))

    if schema is None:
        assert shuffled is None
    else:
        assert shuffled is not None
        assert equal(schema, shuffled)


@given(definitions())
def test_a_schema_reads_itself_unless_it_contains_itself(definition: Json) -> None:
    schema = _parsed(definition)

    if schema is not None:
        assert bool(can_read(schema, schema).reasons) == recurses_directly(schema)


@given(pairs(), st.sampled_from(Strategy))
def test_registering_twice_names_one_version(pair: tuple[Json, Json], strategy: Strategy) -> None:
    old, new = (SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(one)) for one in pair)
    history = StoredHistory(entries=((0, to_stored(old)),), next_version=1)

    first = register(history, new, strategy, PULSAR_4_0)
    if not first.accepted:
        return
    entries = history.entries if first.known else (*history.entries, (1, to_stored(new)))
    second = register(
        StoredHistory(entries=entries, next_version=len(entries)), new, strategy, PULSAR_4_0
    )

    assert (second.accepted, second.version, second.known) == (True, first.version, True)


@given(pairs())
def test_full_is_backward_and_forward(pair: tuple[Json, Json]) -> None:
    old, new = (SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(one)) for one in pair)
    history = StoredHistory(entries=((0, to_stored(old)),), next_version=1)

    answers = {s: register(history, new, s, PULSAR_4_0).accepted for s in Strategy}

    assert answers[Strategy.FULL] == (answers[Strategy.BACKWARD] and answers[Strategy.FORWARD])


@given(pairs(), st.sampled_from(Strategy), st.sampled_from(SchemaType))
def test_whatever_is_asked_is_answered(
    pair: tuple[Json, Json], strategy: Strategy, kind: SchemaType
) -> None:
    texts = [
        json.dumps({"key": one, "value": one} if kind is SchemaType.KEY_VALUE else one)
        for one in pair
    ]
    old, new = (SchemaInfo(type=kind, schema=text) for text in texts)
    history = StoredHistory(entries=((0, to_stored_type(to_stored(old))),), next_version=1)

    for decision in (
        register(history, new, strategy, PULSAR_4_0),
        compatible(history, new, strategy, PULSAR_4_0),
        check_consumer(history, new, strategy, PULSAR_4_0),
        subscribe(history, new, strategy, PULSAR_4_0, idle=True),
    ):
        assert decision.accepted or decision.reason


@given(st.sampled_from(SchemaType), st.binary(max_size=40), st.text(max_size=40))
def test_whatever_is_stored_is_answered(kind: SchemaType, data: bytes, text: str) -> None:
    history = StoredHistory(
        entries=((0, StoredSchema(type=kind, data=data)),),
        next_version=1,
    )
    candidate = SchemaInfo(type=kind, schema=text)

    for strategy in Strategy:
        decision = check_consumer(history, candidate, strategy, PULSAR_4_0)
        assert decision.accepted or decision.reason
        assert register(history, candidate, strategy, PULSAR_4_0).status in (200, 409, 422, 500)


@pytest.mark.parametrize(
    "text", ["[" * 999 + "]" * 999, "[" * 5000, '{"type":"array","items":' * 999]
)
@pytest.mark.parametrize("kind", SchemaType)
def test_deep_texts_are_answered(text: str, kind: SchemaType) -> None:
    candidate = SchemaInfo(type=kind, schema=text)
    try:
        stored = to_stored(candidate)
    except PayloadError:
        stored = StoredSchema(type=kind, data=b"")

    decision = register(StoredHistory(), candidate, Strategy.FULL, PULSAR_4_0)

    assert decision.accepted or decision.reason
    assert len(stored.data) <= len(text)
