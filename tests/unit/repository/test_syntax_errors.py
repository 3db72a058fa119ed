"""Texts that are neither YAML nor JSON: what it is, where, what to do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.repository.definitions.json_mistakes import json_mistake
from gitops.repository.yaml.parser import parse_yaml


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: 1\n<<<<<<< HEAD\nb: 1\n=======\n", "<<<<<<<", "git could not merge"),
        ("a:\n\tb: 1\n", "\t", "a tab"),
        ("a:\n  b: 1\n\tc: 1\n", "\t", "a tab"),
        ("a:\n  b: 1\n   c: 1\n", "c: 1", "wrong indentation"),
        ("a:\n   b: 1\n  c: 1\n", "c: 1", "wrong indentation"),
        (" a: 1\nb: 1\n", "b: 1", "wrong indentation"),
        ("a:\n - b\n- c\n", "- c", "wrong indentation"),
        ("a: b: c\n", ": c", "a second ': '"),
        ("a: 'it's'\n", "s'", "after the end"),
        ("a: 'b\nc: 1\n", "'b", "the quote that begins here"),
        ("a: {b: 1\nc: 1\n", "{b", "the { that begins here"),
        ("a: [b, c\nd: 1\n", "[b", "the [ that begins here"),
        ("a: {b: 'c' d: 1}\n", "d: 1", "a comma or the closing }"),
        ("a: {b: ${C}}\n", "${C}", "${C} inside {…}"),
        ("a: {b: '${C}', d: ${E}}\n", "${E}", "${E} inside {…}"),
        ("# a: ${A}\nb: 1\nc: [\n", "[", "the [ that begins here"),
        ("a: ${A}\nc: [\n", "[", "the [ that begins here"),
        ("c: {\n\n", "{", "the { that begins here"),
        ("c: [ # ${A}\n", "[", "the [ that begins here"),
        ("a\nb: 1\n", "a\n", "a key without"),
        ("a: @b\n", "@", "may not begin with @"),
        ("a: *.avro\n", "*", "may not begin with *"),
        ('a: "\\d"\n', "\\d", "unknown escape"),
    ],
)
def test_yaml(text: str, place: str, words: str) -> None:
    (problem,) = parse_yaml(text.encode()).problems

    assert words in problem.message
    assert problem.span.start in (text.find(place), text.rfind(place))
    assert problem.hint


def test_a_quoted_reference_in_braces_is_good() -> None:
    assert parse_yaml(b'a: {b: "${C}"}\nd: ${E}\n').problems == ()


@given(st.text(), st.text(), st.integers(0))
def test_any_text_that_is_no_json(text: str, told: str, offset: int) -> None:
    found = json_mistake(text, told, offset)

    assert found.message or not told
    assert found.offset >= 0
