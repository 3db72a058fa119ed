"""What parses, and why the rest does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitops.schemas.avro.errors import AvroParseError, JavaError
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.avro.schema import Record

parse = AVRO_1_11.parse


def _record(*fields: Any, **members: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps({"type": "record", "name": "R", "fields": fields, **members})


def _field(kind: Any, **members: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"name": "f", "type": kind, **members}


def test_every_problem_is_told_with_its_place() -> None:
    text = _record(_field("Nope"), {"name": "1a", "type": "int"}, {"type": "int"})

    with pytest.raises(AvroParseError) as caught:
        parse(text)

    assert [(p.kind, p.pointer) for p in caught.value.problems] == [
        ("undefined-name", "/fields/0/type"),
        ("bad-name", "/fields/1/name"),
        ("no-name", "/fields/2"),
    ]


@pytest.mark.parametrize(
    ("text", "java"),
    [
        ("{}", JavaError.SCHEMA_PARSE),
        ('"int" x', JavaError.SCHEMA_PARSE),
        ('["int", ["null"]] x', JavaError.RUNTIME),
        ('["int", "int"]', JavaError.RUNTIME),
        (_record(_field("int"), _field("int")), JavaError.RUNTIME),
        (_record(_field("int", order="sideways")), JavaError.RUNTIME),
        (_record(_field("float", default="x")), JavaError.RUNTIME),
        (_record(_field("int", aliases="x")), JavaError.SCHEMA_PARSE),
        ('{"type": "fixed", "name": "F", "size": -1}', JavaError.RUNTIME),
        ('{"type": "fixed", "name": "F", "size": 4.0}', JavaError.SCHEMA_PARSE),
    ],
)
def test_the_exception_that_java_would_throw(text: str, java: JavaError) -> None:
    with pytest.raises(AvroParseError) as caught:
        parse(text)

    assert caught.value.java is java


def test_a_dotted_name_is_looked_up_as_it_stands() -> None:
    parse(_record(_field(["null", "R"])))
    parse(_record(_field(["null", "n.R"]), namespace="n"))
    with pytest.raises(AvroParseError):
        parse(_record(_field(["null", "n.R"])))


@pytest.mark.parametrize("text", [f'/* a */ "int" {end}' for end in ("", "\n")])
def test_comments_may_stand_before_the_schema(text: str) -> None:
    assert parse(text).kind == "int"


@pytest.mark.parametrize(
    ("members", "good"),
    [
        ('"x": ' + "1" * 1000, True),
        ('"x": ' + "1" * 1001, False),
        ('"x": 1.' + "1" * 1000, False),
        ('"x": "' + "1" * 2000 + '"', True),
        ('"' + "k" * 50_000 + '": 1', True),
        ('"' + "k" * 50_001 + '": 1', False),
        ('"x": ' + "[" * 999 + "]" * 999, True),
        ('"x": ' + "[" * 1000 + "]" * 1000, False),
    ],
)
def test_the_limits_of_jackson(members: str, *, good: bool) -> None:
    text = '{"type": "int", ' + members + "}"

    if good:
        assert parse(text).kind == "int"
    else:
        with pytest.raises(AvroParseError, match="not JSON"):
            parse(text)


def test_defaults_are_looked_at_only_if_told() -> None:
    text = _record(_field("int", default="one"))

    schema = parse(text)

    assert isinstance(schema, Record)
    assert schema.all_fields[0].default == "one"
    with pytest.raises(AvroParseError, match="default of 'f'"):
        parse(text, validate_defaults=True)
