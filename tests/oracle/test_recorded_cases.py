"""The recorded cases that are changed: the project's own, and those from beside the checkout."""

from __future__ import annotations

import json

from tests.oracle.recorded_cases import recorded_cases
from tests.support.shared_files import shared_file


def test_the_projects_own_are_always_among_them() -> None:
    assert {case["candidate"]["type"] for case in recorded_cases()} >= {"AVRO", "JSON", "STRING"}


def test_each_version_of_a_real_schema_is_among_them_where_there_are_any() -> None:
    histories = json.loads(shared_file("realworld/radar-histories.json").read_text("utf-8"))

    recorded = [case["candidate"]["schema"] for case in recorded_cases()]
    assert {text for texts in histories.values() for text in texts} <= set(recorded)


def test_those_of_pulsars_own_tests_are_among_them_where_there_are_any() -> None:
    lines = shared_file("realworld/pulsar-unit-tests.jsonl").read_text("utf-8").split("\n")

    recorded = recorded_cases()
    for case in map(json.loads, filter(None, lines)):
        assert {"existing": case["existing"], "candidate": case["candidate"]} in recorded
