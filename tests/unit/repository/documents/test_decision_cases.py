"""A stream of cases: one verdict for each, in order, whatever the lines hold."""

from __future__ import annotations

import cProfile
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import schema_pairs
from gitops.repository.documents.decision_cases import decide_lines
from gitops.repository.json_validation import COMPAT_CASE, schema_problems
from gitops.schemas.avro.compatibility import can_read
from gitops.schemas.avro.parser import AVRO_1_11

forget = AVRO_1_11.forget
parse = AVRO_1_11.parse

_V0 = {"type": "AVRO", "schema": '{"type":"record","name":"A","fields":[]}'}
_V1 = {
    "type": "AVRO",
    "schema": '{"type":"record","name":"A","fields":[{"name":"a","type":"int"}]}',
}


def _case(**more: object) -> dict[str, object]:
    return {"id": "x", "strategy": "FULL", "existing": [_V0], "candidate": _V1, **more}


def _decided(*lines: object) -> list[tuple[dict[str, Any], bool]]:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return [(json.loads(verdict), good) for verdict, good in decide_lines(texts)]


def _verdict(**more: object) -> tuple[bool, int | None]:
    ((verdict, good),) = _decided(_case(**more))
    assert good
    return verdict["accepted"], verdict["version"]


@pytest.mark.parametrize(
    ("more", "accepted", "version"),
    [
        ({}, False, None),
        ({"strategy": "FORWARD"}, True, 1),
        ({"strategy": "FORWARD", "mode": "producer"}, True, 1),
        ({"candidate": _V0}, True, 0),
        ({"existing": []}, True, 0),
        ({"existing": [_V0, {"deleted": True}]}, True, 2),
        ({"existing": [_V0, {"deleted": True}, _V1], "candidate": _V1}, True, 2),
        ({"mode": "version", "candidate": _V0}, True, 0),
        ({"mode": "version"}, True, -1),
        ({"mode": "lookup"}, False, None),
        ({"mode": "lookup", "candidate": _V0}, True, 0),
        ({"mode": "compat", "strategy": "FORWARD"}, True, None),
        ({"candidate": {"type": "STRING"}, "existing": []}, True, 0),
        ({"candidate": {"type": "STRING", "properties": None}, "existing": []}, True, 0),
    ],
)
def test_modes_and_histories(
    more: dict[str, object], version: int | None, *, accepted: bool
) -> None:
    assert _verdict(**more) == (accepted, version)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "nonsense",
        "[]",
        "1",
        "null",
        '{"id": "x"}',
        "[" * 100_000,
        _case(candidate=None),
        _case(candidate={"type": "AVROO"}),
        _case(candidate={"type": ["AVRO"]}),
        _case(candidate={"type": "AVRO", "schema": {}}),
        _case(candidate={"type": "AVRO", "schema": "", "properties": ["a"]}),
        _case(existing={}),
        _case(existing=[None]),
        _case(existing=[{"type": "KEY_VALUE", "schema": "no pair"}]),
        _case(strategy="BACKWARDS"),
        _case(strategy=["FULL"]),
        _case(mode="reader"),
        _case(mode=None),
    ],
)
def test_a_bad_line_is_answered_in_its_place(line: object) -> None:
    found = _decided(_case(id="before"), line, _case(id="after", candidate=_V0))

    assert [good for _, good in found] == [True, False, True]
    assert [verdict["id"] for verdict, _ in found][::2] == ["before", "after"]
    assert not found[1][0]["accepted"]
    assert found[1][0]["reason"].startswith("line 2: ")
    assert set(found[1][0]) == {"id", "accepted", "version", "reason"}


_ODD = st.sampled_from(
    (
        None,
        True,
        False,
        0,
        1.5,
        "",
        "x",
        "b64",
        "AVRO",
        "INT8",
        "FULL",
        "lookup",
        [],
        {},
        [None],
        {"a": 1},
    )
)
_SCHEMAS = st.dictionaries(
    st.sampled_from(("type", "schema", "properties", "encoding", "deleted", "more")),
    _ODD | st.just({"a": None}) | st.just({"a": [1]}) | st.just({"a": "b", "c": 1.5, "d": True}),
)
_CASES = st.fixed_dictionaries(
    {},
    optional={
        "id": _ODD,
        "candidate": _ODD | _SCHEMAS | st.just(_V0),
        "existing": _ODD | st.lists(_ODD | _SCHEMAS | st.just(_V0), max_size=2),
        "strategy": _ODD,
        "mode": _ODD,
        "idle": _ODD,
        "more": _ODD,
    },
)


