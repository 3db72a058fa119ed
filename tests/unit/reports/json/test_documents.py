"""JSON for machines: stable, whole, and always something that a file takes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.decision import Decision
from gitops.model.policy import NamespacePolicies, SchemaCompatibilityStrategy
from gitops.model.schema import SchemaEntry, SchemaInfo, SchemaType
from gitops.reports.json.documents import (
    Items,
    decision_document,
    entry_document,
    findings_document,
    policies_document,
    to_parts,
    to_text,
)
from tests.support.plans import OTHER, REFUSAL
from tests.support.states import CREATED, ORDERS

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters() | st.just("\ud800")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.slow
@given(_JSON)
def test_every_value_can_be_written_and_read_again(value: object) -> None:
    text = to_text(value)

    assert json.loads(text.encode()) == value
    assert text.endswith("\n")


def test_letters_stay_readable() -> None:
    assert to_text({"é": "漢"}) == '{\n  "é": "漢"\n}\n'
    assert to_text("\ud800") == '"\\ud800"\n'


@pytest.mark.slow
def test_parts_of_a_large_document_are_made_when_they_are_written() -> None:
    made: list[int] = []

    def make() -> Iterator[int]:
        for number in range(200_000):
            made.append(number)
            yield number

    document = {"none": Items(make, is_empty=True), "some": Items(make, is_empty=False)}
    parts = to_parts(document)
    first = next(parts)

    assert len(made) < 50_000
    assert json.loads(first + "".join(parts)) == {"none": [], "some": [*range(200_000)]}


def test_findings_in_their_order() -> None:
    document = findings_document([REFUSAL, OTHER])

    assert (document["apiVersion"], document["kind"]) == ("pulsar-gitops/v1", "Findings")
    assert [one["rule"] for one in document["findings"]] == ["AVRO-R002", "PLAN-R006"]
    assert findings_document([])["findings"] == []


def test_a_stored_version() -> None:
    info = SchemaInfo(type=SchemaType.AVRO, schema='"int"', properties={"b": "2", "a": "1"})

    assert entry_document(CREATED, SchemaEntry(version=3, info=info, timestamp=7)) == {
        "topic": "shop/orders/created",
        "version": 3,
        "type": "AVRO",
        "timestamp": 7,
        "schema": '"int"',
        "properties": {"a": "1", "b": "2"},
    }


def test_policies_that_are_set_and_the_strategy_that_holds() -> None:
    own = NamespacePolicies(
        schema_compatibility_strategy=SchemaCompatibilityStrategy.UNDEFINED,
        is_allow_auto_update_schema=False,
    )

    assert policies_document(ORDERS, own, SchemaCompatibilityStrategy.FULL) == {
        "subject": "shop/orders",
        "policies": {
            "schemaCompatibilityStrategy": "UNDEFINED",
            "isAllowAutoUpdateSchema": False,
        },
        "effectiveSchemaCompatibilityStrategy": "FULL",
    }


def test_a_decision() -> None:
    refused = Decision(accepted=False, status=409, reason="no")

    document = decision_document(refused, [REFUSAL], [])

    assert document["kind"] == "Decision"
    assert (document["accepted"], document["version"], document["status"]) == (False, None, 409)
    assert [one["fingerprint"] for one in document["findings"]] == [REFUSAL.fingerprint]


def test_no_text_is_a_command_in_the_log_of_a_workflow() -> None:
    text = to_text({"a": "##[set-output name=verdict;]good"})

    assert "##[" not in text
    assert json.loads(text) == {"a": "##[set-output name=verdict;]good"}
