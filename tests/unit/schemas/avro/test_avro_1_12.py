"""What Avro 1.12.0 reads otherwise than 1.11.4, a definition each (Pulsar 4.2.4's own answers)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitops.schemas.avro.equality import equal
from gitops.schemas.avro.errors import AvroParseError, JavaError
from gitops.schemas.avro.parser import ANY_AVRO, AVRO_1_11, AVRO_1_12, AvroParser
from gitops.schemas.avro.schema import Enum, Record

Json = Any


def _record(*fields: Json, **others: Json) -> Json:
    return {"type": "record", "name": "R", "fields": list(fields), **others}


def _field(kind: Json, name: str = "a", **others: Json) -> Json:
    return {"name": name, "type": kind, **others}


_ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
_BIG = 2**63
_NEW_ONLY = [
    _record(_field("int", "a$b")),
    _record(name="$R"),
    {**_ENUM, "symbols": ["$"]},
    _record(_field("E"), _field(_ENUM, "b")),
    _record(_field({"type": "array", "items": "E"}), _field(_ENUM, "b")),
    _record(_field({"type": "E"}), _field(_ENUM, "b")),
    _record(_field(_ENUM), _field({**_ENUM, "doc": "again", "default": "A"}, "b")),
    _record(_field(["null", _record(_field("long", "z"))])),
    _record(_field(["int", "null"], default=None)),
]
_OLD_ONLY = [
    _record(namespace="com.my-co"),
    _record(namespace="a..b"),
    _record(namespace="1x"),
    _record(_field({"type": "array", "items": "int", "x": _BIG})),
    _record(x={"y": [_BIG]}),
]
_BOTH = [
    _record(namespace=""),
    _record(_field({"type": "int", "x": _BIG})),
    {**_ENUM, "x": _BIG},
    _record(_field("int", aliases=["a-b"])),
    _record(aliases=["a-b.Old"]),
]
_NEITHER = [
    _record(_field("X")),
    _record(_field("E", "b"), _field({**_ENUM, "name": "F"})),
    _record(_field(_ENUM), _field({**_ENUM, "symbols": ["A"]}, "b")),
    _record(_field({**_ENUM, "x": 1}), _field(_ENUM, "b")),
    _record(_field(["E", "E"]), _field(_ENUM, "b")),
    {"type": "array", "items": "X"},
    "X",
]


def _reads(parser: AvroParser, definition: Json) -> bool:
    try:
        parser.parse(json.dumps(definition), validate_defaults=True)
    except AvroParseError:
        return False
    return True


@pytest.mark.parametrize("definition", _NEW_ONLY, ids=json.dumps)
def test_more_is_a_definition(definition: Json) -> None:
    assert (_reads(AVRO_1_11, definition), _reads(AVRO_1_12, definition)) == (False, True)


@pytest.mark.parametrize("definition", _OLD_ONLY, ids=json.dumps)
def test_less_is_a_definition(definition: Json) -> None:
    assert (_reads(AVRO_1_11, definition), _reads(AVRO_1_12, definition)) == (True, False)


@pytest.mark.parametrize("definition", _BOTH, ids=json.dumps)
def test_what_is_a_definition_to_both(definition: Json) -> None:
    assert (_reads(AVRO_1_11, definition), _reads(AVRO_1_12, definition)) == (True, True)


@pytest.mark.parametrize("definition", _NEITHER, ids=json.dumps)
def test_what_is_a_definition_to_neither(definition: Json) -> None:
    assert (_reads(AVRO_1_11, definition), _reads(AVRO_1_12, definition)) == (False, False)


def test_a_type_that_is_used_before_its_definition_is_that_type() -> None:
    text = json.dumps(_record(_field("E"), _field(_ENUM, "b")))

    schema = AVRO_1_12.parse(text)

    assert isinstance(schema, Record)
    first, second = schema.all_fields
    assert isinstance(first.type, Enum)
    assert first.type is second.type


def test_an_undefined_name_is_another_exception() -> None:
    text = json.dumps(_record(_field("X")))

    with pytest.raises(AvroParseError) as old:
        AVRO_1_11.parse(text)
    with pytest.raises(AvroParseError) as new:
        AVRO_1_12.parse(text)

    assert (old.value.java, new.value.java) == (JavaError.SCHEMA_PARSE, JavaError.RUNTIME)


def test_a_default_of_a_type_that_is_defined_later_is_that_of_a_record() -> None:
    """So it passes as a first schema and stands in the way of every later one (Pulsar 4.2.4)."""
    text = json.dumps(_record(_field("E", default="A"), _field(_ENUM, "b")))

    AVRO_1_12.parse(text)
    with pytest.raises(AvroParseError, match="default"):
        AVRO_1_12.parse(text, validate_defaults=True)


def test_parsers_keep_what_they_read_apart() -> None:
    text = json.dumps(_record(_field("int"), namespace="com.my-co"))

    for _ in range(2):
        AVRO_1_11.parse(text)
        with pytest.raises(AvroParseError):
            AVRO_1_12.parse(text)


@pytest.mark.parametrize("definition", [*_NEW_ONLY, *_OLD_ONLY, *_BOTH], ids=json.dumps)
def test_the_lenient_parser_reads_what_either_does_and_means_the_same(definition: Json) -> None:
    text = json.dumps(definition)

    for parser in (AVRO_1_11, AVRO_1_12):
        if _reads(parser, definition):
            assert equal(ANY_AVRO.parse(text), parser.parse(text))


@pytest.mark.parametrize("definition", _NEITHER, ids=json.dumps)
def test_what_neither_reads_the_lenient_parser_does_not_either(definition: Json) -> None:
    assert not _reads(ANY_AVRO, definition)
