"""Whether a desired schema is one that a registry holds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.registration import register
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.planning.fingerprints import equal_version, is_same
from gitops.schemas.payload import PayloadError, stored_history
from tests.support.states import INT64, STRING, avro, field, history, info, pair, record
from tests.support.strategies import odd_infos, schema_infos


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (avro(field("a")), avro(field("a", doc="x")), True),
        (avro(field("a")), avro(field("b")), False),
        (info(record()), info(record(), SchemaType.JSON), False),
        (STRING, INT64, False),
        (STRING, replace(STRING, properties={"a": "b"}), True),
        (info("", SchemaType.BYTES), info("", SchemaType.NONE), True),
        (pair("", record()), pair("", record(doc="x")), False),
        (info("{"), info("{"), True),
        (info("{"), info("{ "), False),
        (info("{"), avro(), False),
        (info("-", SchemaType.KEY_VALUE), info("-", SchemaType.KEY_VALUE), True),
        (info("-", SchemaType.KEY_VALUE), pair("", ""), False),
        (avro(field("a", "int", default="x")), avro(field("a", "int", default="x")), True),
    ],
)
def test_sameness(one: SchemaInfo, other: SchemaInfo, *, same: bool) -> None:
    assert is_same(one, other) is same
    assert is_same(other, one) is same


@given(odd_infos())
def test_every_schema_is_the_same_as_itself(one: SchemaInfo) -> None:
    assert is_same(one, one)
    assert equal_version(history(one, after=7), one) == 7


@pytest.mark.slow
@given(schema_infos(), schema_infos())
def test_it_is_what_a_registration_finds(held: SchemaInfo, candidate: SchemaInfo) -> None:
    try:
        stored = stored_history(history(held))
    except PayloadError:
        return  # nothing that a registry could hold
    decision = register(
        stored, candidate, SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE, PULSAR_4_0
    )

    if decision.status in (200, 409):
        # BYTES is posted as BYTES, and compared with what is kept as NONE.
        told_apart = candidate.type is SchemaType.BYTES
        assert decision.known or told_apart or not is_same(held, candidate)
        assert not decision.known or is_same(held, candidate)
