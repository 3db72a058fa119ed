"""An old schema is a new version by a property that readers ignore, and is found to be the same."""

from __future__ import annotations

import json

import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.planning.revision import is_revision_of, needs_revision, revision_text
from tests.support.states import INT64, STRING, avro, field, history, info, pair, record

_OLD, _NEW = avro(field("a")), avro(field("a"), field("b", default=""))


def _revised(number: str) -> SchemaInfo:
    return avro(field("a"), revision=number)


def test_an_older_version_needs_one_and_nothing_else_does() -> None:
    assert needs_revision(_OLD, history(_OLD, _NEW))
    assert not needs_revision(_OLD, history(_NEW, _OLD))
    assert not needs_revision(_OLD, history(_NEW))
    assert not needs_revision(_OLD, history())
    assert not needs_revision(_revised("2"), history(_OLD, _NEW))


@pytest.mark.parametrize("kind", [SchemaType.AVRO, SchemaType.JSON, SchemaType.PROTOBUF])
def test_the_property_alone_is_no_other_schema(kind: SchemaType) -> None:
    old = info(record(field("a")), kind)
    revised = info(record(field("a"), revision="7"), kind)

    assert is_revision_of(revised, old)
    assert is_revision_of(old, revised)
    assert not is_revision_of(info(record(field("b"), revision="7"), kind), old)


def test_it_is_found_in_the_halves_of_a_pair() -> None:
    old = pair(record(field("k")), record(field("v")))
    in_value = pair(record(field("k")), record(field("v"), revision="2"))
    in_key = pair(record(field("k"), revision="2"), record(field("v")))

    assert is_revision_of(in_value, old)
    assert is_revision_of(in_key, old)
    assert not is_revision_of(pair(record(field("k")), record(field("w"))), old)


def test_a_field_of_that_name_is_none() -> None:
    one, other = avro(field("revision")), avro(field("revision", "int"))

    assert not is_revision_of(one, other)


@pytest.mark.parametrize("odd", [STRING, INT64, info("no json"), info("[]"), info('"string"')])
def test_what_has_no_place_for_it_is_only_itself(odd: SchemaInfo) -> None:
    assert is_revision_of(odd, odd)
    assert not is_revision_of(odd, _OLD)


def test_the_value_is_the_next_number_or_the_one_that_the_latest_has() -> None:
    assert revision_text(_OLD, history(_OLD, _NEW)) == "2"
    assert revision_text(_OLD, history(_OLD, _NEW, _revised("9"))) == "9"
    assert revision_text(_OLD, history(_OLD, _NEW, avro(field("a"), revision=5))) == "3"
    assert json.loads(_revised("2").schema)["revision"] == "2"