@given(_CASES | _ODD)
def test_a_line_is_a_case_exactly_if_the_published_schema_says_so(content: object) -> None:
    problems = schema_problems(COMPAT_CASE, content)

    ((verdict, good),) = _decided(json.dumps(content))

    if good:
        assert problems == []
    elif problems:
        assert verdict["reason"] == "line 1: " + "; ".join(one.message for one in problems)
    else:
        assert "base64" in verdict["reason"]  # a schema of JSON does not look into text


def test_a_bad_case_keeps_its_id() -> None:
    ((verdict, good),) = _decided(_case(id={"any": ["thing", 1]}, strategy="nonsense"))

    assert (verdict["id"], good) == ({"any": ["thing", 1]}, False)


@pytest.mark.slow
def test_a_decision_takes_little_more_work_than_parse_and_check() -> None:
    """What equality and validation need comes from the one reading, with nothing read before."""
    pairs = list(schema_pairs.pairs(20, 3))
    lines = [json.dumps(_case(existing=[_avro(old)], candidate=_avro(new))) for old, new in pairs]

    def decide() -> None:
        assert all(good for _, good in decide_lines(lines))

    def parse_and_check() -> None:
        for old, new in pairs:
            can_read(parse(old), parse(new))
            can_read(parse(new), parse(old))

    assert _calls(decide) < 1.4 * _calls(parse_and_check)


def _avro(text: str) -> dict[str, str]:
    return {"type": "AVRO", "schema": text}


def _calls(run: Callable[[], None]) -> int:
    """How many functions are called, of Python and of C."""
    forget()
    profile = cProfile.Profile()
    profile.runcall(run)
    return sum(entry.callcount for entry in profile.getstats())


def test_blank_lines_are_no_cases_and_are_counted() -> None:
    found = _decided("", _case(), "  \n", "{")

    assert len(found) == 2
    assert found[1][0]["reason"].startswith("line 4: ")


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters() | st.just("\ud800")),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
_MEMBERS = st.sampled_from(["id", "strategy", "mode", "existing", "candidate", "idle"])


@pytest.mark.slow
@given(st.lists(st.dictionaries(_MEMBERS, _VALUES)))
def test_any_stream_has_a_verdict_for_each_line(changed: list[dict[str, Any]]) -> None:
    lines = [json.dumps({**_case(), **each}) for each in changed]

    verdicts = [verdict for verdict, _ in decide_lines(lines)]

    assert [json.loads(v.encode())["id"] for v in verdicts] == [
        each.get("id", "x") for each in changed
    ]
    assert all("\n" not in verdict for verdict in verdicts)


@given(st.lists(st.text()))
def test_any_text_has_a_verdict_for_each_line_that_is_not_blank(lines: list[str]) -> None:
    assert len(list(decide_lines(lines))) == sum(bool(line.strip()) for line in lines)


@pytest.mark.slow
def test_a_definition_that_takes_all_of_the_stack_is_answered_and_the_stream_goes_on() -> None:
    """Such a chain overflows the broker's stack too, which answers 500 (Pulsar 4.0.7)."""
    case = {
        "id": 1,
        "strategy": "BACKWARD",
        "existing": [{"type": "AVRO", "schema": _chain("old", "int")}],
        "candidate": {"type": "AVRO", "schema": _chain("new", "long")},
    }
    deep = {"type": "KEY_VALUE", "schema": f'{{"key":{_nested(8_000)},"value":""}}'}
    lines = _decided(case, {"id": 2, "candidate": deep}, {"id": 3, "candidate": {"type": "STRING"}})
    assert [(verdict["id"], verdict["accepted"], good) for verdict, good in lines] == [
        (1, False, True),
        (2, False, True),
        (3, True, True),
    ]
    assert "the records refer to each other too deeply" in lines[0][0]["reason"]


def _chain(name: str, kind: str) -> str:
    """Records each of which has a field of the one before; few levels of JSON, many of types.

    The reader takes none of those that stand in the union, which would only take time.
    """
    records = [
        {"type": "record", "name": f"R{n}", "fields": [{"name": "f", "type": inner}]}
        for n, inner in enumerate([kind, *(f"R{n}" for n in range(7_999))])
    ]
    fields = [
        {"name": name, "type": {"type": "array", "items": records}, "default": []},
        {"name": "last", "type": "R7999"},
    ]
    return json.dumps({"type": "record", "name": "Top", "fields": fields})


def _nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels
