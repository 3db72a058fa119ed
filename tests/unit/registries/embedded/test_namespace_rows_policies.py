"""Policies as the text of a row."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.errors import UsageError
from gitops.model.policy import (
    NamespacePolicies,
    PolicyChange,
    SchemaCompatibilityStrategy,
    TopicPolicies,
)
from gitops.registries.embedded.namespace_rows import apply_changes, from_json, to_json


@given(st.builds(NamespacePolicies))
def test_namespace_policies_come_back(policies: NamespacePolicies) -> None:
    assert from_json(NamespacePolicies, to_json(policies)) == policies


@given(st.builds(TopicPolicies))
def test_topic_policies_come_back(policies: TopicPolicies) -> None:
    assert from_json(TopicPolicies, to_json(policies)) == policies


def test_only_what_is_set_is_stored() -> None:
    assert to_json(NamespacePolicies()) == "{}"
    assert to_json(TopicPolicies(schema_validation_enforced=False)) == (
        '{"schemaValidationEnforced": false}'
    )


@pytest.mark.parametrize("text", ["", "[1]", '{"schemaCompatibilityStrategy": "NOPE"}'])
def test_another_text_is_a_damaged_row(text: str) -> None:
    with pytest.raises(sqlite3.DatabaseError, match="are not valid"):
        from_json(TopicPolicies, text)


def test_a_change_sets_or_removes_a_key() -> None:
    before = TopicPolicies(schema_validation_enforced=True)
    full = SchemaCompatibilityStrategy.FULL
    changes = [
        PolicyChange(key="schemaValidationEnforced", before=True, after=None),
        PolicyChange(key="schemaCompatibilityStrategy", before=None, after=full),
    ]
    assert apply_changes(before, changes) == TopicPolicies(schema_compatibility_strategy=full)


def test_a_key_of_namespaces_is_none_of_topics() -> None:
    change = PolicyChange(key="isAllowAutoUpdateSchema", before=None, after=True)
    with pytest.raises(UsageError, match="isAllowAutoUpdateSchema") as unknown:
        apply_changes(TopicPolicies(), [change])
    assert "schemaValidationEnforced" in unknown.value.hint
