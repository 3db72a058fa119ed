"""The gates of a registration, and where the other ways in differ."""

from __future__ import annotations

import pytest

from gitops.broker.consumer_compatibility import check_consumer
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.registration import compatible, register
from gitops.model.decision import StoredHistory
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import to_stored, to_stored_type

_OLD = '{"type":"record","name":"R","fields":[]}'
_NEW = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
_POISON = '{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":"x"}]}'


def _history(*texts: str, kind: SchemaType = SchemaType.AVRO) -> StoredHistory:
    infos = [SchemaInfo(type=kind, schema=text) for text in texts]
    entries = tuple(
        (version, to_stored_type(to_stored(info))) for version, info in enumerate(infos)
    )
    return StoredHistory(entries=entries, next_version=len(entries))


def _avro(text: str) -> SchemaInfo:
    return SchemaInfo(type=SchemaType.AVRO, schema=text)


def test_the_first_schema_passes_under_every_strategy() -> None:
    for strategy in Strategy:
        decision = register(StoredHistory(next_version=3), _avro(_OLD), strategy, PULSAR_4_0)
        assert (decision.accepted, decision.version, decision.known) == (True, 3, False)


def test_an_older_schema_keeps_its_number_under_every_strategy() -> None:
    for strategy in Strategy:
        decision = register(_history(_OLD, _NEW), _avro(f" {_OLD} "), strategy, PULSAR_4_0)
        assert (decision.accepted, decision.version, decision.known) == (True, 0, True)


def test_an_invalid_default_poisons_the_topic() -> None:
    first = register(StoredHistory(), _avro(_POISON), Strategy.FULL, PULSAR_4_0)
    again = register(_history(_POISON), _avro(_POISON), Strategy.ALWAYS_COMPATIBLE, PULSAR_4_0)

    assert first.accepted
    assert (again.accepted, again.status) == (False, 500)
    assert "v0" in again.reason


@pytest.mark.parametrize(
    ("strategy", "status"), [(Strategy.BACKWARD, 500), (Strategy.BACKWARD_TRANSITIVE, 409)]
)
def test_a_crash_is_a_refusal_where_all_versions_are_compared(
    strategy: Strategy, status: int
) -> None:
    symbol = '{"name":"e","type":{"type":"enum","name":"E","symbols":["A"]},"default":"Z"}'
    candidate = _avro('{"type":"record","name":"R","fields":[' + symbol + "]}")

    assert register(_history(_OLD), candidate, strategy, PULSAR_4_0).status == status


def test_bytes_are_kept_as_none_and_conflict_with_themselves() -> None:
    data = SchemaInfo(type=SchemaType.BYTES)

    decision = register(_history("", kind=SchemaType.BYTES), data, Strategy.FULL, PULSAR_4_0)

    assert (decision.accepted, decision.status) == (False, 409)


def test_the_compatibility_endpoint_does_not_look_for_an_equal_version() -> None:
    history = _history(_OLD, _NEW)

    assert register(history, _avro(_OLD), Strategy.FORWARD, PULSAR_4_0).accepted
    refused = compatible(history, _avro(_OLD), Strategy.FORWARD, PULSAR_4_0)
    assert (refused.accepted, refused.status) == (False, 500)


def test_a_consumer_is_refused_the_registered_schema_under_always_incompatible() -> None:
    decision = check_consumer(_history(_OLD), _avro(_OLD), Strategy.ALWAYS_INCOMPATIBLE, PULSAR_4_0)

    assert not decision.accepted


def test_the_types_of_both_halves_come_before_the_definition_of_either() -> None:
    broken = '{"type":"record","name":"int","fields":[]}'
    types = {"key.schema.type": "AVRO", "value.schema.type": "INT32"}
    text = '{"key":' + broken + ',"value":""}'
    old = to_stored(SchemaInfo(type=SchemaType.KEY_VALUE, schema=text, properties=types))
    new = SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema='{"key":"int","value":""}'.replace('"int"', _OLD),
        properties={**types, "value.schema.type": "INT64"},
    )

    decision = register(
        StoredHistory(entries=((0, old),), next_version=1), new, Strategy.FULL, PULSAR_4_0
    )

    assert decision.status == 409
