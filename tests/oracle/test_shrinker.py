"""What is wrong on purpose is found, and shown with nothing around it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.oracle.broker_classes import Verdict
from tests.oracle.differences import Difference, differences, smallest
from tests.oracle.shrinker import shrunk
from tests.support.decisions import Answer, our_answer

FIELDS = [
    {"name": "a", "type": "long", "default": 1},
    {"name": "b", "type": ["null", "string"], "default": None},
    {"name": "c", "type": {"type": "map", "values": "int"}, "doc": "what it is"},
]


class Honest:
    """An oracle that decides as we do."""

    def ask(self, cases: Sequence[Mapping[str, Any]]) -> list[Verdict]:
        return [_verdict(our_answer(case)) for case in cases]


def _verdict(answer: Answer) -> Verdict:
    return {
        "accepted": answer.accepted,
        "version": answer.version,
        "http": answer.http,
        "client_error": None,
        "reason": "",
        "error_class": None,
    }


def blind_to_maps(case: Mapping[str, Any]) -> Answer:
    """Wrong: refuses whatever has a map in it."""
    answer = our_answer(case)
    if "map" in case["candidate"]["schema"]:
        return replace(answer, accepted=False, version=None, http=409)
    return answer


def avro(*fields: object) -> dict[str, Any]:
    text = json.dumps({"type": "record", "name": "R", "fields": fields})
    return {"type": "AVRO", "schema": text, "properties": {"owner": "a"}}


def case(*existing: dict[str, Any], candidate: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "1-1",
        "strategy": "BACKWARD_TRANSITIVE",
        "mode": "producer",
        "existing": list(existing),
        "candidate": candidate,
    }


def found_in(one: dict[str, Any]) -> Difference:
    (found,) = differences([one], Honest(), blind_to_maps)
    return found


def test_no_difference_where_there_is_none() -> None:
    assert differences([case(candidate=avro(*FIELDS))], Honest()) == []


def test_a_difference_is_shrunk_to_what_makes_it() -> None:
    existing = [avro(FIELDS[0]), {"deleted": True}, avro(*FIELDS[1:])]

    small = smallest(found_in(case(*existing, candidate=avro(*FIELDS))), Honest(), blind_to_maps)

    assert small.case["existing"] == []
    assert small.case["candidate"]["properties"] == {}
    assert json.loads(small.case["candidate"]["schema"])["type"] in {"record", "map"}
    assert len(small.case["candidate"]["schema"]) < 60
    assert small.ours == Answer(accepted=False, version=None, http=409)


def test_a_difference_is_written_as_a_line_of_a_conformance_file() -> None:
    found = found_in(case(candidate=avro(*FIELDS)))

    line = json.loads(found.line())

    assert line == {**found.case, "broker": line["broker"]}
    assert line["broker"] == {
        "accepted": True,
        "version": 0,
        "http": 200,
        "client_error": None,
        "reason": "",
    }


def test_a_crash_is_a_difference() -> None:
    def crashing(_case: Mapping[str, Any]) -> Answer:
        raise ZeroDivisionError("by zero")

    (found,) = differences([case(candidate=avro())], Honest(), crashing)

    assert found.ours == "ZeroDivisionError: by zero"


def test_text_that_is_no_json_is_shrunk_too() -> None:
    long = {"type": "AVRO", "schema": "nothing at all ( but ] this", "properties": {}}

    small = shrunk(case(candidate=long), lambda one: "]" in one["candidate"]["schema"])

    assert small["candidate"]["schema"] == "]"


def test_what_stands_behind_the_json_stays_if_it_counts() -> None:
    tail = {**avro(*FIELDS), "schema": avro(*FIELDS)["schema"] + "\x00"}

    small = shrunk(case(candidate=tail), lambda one: "\x00" in one["candidate"]["schema"])

    assert small["candidate"]["schema"] == "\x00"


def test_it_asks_no_more_often_than_it_may() -> None:
    asked = []

    def shows(one: dict[str, Any]) -> bool:
        asked.append(one)
        return False

    assert shrunk(case(candidate=avro(*FIELDS)), shows, most=7) == case(candidate=avro(*FIELDS))
    assert len(asked) == 7
