"""Where two broker lines read every schema of a topic alike, their answers need no comparison."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.audit import operations
from gitops.audit.topic import AuditedTopic
from gitops.model.audit import Difference
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.types import AVRO_DEFINED
from tests.support.audits import GOOD, audited, info, line, pair, record
from tests.support.random_avro import pairs
from tests.support.shared_files import shared_file

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


_FIELD = {"name": "pulsarGitopsAudit", "type": "int", "default": 1}
"""As the new schema of an audit has it, of another type."""


@pytest.mark.parametrize("kind", ["AVRO", "JSON", "PROTOBUF"])
@pytest.mark.parametrize("present", _LINES)
@pytest.mark.parametrize("target", _LINES)
def test_a_definition_that_has_the_new_field_already_is_the_same_to_all(
    kind: str, present: str, target: str
) -> None:
    topic = audited(present, (kind, record(_FIELD)))
    assert _differences(topic, target) == _differences(topic, target, whole=True)


def _differences(
    topic: AuditedTopic, target: str, *, whole: bool = False
) -> tuple[Difference, ...]:
    """`whole`: also where all versions are read alike."""
    if not whole:
        return operations.differences(topic, line(target))
    with mock.patch.object(operations, "_are_read_alike", return_value=False):
        return operations.differences(topic, line(target))


@pytest.mark.slow
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

    assert _differences(topic, lines[1]) == _differences(topic, lines[1], whole=True)


@pytest.mark.slow
def test_the_differences_of_recorded_histories_are_those_of_a_whole_comparison() -> None:
    found = set()
    for text in shared_file("conformance-lines/conformance-4.0.7.jsonl").read_text().split("\n"):
        if not (case := json.loads(text or "null")):
            continue
        versions = [_info(one) for one in (*case["existing"], case["candidate"])]
        topic = audited("4.0", *filter(None, versions), strategy=Strategy(case["strategy"]))
        if not topic.history.entries:
            continue
        whole = _differences(topic, "5.0", whole=True)
        assert _differences(topic, "5.0") == whole, case["id"]
        found.add(bool(whole))
    assert found == {True, False}


def _info(shown: dict[str, Any]) -> SchemaInfo | None:
    """Only a schema whose definition is Avro's: of others nothing is left out."""
    if "type" not in shown or (kind := SchemaType(shown["type"])) not in AVRO_DEFINED:
        return None
    return SchemaInfo(type=kind, schema=shown["schema"])
