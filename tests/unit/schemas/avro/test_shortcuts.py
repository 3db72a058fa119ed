"""What is known without a look at every field is what the look finds."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.lines.pulsar_5_0 import PULSAR_5_0
from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaType
from gitops.schemas.avro import equality, review
from gitops.schemas.avro.parser import ANY_AVRO, AVRO_1_11
from gitops.schemas.avro.schema import Schema
from gitops.schemas.review import changes_of
from gitops.schemas.types import TYPES
from tests.support.audits import record
from tests.support.random_avro import definitions, pairs

_INT = {"name": "i", "type": "int"}
_MORE = {"name": "o", "type": ["null", "string"], "default": None}


def _with_more(definition: Any) -> tuple[Any, Any]:  # noqa: ANN401
    return definition, {**definition, "fields": [*definition["fields"], _MORE]}


@settings(max_examples=100, deadline=None)
@given(
    pairs() | definitions().map(_with_more),
    st.sampled_from((SchemaType.AVRO, SchemaType.JSON)),
    st.sampled_from((Strategy.FULL, Strategy.BACKWARD)),
)
def test_a_field_more_is_no_change_for_readers(
    versions: tuple[Any, Any], kind: SchemaType, strategy: Strategy
) -> None:
    old, new = (StoredSchema(type=kind, data=json.dumps(one).encode()) for one in versions)

    quick = changes_of(TYPES, old, new, strategy)
    with mock.patch.object(review, "_only_adds", return_value=False):
        assert quick == changes_of(TYPES, old, new, strategy)


@pytest.mark.parametrize(
    ("new", "only_adds"),
    [
        (record(_INT, _MORE), True),
        (record(_INT), True),
        (record(_MORE, _INT), False),
        (record(_MORE), False),
        (record(_INT, _MORE, name="B"), False),
        (record(_INT, {**_MORE, "aliases": ["p"]}), False),
    ],
)
def test_fields_are_added_at_the_end(new: str, *, only_adds: bool) -> None:
    before, after = ANY_AVRO.parse(record(_INT)), ANY_AVRO.parse(new)
    assert review._only_adds(before, after) is only_adds  # noqa: SLF001


@settings(max_examples=100, deadline=None)
@given(definitions())
def test_simple_fields_are_read_alike_as_all_others(definition: Any) -> None:  # noqa: ANN401
    schema = StoredSchema(type=SchemaType.AVRO, data=json.dumps(definition).encode())
    old, new = PULSAR_4_0.types, PULSAR_5_0.types

    quick = old.reads_alike(new, schema)
    with mock.patch.object(equality, "_has_only_simple_fields", return_value=False):
        assert quick == old.reads_alike(new, schema)


@pytest.mark.parametrize(
    "other",
    [record(_INT, namespace="n"), record(_INT, x=1), record(_MORE), record(_INT, _MORE), '"int"'],
)
def test_another_record_is_not_read_alike(other: str) -> None:
    def read(text: str) -> Schema:
        return AVRO_1_11.parse(text)

    assert equality.is_read_alike(read(record(_INT)), read(record(_INT)))
    assert not equality.is_read_alike(read(record(_INT)), read(other))
