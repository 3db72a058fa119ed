"""What is known without a look at every field is what the look finds."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.lines.pulsar_5_0 import PULSAR_5_0
from gitops.model.decision import StoredSchema
from gitops.model.schema import SchemaType
from gitops.schemas.avro import equality
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.avro.schema import Schema
from tests.support.audits import record
from tests.support.random_avro import definitions

_INT = {"name": "i", "type": "int"}
_MORE = {"name": "o", "type": ["null", "string"], "default": None}


@pytest.mark.slow
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
