"""The random cases themselves: repeatable, of every kind, and in the form of a case."""

from __future__ import annotations

import itertools
import json

import pytest

from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaType
from tests.oracle.cases import MODES, Cases
from tests.oracle.line_cases import LineCases
from tests.oracle.oracle_lines import ORACLE_LINES
from tests.support.decisions import our_answer

COUNT = 3000


@pytest.fixture(scope="module")
def cases() -> list[dict[str, object]]:
    return list(itertools.islice(Cases(1), COUNT))


def test_a_seed_gives_the_same_cases_again(cases: list[dict[str, object]]) -> None:
    assert list(itertools.islice(Cases(1), 300)) == cases[:300]
    assert list(itertools.islice(Cases(2), 300)) != cases[:300]


def test_every_type_strategy_mode_and_length_occurs(cases: list[dict[str, object]]) -> None:
    text = json.dumps(cases)

    assert {case["strategy"] for case in cases} == {s.value for s in SchemaCompatibilityStrategy}
    assert {case["mode"] for case in cases} == set(MODES)
    assert all(f'"{kind.value}"' in text for kind in SchemaType)
    assert all(word in text for word in ('"deleted"', '"b64"', '"idle"', "\\\\ud800"))
    assert {len(list(map(str, _existing(case)))) for case in cases} >= set(range(7))


def test_cases_are_lines_of_json(cases: list[dict[str, object]]) -> None:
    for case in cases:
        assert json.loads(json.dumps(case)) == case


def _existing(case: dict[str, object]) -> list[object]:
    existing = case["existing"]
    assert isinstance(existing, list)
    return existing


def test_cases_about_lines_are_repeatable_and_of_every_mode_and_strategy() -> None:
    cases = list(itertools.islice(LineCases(1), COUNT))

    assert list(itertools.islice(LineCases(1), 300)) == cases[:300]
    assert {case["strategy"] for case in cases} == {s.value for s in SchemaCompatibilityStrategy}
    assert {case["mode"] for case in cases} == set(MODES)
    assert all(json.loads(json.dumps(case)) == case for case in cases)


def test_lines_decide_many_of_them_differently() -> None:
    """So that the generator keeps looking where lines differ."""
    avro = {"AVRO", "JSON", "PROTOBUF"}
    cases = [
        case
        for case in itertools.islice(LineCases(1), COUNT)
        if {one.get("type", "AVRO") for one in (*case["existing"], case["candidate"])} <= avro
    ]
    old, new = (ORACLE_LINES[name].line for name in ("4.0", "4.2"))

    different = sum(our_answer(case, old) != our_answer(case, new) for case in cases)

    assert different > len(cases) * 0.1
