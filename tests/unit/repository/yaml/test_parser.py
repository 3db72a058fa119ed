"""YAML texts as plain values with positions."""

from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitops.repository.positions import Span
from gitops.repository.yaml import parser
from gitops.repository.yaml.dumper import plain_value, yaml_text
from gitops.repository.yaml.parser import parse_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(word, word) for word in ("yes", "No", "on", "OFF", "y", "2026-01-01", "1:30", "1_0")],
        *[(word, word) for word in ("0b1", "tRue", "-", "+", ".", "1e", "0x", "1.2.3", "=", "nan")],
        ("", None),
        ("~", None),
        ("Null", None),
        ("TRUE", True),
        ("false", False),
        ("-12", -12),
        ("+0", 0),
        ("010", 10),
        ("0o17", 15),
        ("0xfF", 255),
        (".5", 0.5),
        ("1.", 1.0),
        ("-1e3", -1000.0),
        ("-.Inf", -math.inf),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_plain_scalars_are_those_of_yaml_1_2(text: str, value: object) -> None:
    read = plain_value(text)

    assert (read, type(read)) == (value, type(value))


def test_not_a_number_is_read() -> None:
    read = plain_value(".NaN")

    assert isinstance(read, float)
    assert math.isnan(read)


@pytest.fixture(params=["C", "Python"])
def _loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = yaml.CSafeLoader if request.param == "C" else yaml.SafeLoader
    monkeypatch.setattr(parser, "_LOADER", chosen)


@pytest.mark.usefixtures("_loader")
def test_every_key_and_value_has_its_span() -> None:
    text = '\ufeffa: "é😀" # b\nc:\n  - [1, x]\n'

    parsed = parse_yaml(text.encode())

    assert parsed.value == {"a": "é😀", "c": [[1, "x"]]}
    spans = {path: _cut(parsed.text, span) for path, span in parsed.values.items()}
    assert spans[("a",)] == '"é😀"'
    assert spans[("c", 0, 1)] == "x"
    assert _cut(parsed.text, parsed.keys[("c",)]) == "c"


@pytest.mark.usefixtures("_loader")
@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ("a: [", "REPO-R001", 1),
        ("a:\n\t- b", "REPO-R001", 2),
        ("a: \x01", "REPO-R001", 1),
        ("a: 1\na: 2", "REPO-R003", 2),
        ("a: 1\n---\nb: 1", "REPO-R009", 2),
        ("a: !x b", "REPO-R009", 1),
        ("<<: {}", "REPO-R009", 1),
        ("1: a", "REPO-R009", 1),
        ("? {}\n: a", "REPO-R009", 1),
        ("a: &a [*a]", "REPO-R009", 1),
        ("a: &a b\n*a : c", "REPO-R009", 2),
        ("[" * 100, "REPO-R008", 1),
    ],
)
def test_what_is_refused(text: str, rule: str, line: int) -> None:
    problems = parse_yaml(text.encode()).problems

    assert [(each.rule, _line(text, each.span)) for each in problems] == [(rule, line)]


def test_a_duplicate_does_not_hide_what_stands_below_it() -> None:
    parsed = parse_yaml(b"a: {x: 1}\na: {x: 1, x: 2}\nb: 1\nb: 2\n")

    assert parsed.value == {"a": {"x": 1}, "b": 1}
    assert [each.path for each in parsed.problems] == [("a",), ("a", "x"), ("b",)]


def test_a_large_document_is_not_parsed() -> None:
    parsed = parse_yaml(b"a: " + b"x" * 1024 * 1024)

    assert [each.rule for each in parsed.problems] == ["REPO-R008"]
    assert parsed.value is None


def test_aliases_may_be_used_within_reason() -> None:
    parsed = parse_yaml(b"a: &a {x: 1}\nb: [*a, *a]\n")

    assert (parsed.value, parsed.problems) == ({"a": {"x": 1}, "b": [{"x": 1}, {"x": 1}]}, ())


@given(st.binary())
def test_no_bytes_make_a_traceback(data: bytes) -> None:
    parsed = parse_yaml(data)

    assert parsed.complete or parsed.problems


values = st.recursive(
    st.text() | st.booleans() | st.sampled_from(["1e5", "0o7", "~", "<<", "- a", "a: b", "#", "="]),
    lambda inner: st.dictionaries(st.text(), inner, max_size=4),
)


@pytest.mark.slow
@given(st.dictionaries(st.text(), values, min_size=1, max_size=4))
def test_what_is_written_is_read(value: dict[str, object]) -> None:
    parsed = parse_yaml(yaml_text(value).encode())

    assert (parsed.value, parsed.problems) == (value, ())


def _cut(text: str, span: Span) -> str:
    return text[span.start : span.end]


def _line(text: str, span: Span) -> int:
    return text.count("\n", 0, span.start) + 1
