"""Differences between schemas of any type, and what they look like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.plan import ChangeKind
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.avro.diff import render_type
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.diff import schema_changes
from tests.support.states import INT64, STRING, avro, field, info, pair, record
from tests.support.strategies import odd_infos

parse = AVRO_1_11.parse


def _places(before: SchemaInfo | None, after: SchemaInfo) -> list[tuple[str, str, str, bool]]:
    return [
        (change.path, change.before, change.after, change.ignored)
        for change in schema_changes(before, after)
    ]


def test_a_first_schema_changes_nothing() -> None:
    assert schema_changes(None, avro(field("a"))) == ()


def test_another_type() -> None:
    assert _places(STRING, INT64) == [("type", "STRING", "INT64", False)]


@pytest.mark.parametrize(
    ("type_", "note"),
    [(SchemaType.AUTO_CONSUME, ""), (SchemaType.BYTES, "Pulsar keeps it as NONE")],
)
def test_a_type_is_named_as_it_is_written(type_: SchemaType, note: str) -> None:
    (change,) = schema_changes(STRING, info("", type_))

    assert (change.before, change.after, change.note) == ("STRING", type_.value, note)


def test_bytes_and_none_are_one_type() -> None:
    assert _places(info("x", SchemaType.NONE), info("x", SchemaType.BYTES)) == []


@pytest.mark.parametrize("type_", [SchemaType.AVRO, SchemaType.JSON, SchemaType.PROTOBUF])
def test_fields_of_every_type_that_avro_defines(type_: SchemaType) -> None:
    before, after = info(record(), type_), info(record(field("a")), type_)

    assert _places(before, after) == [("a", "", "string", False)]


def test_layout_is_no_difference() -> None:
    assert _places(info('{"type": "string"}'), info('"string"')) == []


def test_properties_are_told_and_marked_as_ignored() -> None:
    before = info(record(), properties={"owner": "a", "gone": "x"})
    after = info(record(), properties={"owner": "b", "new": "y"})

    assert _places(before, after) == [
        ("property gone", "x", "–", True),
        ("property new", "–", "y", True),
        ("property owner", "a", "b", True),
    ]


def test_the_halves_of_key_value_say_which_half() -> None:
    before = pair(record(field("id", "int"), name="K"), record())
    after = pair(record(field("id", "long"), name="K"), record(field("a"), doc="x"))

    assert _places(before, after) == [
        ("key.id", "int", "long", False),
        ("value.Order", "", "doc only", True),
        ("value.a", "", "string", False),
    ]


def test_a_half_of_another_type() -> None:
    changes = _places(pair("", record(), "STRING"), pair("", record(), "INT64"))

    assert changes == [("key.type", "STRING", "INT64", False)]  # what its property says too


def test_key_value_in_another_layout_is_no_difference() -> None:
    text = pair(record(name="K"), record()).schema
    types = {"key.schema.type": "AVRO", "value.schema.type": "AVRO"}
    loose = info(text.replace(",", " ,\n"), SchemaType.KEY_VALUE, types)

    assert _places(pair(record(name="K"), record()), loose) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (info("{"), avro(field("a"))),
        (info("no pair", SchemaType.KEY_VALUE), pair(record(), record())),
        (info('{"key":1,"value":2}', SchemaType.KEY_VALUE), pair(record(), record())),
        (pair("", "", "NONSENSE", "STRING"), pair("x", "", "NONSENSE", "STRING")),
        (info("a", SchemaType.PROTOBUF_NATIVE), info("bcd", SchemaType.PROTOBUF_NATIVE)),
    ],
)
def test_what_cannot_be_compared_part_by_part_is_told_as_a_whole(
    before: SchemaInfo, after: SchemaInfo
) -> None:
    found = [change for change in schema_changes(before, after) if not change.ignored]

    assert found
    assert all(change.kind is ChangeKind.CHANGED for change in found)
    assert all(change.before and change.after for change in found)


def test_a_broken_definition_that_stays_is_no_difference() -> None:
    assert _places(info("{"), info("{")) == []
    assert _places(info("-", SchemaType.KEY_VALUE), info("-", SchemaType.KEY_VALUE)) == []


@pytest.mark.slow
@given(odd_infos())
def test_no_schema_differs_from_itself(one: SchemaInfo) -> None:
    assert schema_changes(one, one) == ()


@given(st.none() | odd_infos(), odd_infos())
def test_any_two_schemas_can_be_compared(before: SchemaInfo | None, after: SchemaInfo) -> None:
    for change in schema_changes(before, after):
        assert change.before != change.after


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        ('"long"', "long"),
        ('{"type":"int","logicalType":"date"}', "int (date)"),
        ('{"type":"bytes","logicalType":"decimal","precision":4}', "bytes (decimal 4)"),
        ('{"type":"int","logicalType":7}', "int"),
        ('["null",{"type":"map","values":"int"}]', "[null, map<int>]"),
        ('{"type":"array","items":{"type":"fixed","name":"a.F","size":2}}', "array<F>"),
    ],
)
def test_types_as_short_text(definition: str, text: str) -> None:
    assert render_type(parse(definition)) == text
