"""Which reader can read which writer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitops.schemas.avro.compatibility import Readability, can_read
from gitops.schemas.avro.parser import AVRO_1_11

parse = AVRO_1_11.parse


def _record(*fields: Any, **members: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"type": "record", "name": "R", "fields": fields, **members}


def _field(name: str, kind: Any, **members: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"name": name, "type": kind, **members}


def _can_read(writer: Any, reader: Any) -> Readability:  # noqa: ANN401 - JSON
    return can_read(parse(json.dumps(writer)), parse(json.dumps(reader)))


_ENUM = {"type": "enum", "name": "E", "symbols": ["A"]}


@pytest.mark.parametrize(
    ("writer", "reader", "rules"),
    [
        ("int", "double", []),
        ("long", "int", ["AVRO-R001"]),
        ("string", "bytes", []),
        (["int", "string"], "long", ["AVRO-R001"]),
        ("float", ["null", "double"], []),
        ("boolean", ["null", "int"], ["AVRO-R003"]),
        (_ENUM, {**_ENUM, "symbols": ["B"]}, []),
        (_ENUM, {**_ENUM, "namespace": "n"}, []),
        (_ENUM, ["null", {**_ENUM, "namespace": "n"}], ["AVRO-R003"]),
        (_ENUM, {**_ENUM, "name": "F"}, ["AVRO-R004"]),
        (_record(), _record(name="S"), []),
        (_record(), _record(_field("a", "int"), _field("b", "int")), ["AVRO-R002"] * 2),
        (_record(_field("a", "int")), _record(_field("b", "int", aliases=["a"])), []),
    ],
)
def test_rules(writer: object, reader: object, rules: list[str]) -> None:
    assert [reason.rule for reason in _can_read(writer, reader).reasons] == rules


def test_a_place_is_told_on_both_sides() -> None:
    writer = _record(
        _field("x", {"type": "array", "items": _record(_field("y", "long"), name="S")})
    )
    reader = _record(
        _field("z", "int", default=0),
        _field("x", {"type": "array", "items": _record(_field("y", "int"), name="S")}),
    )

    (reason,) = _can_read(writer, reader).reasons

    assert reason.path == "x[].y"
    assert reason.writer_pointer == "/fields/0/type/items/fields/0/type"
    assert reason.reader_pointer == "/fields/1/type/items/fields/0/type"


def test_a_default_that_calls_for_itself_runs_out_of_stack() -> None:
    inner = _record(_field("r", "S", default={}), name="S")

    result = _can_read(_record(), _record(_field("s", inner, default={})))

    assert result.overflows


def test_an_alias_that_makes_two_fields_one_crashes() -> None:
    writer = _record(_field("a", "int"), _field("b", "int"))

    result = _can_read(writer, _record(_field("b", "int", aliases=["a"])))

    assert result.crashes
    assert [reason.rule for reason in result.reasons] == ["AVRO-R008"]


def test_a_default_that_no_value_ends_is_told_by_its_whole_path() -> None:
    enum = '{"type":"enum","name":"E","symbols":["A"]}'
    field = f'{{"name":"e","type":{enum},"default":"B"}}'
    inner = f'{{"type":"record","name":"I","fields":[{field}]}}'
    text = '{"type":"record","name":"R","fields":[{"name":"x","type":%s}]}'
    (reason,) = can_read(
        parse(text % '{"type":"record","name":"I","fields":[]}'), parse(text % inner)
    ).reasons

    assert (reason.rule, reason.path) == ("AVRO-R007", "x.e")
    assert reason.reader_pointer == "/fields/0/type/fields/0/default"


def test_defaults_that_double_at_each_level_are_written_once() -> None:
    kind = '{"type":"record","name":"R0","fields":[]}'
    for level in range(1, 60):
        both = ",".join(
            f'{{"name":"{n}","type":{k},"default":{{}}}}'
            for n, k in (("a", kind), ("b", f'"R{level - 1}"'))
        )
        kind = f'{{"type":"record","name":"R{level}","fields":[{both}]}}'
    reader = (
        f'{{"type":"record","name":"T","fields":[{{"name":"f","type":{kind},"default":{{}}}}]}}'
    )

    assert not can_read(parse('{"type":"record","name":"T","fields":[]}'), parse(reader)).reasons


def test_a_clash_of_aliases_is_told_where_the_alias_stands() -> None:
    fields = ['{"name":"f","type":["null","X",{"type":"record","name":"Y","fields":[]}]}']
    top = '{"type":"record","name":"X","aliases":["Y"],"fields":[%s]}'
    new = '{"name":"i","type":"int","default":1}'
    (reason,) = can_read(parse(top % fields[0]), parse(top % ",".join([*fields, new]))).reasons

    assert reason.rule == "AVRO-R008"
    assert reason.writer_pointer.startswith("/fields/0/type/")
    assert reason.reader_pointer == "/aliases"
