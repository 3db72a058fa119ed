"""Where two broker lines read every schema of a topic alike, their answers need no comparison."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.audit import operations
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from tests.support.audits import GOOD, audited, info, line, pair, record
from tests.support.random_avro import pairs

_OPTIONAL = {"name": "o", "type": ["null", "string"], "default": None}
_MAP = {"type": "map", "values": ["int", "null"]}
_LINES = ("3.0", "4.0", "4.2", "5.0")


def _are_alike(present: str, target: str, *definitions: Any) -> bool:  # noqa: ANN401
    topic = audited(present, *definitions)
    types, others = topic.line.types, line(target).types
    return all(types.reads_alike(others, schema) for _, schema in topic.history.entries)


@pytest.mark.parametrize(
    "definition",
    [
        GOOD,
        record(_OPTIONAL, {"name": "n", "type": "int", "default": 1}, namespace="com.acme"),
        record({"name": "l", "type": {"type": "array", "items": "int"}, "default": []}),
        ("JSON", GOOD),
        ("STRING", ""),
    ],
)
def test_ordinary_schemas_are_alike(definition: Any) -> None:  # noqa: ANN401
    assert _are_alike("4.0", "5.0", definition)


@pytest.mark.parametrize(
    "definition",
    [
        record(namespace="com.my-co"),
        record({"name": "a$b", "type": "int"}),
        record({"name": "u", "type": ["int", "null"], "default": None}),
        record({"name": "u", "type": ["int", "long"], "default": 1}),
        record({"name": "a", "type": "int", "aliases": ["b"]}),
        record({"name": "r", "type": "string", "default": 1}),
        record({"name": "m", "type": _MAP, "default": {"a": 1}}),
        '["null", {"type": "record", "name": "A", "fields": []}]',
        ("JSON", '{"type": "object"}'),
        pair(GOOD),
    ],
)
def test_what_may_differ_is_compared(definition: Any) -> None:  # noqa: ANN401
    assert not _are_alike("4.0", "5.0", definition)


@settings(max_examples=60, deadline=None)
@given(
    pairs(),
    st.sampled_from(("AVRO", "JSON", "PROTOBUF")),
    st.sampled_from(tuple(Strategy)),
    st.permutations(_LINES),
)
def test_the_differences_are_those_of_a_whole_comparison(
    definitions: tuple[Any, Any], kind: str, strategy: Strategy, lines: list[str]
) -> None:
    versions = (info((kind, json.dumps(one))) for one in definitions)
    topic = audited(lines[0], *versions, strategy=strategy)

    quick = operations.differences(topic, line(lines[1]))
    with mock.patch.object(operations, "_is_read_alike", return_value=False):
        whole = operations.differences(topic, line(lines[1]))

    assert quick == whole
