"""A definition in canonical form is the same JSON, word by word, with every comment."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.planning.fingerprints import is_same
from gitops.repository.formatting.avro import WIDTH, format_avro
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.json_text import JsonTextError, blank_comments
from gitops.schemas.payload import PayloadError, shown_schema
from gitops.schemas.types import TYPES
from tests.support.examples import examples
from tests.support.layouts import JsonLayouts

_ROOT: Final = Path(__file__).parents[4]
_WORD: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\r\n]*|[\[\]{},:]|[^\s\[\]{},:"/]+', re.DOTALL
)


def words(text: str) -> Counter[str]:
    """All words and comments of a text, however they stand."""
    return Counter(re.sub(r"[ \t\r\n]+", " ", word) for word in _WORD.findall(text))


def written(text: str, *, ordered: bool) -> Any:  # noqa: ANN401 - JSON
    """The value with numbers as written and all twins of a name; members in any order or not."""

    def members(pairs: list[tuple[str, Any]]) -> Any:  # noqa: ANN401 - JSON
        return ("object", pairs if ordered else sorted(pairs, key=repr))

    return json.loads(
        blank_comments(text), object_pairs_hook=members, parse_float=str, parse_int=str
    )


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(random=st.randoms(use_true_random=False))
def test_any_layout_becomes_canonical_once_and_says_the_same(random: Random) -> None:
    text = JsonLayouts(random).text()

    after, in_order = format_avro(text), format_avro(text, ordered=False)

    assert words(after) == words(in_order) == words(text)
    assert written(after, ordered=False) == written(text, ordered=False)
    assert written(in_order, ordered=True) == written(text, ordered=True)
    assert format_avro(after) == after
    assert format_avro(in_order, ordered=False) == in_order


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (' "string"', '"string"\n'),
        ('["null" ,"int"]', '["null", "int"]\n'),
        ('{"size":4,"name":"F","type":"fixed"}', '{"type": "fixed", "name": "F", "size": 4}\n'),
        (
            (
                '{"fields":[{"doc":"d","type":"int","name":"a","default":-0,"order":"ignore"}],'
                '"x":1e3,"namespace":"n","name":"R","type":"record"}'
            ),
            (
                '{\n  "type": "record",\n  "name": "R",\n  "namespace": "n",\n  "fields": [\n'
                '    {"name": "a", "type": "int", "default": -0, "doc": "d", "order": "ignore"}'
                '\n  ],\n  "x": 1e3\n}\n'
            ),
        ),
        # What a default or an own property holds is data: its members stay where they are.
        (
            '{"type":{"logicalType":"z","type":"long","p":{"type":1,"b":2,"name":3}}}',
            '{"type": {"type": "long", "logicalType": "z", "p": {"type": 1, "b": 2, "name": 3}}}\n',
        ),
        ('{"name":1,"type":2,"type":3}', '{"name": 1, "type": 2, "type": 3}\n'),
        (
            '// head\n\n{ // in\r\n"type": /* why */ "map", "values": "int" // end\n}',
            '// head\n\n{\n  // in\n  /* why */\n  "type": "map",\n  "values": "int" // end\n}\n',
        ),
        ('{"type":"array","items":"int"\n\n\n}', '{"type": "array", "items": "int"}\n'),
    ],
)
def test_the_canonical_form(before: str, after: str) -> None:
    assert format_avro(before) == after
    assert format_avro(after) == after


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": 1,}', "nul", '{"a": NaN}', '"a" // behind', "1 2"]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(JsonTextError):
        format_avro(text)


@pytest.mark.slow
def test_a_definition_may_nest_as_deep_as_a_broker_takes_it() -> None:
    text = '{"type":"array","items":' * 500 + '"int"' + "}" * 500
    assert format_avro(format_avro(text)) == format_avro(text)


@pytest.mark.parametrize("length", range(1, 120, 7))
def test_what_fits_stands_on_one_line(length: int) -> None:
    flat = f'{{"type": "{"x" * length}", "doc": ""}}'
    lines = format_avro(flat).splitlines()
    assert (lines == [flat]) is (len(flat) <= WIDTH)


def _recorded() -> list[str]:
    texts = set()
    for name in ("generated", "parsing"):
        path = _ROOT / "tests" / "conformance" / f"{name}.jsonl"
        for line in path.read_text("utf-8").splitlines()[::50]:
            texts |= set(_texts(json.loads(line))) if line.startswith("{") else set()
    return sorted(texts)


def _texts(node: Any) -> list[str]:  # noqa: ANN401 - JSON
    if isinstance(node, str):
        return [node] if node.lstrip()[:1] in ("{", "[", '"') else []
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [text for child in children for text in _texts(child)]


@pytest.mark.slow
def test_a_broker_takes_the_canonical_form_of_recorded_schemas_for_the_same() -> None:
    compared = 0
    for text in _recorded():
        before = SchemaInfo(type=SchemaType.JSON, schema=text, properties={})
        try:
            TYPES.read_definition(shown_schema(before))
            after = format_avro(text)
        except (AvroParseError, PayloadError, JsonTextError):
            continue
        assert is_same(before, SchemaInfo(type=SchemaType.JSON, schema=after, properties={})), text
        assert format_avro(after) == after
        compared += 1
    assert compared > 100
