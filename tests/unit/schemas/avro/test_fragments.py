"""A definition that is cut into pieces is read as one that is read whole, down to every mistake."""

from __future__ import annotations

import json
import random
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Final

import pytest

from gitops.schemas.avro import parser
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.fragments import cut_type
from gitops.schemas.avro.json_text import MAX_DEPTH
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.avro.schema import facts_of
from tests.support.avro_shapes import shape

forget = AVRO_1_11.forget
parse = AVRO_1_11.parse

_CONFORMANCE: Final = Path(__file__).parents[3] / "conformance"
_NASTY: Final = (
    *'"\\{}[]:,/*\x00\x01\x1f\x7f\n\r\t 0-.eE+',
    "\\u0000", "\\ud800", "\\x", "\\", "\ud800", "\ufeff", "\u00a0", "/**/", "//\n", "NaN", "1e999",
    "9" * 1001 + ",", "[" * 999 + "]" * 999 + ",", '{"%s":1},' % ("k" * 50_001),
    '"items":', '"fields":[1e9],', '"type":[[]],', '"default":1,', '"symbols":["x"],',
    "true", '"a":1,', '"type":"int",', '"doc":1,', '"doc":null,', '"aliases":["x"],', "9" * 1001,
)  # fmt: skip


def _definitions() -> list[str]:
    found = set()
    for name in ("generated.jsonl", "parsing.jsonl"):
        with (_CONFORMANCE / name).open(encoding="utf-8") as lines:
            for line in lines:
                case = json.loads(line)
                found |= {
                    one["schema"]
                    for one in (*case["existing"], case["candidate"])
                    if one.get("type") in ("AVRO", "JSON", "PROTOBUF")
                }
    return sorted(found)


def _mutants(texts: list[str], number: int) -> Iterator[str]:
    """Definitions with one to three places changed."""
    dice = random.Random(11)  # noqa: S311 - the same mutants every time
    for _ in range(number):
        text = dice.choice(texts)
        for _ in range(dice.randrange(1, 4)):
            at = dice.randrange(len(text) + 1)
            text = text[:at] + dice.choice(_NASTY) + text[at + dice.randrange(3) :]
        yield text


def _outcome(text: str) -> Hashable:
    try:
        schema = parse(text)
    except AvroParseError as error:
        return error.problems
    facts = facts_of(schema)
    return (shape(schema), facts.has_aliases, facts.refers_back)


@pytest.fixture(autouse=True)
def nothing_read_before() -> None:
    forget()


@pytest.mark.slow
def test_mistakes_are_the_same_whether_or_not_a_text_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was met before is known while the mutants are read, as it is in real life."""
    texts = _definitions()
    mutants = [*texts, *_mutants(texts, 4000)]
    cut = [_outcome(text) for text in mutants]
    assert sum(isinstance(one, tuple) and len(one) == 3 for one in cut) > 1000

    monkeypatch.setattr(parser, "cut_type", lambda _text: None)
    for text, outcome in zip(mutants, cut, strict=True):
        forget()
        assert _outcome(text) == outcome, text


@pytest.mark.slow
def test_most_definitions_are_cut() -> None:
    texts = [text for text in _definitions() if text.startswith('{"type": "record"')]

    assert sum(cut_type(text.encode()) is not None for text in texts) > len(texts) / 2


_TOO_LONG: Final = (
    "9" * 1001,
    "1" * 1000 + ".5",
    '{"%s":1}' % ("k" * 50_001),
    "[" * 1000 + "]" * 1000,
)


@pytest.mark.parametrize("hidden", _TOO_LONG, ids=lambda text: text[:6])
@pytest.mark.parametrize(
    "text",
    [
        '{"type":"array","items":%s,"items":"int"}',
        '{"type":"record","name":"A","fields":[%s],"fields":[]}',
        '{"type":"record","name":"A","x":1,"fields":[%s],"fields":[]}',
        '{"type":"record","name":"A","fields":[{"name":"a","type":%s,"type":"int"}]}',
        '{"type":"record","name":"A","fields":[{"name":"a","type":"int","default":%s,"default":1}]}',
    ],
)
def test_what_is_said_twice_is_read_both_times(text: str, hidden: str) -> None:
    with pytest.raises(AvroParseError, match="not JSON"):
        parse(text % hidden)


@pytest.mark.parametrize("levels", [1001, 6000])
@pytest.mark.parametrize("kind", ["array", "map"])
def test_types_without_a_record_are_looked_at_for_depth(kind: str, levels: int) -> None:
    member = "items" if kind == "array" else "values"
    text = f'{{"type":"{kind}","{member}":' * levels + '"int"' + "}" * levels

    with pytest.raises(AvroParseError, match=f"deeper than {MAX_DEPTH}"):
        parse(text)


def test_a_record_with_members_of_its_own_is_cut_too() -> None:
    text = b'{"type": "record", "name": "R", "x.y": {"z": [1]}, "aliases": ["A"], "fields": [{}]}'
    node = cut_type(text)

    assert isinstance(node, dict)
    assert node["x.y"] == {"z": [1]}
    assert [bytes(piece) for piece in node["fields"]] == [b"{}"]


@pytest.mark.parametrize("missing", [0, 1])
def test_a_field_nests_as_deep_as_its_definition_may(missing: int) -> None:
    depth = MAX_DEPTH - 3 - missing + 1  # the record, its fields and the field stand around it
    kind = '{"type":"array","items":' * depth + '"int"' + "}" * depth
    text = f'{{"type":"record","name":"R","fields":[{{"name":"f","type":{kind}}}]}}'

    if missing:
        assert parse(text).kind == "record"
    else:
        with pytest.raises(AvroParseError, match=f"deeper than {MAX_DEPTH}"):
            parse(text)
