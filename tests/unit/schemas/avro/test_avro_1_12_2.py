"""What Avro 1.12.2 reads otherwise than 1.12.0, a definition each (answers of Pulsar 5.0.1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import ANY_AVRO, AVRO_1_12, AVRO_1_12_2, AvroParser
from gitops.schemas.avro.schema import Enum, Record

Json = Any
_ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
_INNER = {"type": "record", "name": "I", "fields": [{"name": "n", "type": "int"}]}
_CHAIN = {"type": "record", "name": "C", "fields": [{"name": "next", "type": ["null", "C"]}]}


def _record(*types: Json, **others: Json) -> str:
    fields = [{"name": f"f{index}", "type": kind} for index, kind in enumerate(types)]
    return json.dumps({"type": "record", "name": "R", "fields": fields, **others})


def _inside_itself() -> str:
    return _record(["null", json.loads(_record("long"))])


def _reads(parser: AvroParser, text: str) -> bool:
    try:
        parser.parse(text, validate_defaults=True)
    except AvroParseError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "older", "newer"),
    [
        (_record(_INNER, _INNER), False, True),
        (_record(_INNER, {**_INNER, "doc": "again", "aliases": ["J"]}), False, True),
        (_record({**_ENUM, "x": 1}, {**_ENUM, "x": 1}), False, True),
        (_record(_ENUM, {**_ENUM, "x": 1}), True, False),
        (_inside_itself(), True, False),
        (_record(_CHAIN, _CHAIN), False, False),
        (_record(_INNER, {**_INNER, "fields": []}), False, False),
        (_record(_ENUM, {**_ENUM, "doc": "again", "default": "A"}), True, True),
        (_record(_CHAIN, "C"), True, True),
        (_record({**_INNER, "name": "n.I", "fields": [{"name": "a", "type": "R"}]}), True, False),
        (_record(_ENUM, {"type": "E"}), True, True),
        (f"{_record(_ENUM, {'type': 'E'})} and more", False, True),
        (_record(_ENUM, {"type": "E"}).replace("{", "{/* a comment */", 1), True, False),
        (_record(_ENUM, "E").replace("{", "{/* a comment */", 1), True, True),
        (f"{_record(_ENUM, 'E')} and more", False, False),
    ],
)
def test_what_each_version_reads(text: str, older: bool, newer: bool) -> None:  # noqa: FBT001
    assert (_reads(AVRO_1_12, text), _reads(AVRO_1_12_2, text)) == (older, newer)
    assert _reads(ANY_AVRO, text) or text.endswith("more") or not (older or newer)


def test_an_object_that_only_names_a_type_is_that_type() -> None:
    schema = AVRO_1_12_2.parse(_record(_ENUM, {"type": "E", "x": 1}, {"type": "E"}))

    assert isinstance(schema, Record)
    first, *others = (field.type for field in schema.all_fields)
    assert isinstance(first, Enum)
    assert others == [first, first]


def test_a_record_that_refers_to_itself_contains_itself() -> None:
    schema = AVRO_1_12_2.parse(json.dumps(_CHAIN))

    assert isinstance(schema, Record)
    assert schema.all_fields[0].type.branches[1] is schema  # type: ignore[union-attr]


def test_a_name_from_a_namespace_means_the_type_that_is_known_when_it_is_read() -> None:
    """An older reader takes it for the record that is being read (Pulsar 5.0.1)."""
    inner = {**_INNER, "name": "n.I", "fields": [{"name": "a", "type": ["null", "I"]}]}
    text = _record(_INNER, inner)

    names = []
    for parser in (AVRO_1_12, AVRO_1_12_2):
        schema = parser.parse(text)
        second = schema.all_fields[1].type  # type: ignore[union-attr]
        names.append(second.all_fields[0].type.branches[1].name)  # type: ignore[union-attr]

    assert names == ["n.I", "I"]
