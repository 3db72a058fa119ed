"""Every node is found where it stands in the text, however many definitions share it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.avro.pointers import Pointers
from gitops.schemas.avro.schema import Array, Enum, Fixed, Map, Named, Record, Schema, Union

parse = AVRO_1_11.parse

_RECORDED: Final = Path(__file__).parents[3] / "conformance" / "generated.jsonl"


def _definitions() -> Iterator[str]:
    with _RECORDED.open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            for one in (*case["existing"], case["candidate"]):
                if one.get("type") in ("AVRO", "JSON", "PROTOBUF"):
                    yield one["schema"]


def _named(schema: Schema, seen: set[str]) -> Iterator[Named]:
    match schema:
        case Record() | Enum() | Fixed() if schema.name not in seen:
            seen.add(schema.name)
            yield schema
            for field in schema.all_fields if isinstance(schema, Record) else ():
                yield from _named(field.type, seen)
        case Array():
            yield from _named(schema.items, seen)
        case Map():
            yield from _named(schema.values, seen)
        case Union():
            for branch in schema.branches:
                yield from _named(branch, seen)
        case _:
            pass


def _at(document: Any, pointer: str) -> Any:  # noqa: ANN401 - JSON
    for step in pointer.split("/")[1:]:
        document = document[int(step) if isinstance(document, list) else step]
    return document


@pytest.mark.slow
def test_types_and_fields_stand_where_places_says() -> None:
    met = 0
    for text in _definitions():
        try:
            top = parse(text)
            document = json.loads(text)
        except (AvroParseError, ValueError):
            continue
        places = Pointers(top)
        for named in _named(top, set()):
            said = _at(document, places.pointer(named))
            assert said["name"].rpartition(".")[2] == named.name.rpartition(".")[2], text
            if isinstance(named, Record):
                for field in named.all_fields:
                    assert _at(document, places.field(named, field))["name"] == field.name, text
                    met += 1

    assert met > 10_000


def test_one_field_stands_at_several_places_of_one_definition() -> None:
    same = {"name": "a", "type": "long"}
    inner = {"type": "record", "name": "Inner", "fields": [{"name": "b", "type": "int"}, same]}
    outer = {"type": "record", "name": "R", "fields": [same, {"name": "i", "type": inner}]}
    top = parse(json.dumps(outer))
    assert isinstance(top, Record)
    nested = top.by_name["i"].type
    assert isinstance(nested, Record)
    field = nested.by_name["a"]

    assert top.by_name["a"] is field
    assert Pointers(top).field(top, field) == "/fields/0"
    assert Pointers(top).field(nested, field) == "/fields/1/type/fields/1"
