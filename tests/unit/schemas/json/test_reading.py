"""Which JSON values clients read as another type: certain answers, and where it depends."""

from __future__ import annotations

import pytest

from gitops.schemas.avro.parser import ANY_AVRO
from gitops.schemas.json.reading import Answer, compare_types, unread_json

_ITEMS = '{"type": "array", "items": "long"}'
_MAP = '{"type": "map", "values": "long"}'
_RECORD = '{"type": "record", "name": "R", "fields": [{"name": "x", "type": "string"}]}'
_ENUM = '{"type": "enum", "name": "E", "symbols": ["A"]}'


def _quoted(name: str) -> str:
    return name if name.startswith("{") else f'"{name}"'


def _reasons(writer: str, reader: str) -> list[tuple[str, bool]]:
    """Path, and whether every client fails on every value, for each place."""
    schemas = [
        ANY_AVRO.parse(
            f'{{"type": "record", "name": "Order", "fields": [{{"name": "a", "type": {one}}}]}}'
        )
        for one in (writer, reader)
    ]
    return [(reason.path, reason.is_certain) for reason in unread_json(*schemas)]


@pytest.mark.parametrize(
    ("writer", "reader", "answer"),
    [
        ("int", "long", Answer.READS),
        ("long", "double", Answer.READS),
        (_ENUM, "string", Answer.READS),
        ("long", "int", Answer.MAY_FAIL),
        ("double", "long", Answer.MAY_FAIL),
        ("double", "float", Answer.MAY_FAIL),
        ("long", "string", Answer.MAY_FAIL),
        ("string", "long", Answer.MAY_FAIL),
        ("int", "boolean", Answer.MAY_FAIL),
        ("boolean", "int", Answer.MAY_FAIL),
        ("null", "long", Answer.MAY_FAIL),
        (_MAP, _RECORD, Answer.MAY_FAIL),
        ('{"type": "int", "logicalType": "date"}', "string", Answer.MAY_FAIL),
        ('{"type": "array", "items": "int", "java-class": "[C"}', "string", Answer.MAY_FAIL),
        ('{"type": "record", "name": "java.util.Date", "fields": []}', "long", Answer.MAY_FAIL),
        ("double", "boolean", Answer.FAILS),
        ("string", _RECORD, Answer.FAILS),
        (_RECORD, "string", Answer.FAILS),
        (_ITEMS, "long", Answer.FAILS),
        ("long", _ITEMS, Answer.FAILS),
        (_ITEMS, _MAP, Answer.FAILS),
        ("long", "null", Answer.FAILS),
    ],
)
def test_pairs_of_types(writer: str, reader: str, answer: Answer) -> None:
    assert compare_types(ANY_AVRO.parse(_quoted(writer)), ANY_AVRO.parse(_quoted(reader))) is answer


def test_each_branch_of_a_union_and_each_nested_field_is_compared() -> None:
    inner = '{{"type": "record", "name": "R", "fields": [{{"name": "x", "type": {}}}]}}'
    assert _reasons('["null", "long"]', '"long"') == [("a", False)]
    assert _reasons('"long"', '["null", "long"]') == []
    assert _reasons('["null", "string"]', f'["null", {_ITEMS}]') == [("a", True)]
    nested = [f'["null", {inner.format(kind)}]' for kind in ('"string"', _ITEMS)]
    assert _reasons(*nested) == [("a.x", True)]


def test_names_of_types_and_fields_without_default_do_no_harm() -> None:
    """A field that messages do not contain is null, 0 or false to every client."""
    other = _RECORD.replace('"R"', '"S"').replace('"x"', '"y"')
    assert _reasons(_RECORD, other) == []


def test_records_that_contain_themselves_end() -> None:
    text = (
        '{{"type": "record", "name": "R", "fields": [{{"name": "next", "type": ["null", "R"]}}, '
        '{{"name": "x", "type": {}}}]}}'
    )
    pair = [text.format(kind) for kind in ('"string"', _ITEMS)]
    assert _reasons(*pair) == [("a.x", True)]
