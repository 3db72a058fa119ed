"""What is told about a definition that is not JSON."""

from __future__ import annotations

import pytest

from gitops.repository.definitions.json_mistakes import JsonMistake, json_mistake
from gitops.schemas.avro.json_text import JsonTextError, read_json

_CONFLICT = '{"a": [\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n]}'


def _mistake(text: str) -> JsonMistake:
    with pytest.raises(JsonTextError) as raised:
        read_json(text)
    return json_mistake(text, str(raised.value), raised.value.offset)


@pytest.mark.parametrize(
    ("text", "words", "at", "hint"),
    [
        ('{"a": 1,}', "a comma before }", ",}", "remove the comma"),
        ('["a", // why\n]', "a comma before ]", ", //", "remove the comma"),
        ("{'a': 1}", "' is no quote of JSON", "'a'", "double quotes"),
        ("{\u201ca\u201d: 1}", "is no quote of JSON", "\u201ca", "double quotes"),
        ("{a: 1}", "'a' without quotes", "a:", "double quotes"),
        ('{"a": True}', "unknown word True", "True", "write true"),
        ('{"a": NaN, "NaN": 1}', "NaN is not JSON", "NaN, ", "no such number"),
        ('{"NaN": -Infinity}', "-Infinity is not JSON", "-Inf", "no such number"),
        ('# a\n{"a": 1}', "a comment with #", "#", "write // "),
        ('{"a": 1} // done', "a comment after the definition", "// done", "move it up"),
        ('{"a": 1}}', "a } too many", "}", "remove it"),
        ('{"a": 1} {"b": 1}', "after the end", '{"b"', "one definition"),
        ('{"a": 1 "b": 2}', "a comma is missing", '"b"', "add the comma"),
        ('{"a" 1}', "a colon is missing", "1}", "add the colon"),
        ('{"a": "x}', "a text that is not closed", '"x}', "close it"),
        ('{"a": "x\ny"}', "line break or tab", "\ny", r"\n"),
        (r'{"a": "C:\x"}', "an unknown escape", "\\x", "backslash"),
        ('{"a": ?}', "? begins no value", "?}", "true"),
        ('{"a": }', "a value is missing before this", "}", "write it"),
        ('{"a": 1, ?}', "a name in double quotes is missing", "?}", '"name": value'),
        ('\ufeff{"a": 1}', "a byte order mark", "\ufeff", "without BOM"),
        (_CONFLICT, "a conflict that git could not merge", "<<<<<<<", "remove the lines"),
        ("words", "it begins with 'words'", "words", "a definition begins with"),
    ],
)
def test_a_mistake_is_told_where_it_is(text: str, words: str, at: str, hint: str) -> None:
    found = _mistake(text)

    assert words in found.message
    assert text[found.offset :].startswith(at)
    assert hint in found.hint


@pytest.mark.parametrize("text", ['{"a": [1, 2', '{"a":', '["a",  '])
def test_a_text_that_ends_too_early(text: str) -> None:
    found = _mistake(text)

    assert found.message == "the text ends too early"
    assert found.hint == "close every { with } and every [ with ]"


@pytest.mark.parametrize("text", ["", "  \n", "// nothing but a comment\n"])
def test_a_text_with_nothing_in_it(text: str) -> None:
    assert _mistake(text).message == "there is nothing"


def test_what_nobody_knows_is_told_in_the_words_of_the_parser() -> None:
    assert json_mistake('{"a": 1}', "Something new", 6) == JsonMistake("Something new", 6)
