"""What is told about a text that is not YAML."""

from __future__ import annotations

import pytest

from gitops.repository.yaml.parser import parse_yaml
from gitops.repository.yaml.problems import YamlProblem

_CONFLICT = "<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\n"


def _problem(text: str) -> YamlProblem:
    problems = parse_yaml(text.encode()).problems
    assert [each.rule for each in problems] == ["REPO-R001"]
    return problems[0]


@pytest.mark.parametrize(
    ("text", "words", "at", "hint"),
    [
        (_CONFLICT, "a conflict that git could not merge", "<<<<<<<", "remove the lines"),
        ("a:\n\tb: 1\n", "a tab in the indentation", "\tb", "with spaces"),
        ("a:\n  -\tb: 1\n    c: 2\n", "a tab where only spaces may be", "\tb", "a space"),
        ("a: {b: ${NAME}}\n", "${NAME} inside {…} needs quotes", "${NAME}", 'write "${NAME}"'),
        ("a: {b: 1, c: ${A}, d: ${B}}\n", "${A} inside", "${A}", 'write "${A}"'),
        ("a: @b\n", "a text may not begin with @", "@b", "quote it"),
        ("a: b: c\n", "a second ': ' in one line", ": c", "needs quotes"),
        ("a: 'b' c\n", "text after the end of a value", "c\n", "quote the whole value"),
        ("a: 1\n  b: 2\n", "wrong indentation", "b:", "indent what belongs to a key"),
        ("a: 1\nb\nc: 2\n", "a key without ':'", "b\n", "write key: value"),
        ("a: 1\nb:2\nc: 3\n", "no space after the ':'", "b:2", "write key: value"),
        ('a: "C:\\x"\n', "an unknown escape", '"\n', "backslash"),
        ('a: "C:\\q"\n', "an unknown escape", '\\q"', "backslash"),
        ("a: 'b\nc: 1\n", "the quote that begins here is not closed", "'b", "the same quote"),
        ("a: {b: 1\nc: 2\n", "the { that begins here is not closed", "{b", "close it with }"),
        ("a: [b, c\n", "the [ that begins here is not closed", "[b", "close it with ]"),
        ("a: [b: ${NAME}]\n", "${NAME} inside {…} needs quotes", "${NAME}", 'write "${NAME}"'),
        ("a: | b\n", "did not find expected comment or line break", "b", ""),
    ],
)
def test_a_mistake_is_told_where_it_is(text: str, words: str, at: str, hint: str) -> None:
    found = _problem(text)

    assert words in found.message
    assert text[found.span.start :].startswith(at)
    assert hint in found.hint


@pytest.mark.parametrize("text", ['a: {b: "${NAME}"}\n', "a: ${NAME}\n", "a: '${NAME}'\n"])
def test_a_reference_that_yaml_takes_is_no_mistake(text: str) -> None:
    assert list(parse_yaml(text.encode()).problems) == []


def test_a_byte_order_mark_is_passed_over() -> None:
    parsed = parse_yaml("\ufeffa: 1\n".encode())

    assert (parsed.value, list(parsed.problems)) == ({"a": 1}, [])
