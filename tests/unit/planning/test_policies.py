"""Policies: what differs, and whether a difference lets more through than before."""

from __future__ import annotations

from dataclasses import fields
from itertools import product

import pytest
from hypothesis import given

from gitops.model.policy import (
    NamespacePolicies,
    PolicyChange,
    PolicyValue,
    TopicPolicies,
    camel_case,
    is_unset,
)
from gitops.model.policy import SchemaAutoUpdateCompatibilityStrategy as Legacy
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.planning.policies import changes, describe, direction, overlay, policy_text
from gitops.schemas.strategies import TRANSITIVE, pairs
from tests.support.strategies import namespace_policies, topic_policies

_DECIDING = [each for each in Strategy if each is not Strategy.UNDEFINED]
_OPPOSITE = {"loosened": "tightened", "tightened": "loosened", "changed": "changed"}
_KEY = "schemaCompatibilityStrategy"


def _direction(before: PolicyValue, after: PolicyValue, key: str = _KEY) -> str:
    return direction(PolicyChange(key=key, before=before, after=after))


def _checks(strategy: Strategy) -> set[tuple[str, str]]:
    """Which of (reader, writer) a strategy asks, on a history of two versions."""
    if strategy is Strategy.ALWAYS_INCOMPATIBLE:
        every = [*_checks(Strategy.FULL_TRANSITIVE), ("no", "change")]
        return set(every)
    versions = ["v0", "v1"] if strategy in TRANSITIVE else ["v1"]
    return set(pairs(strategy, versions, "new"))


@pytest.mark.parametrize(("before", "after"), list(product(_DECIDING, repeat=2)))
def test_a_strategy_is_looser_exactly_if_it_asks_less(before: Strategy, after: Strategy) -> None:
    old, new = _checks(before), _checks(after)

    expected = "loosened" if new < old else "tightened" if old < new else "changed"

    assert _direction(before, after) == expected
    assert _direction(after, before) == _OPPOSITE[expected]


@pytest.mark.parametrize(("before", "after"), list(product(Legacy, repeat=2)))
def test_the_legacy_setting_is_judged_as_the_strategy_it_stands_for(
    before: Legacy, after: Legacy
) -> None:
    key = "schemaAutoUpdateCompatibilityStrategy"

    assert _direction(before, after, key) == _direction(before.strategy, after.strategy)


@pytest.mark.parametrize(
    ("key", "before", "after", "expected"),
    [
        ("schemaValidationEnforced", False, True, "tightened"),
        ("schemaValidationEnforced", True, False, "loosened"),
        ("isAllowAutoUpdateSchema", True, False, "tightened"),
        ("isAllowAutoUpdateSchema", False, True, "loosened"),
        ("isAllowAutoUpdateSchema", None, True, "set"),
        (_KEY, None, Strategy.FULL, "set"),
        (_KEY, Strategy.UNDEFINED, Strategy.FULL, "changed"),
        (_KEY, Strategy.FULL, Strategy.UNDEFINED, "changed"),
        (_KEY, Strategy.FULL, None, "changed"),
    ],
)
def test_the_direction_of_other_changes(
    key: str, before: PolicyValue, after: PolicyValue, expected: str
) -> None:
    assert _direction(before, after, key) == expected


# ------------------------------------------------------------------ what differs


@given(namespace_policies())
def test_what_is_set_already_is_no_change(policies: NamespacePolicies) -> None:
    assert changes(policies, policies) == ()
    assert changes(NamespacePolicies(), policies) == ()


@given(namespace_policies(), namespace_policies())
def test_the_changes_lead_to_what_is_desired(
    desired: NamespacePolicies, observed: NamespacePolicies
) -> None:
    found = {change.key: change for change in changes(desired, observed)}
    wanted = overlay(desired, observed)

    for each in fields(observed):
        key, have = camel_case(each.name), getattr(observed, each.name)
        now = found[key].after if key in found else have
        want = getattr(wanted, each.name)
        assert now == want or (is_unset(key, now) and is_unset(key, want))
    assert all(change.before == getattr(observed, _snake(change.key)) for change in found.values())


def _snake(key: str) -> str:
    return next(f.name for f in fields(NamespacePolicies) if camel_case(f.name) == key)


@pytest.mark.parametrize(
    ("desired", "observed"),
    [
        (NamespacePolicies(schema_compatibility_strategy=Strategy.UNDEFINED), NamespacePolicies()),
        (NamespacePolicies(schema_validation_enforced=False), NamespacePolicies()),
        (
            NamespacePolicies(schema_compatibility_strategy=None),
            NamespacePolicies(schema_compatibility_strategy=Strategy.FULL),
        ),
    ],
    ids=["UNDEFINED", "validation not enforced", "not managed"],
)
def test_a_value_that_says_nothing_is_no_change(
    desired: NamespacePolicies, observed: NamespacePolicies
) -> None:
    assert changes(desired, observed) == ()


def test_turning_a_setting_off_is_a_change() -> None:
    on = NamespacePolicies(
        schema_compatibility_strategy=Strategy.FULL,
        schema_validation_enforced=True,
        is_allow_auto_update_schema=True,
    )
    off = NamespacePolicies(
        schema_compatibility_strategy=Strategy.UNDEFINED,
        schema_validation_enforced=False,
        is_allow_auto_update_schema=False,
    )

    assert [(c.key, c.before, c.after) for c in changes(off, on)] == [
        ("schemaCompatibilityStrategy", Strategy.FULL, Strategy.UNDEFINED),
        ("isAllowAutoUpdateSchema", True, False),
        ("schemaValidationEnforced", True, False),
    ]


def test_auto_update_off_is_never_the_same_as_not_set() -> None:
    off = NamespacePolicies(is_allow_auto_update_schema=False)

    assert [c.after for c in changes(off, NamespacePolicies())] == [False]


def test_a_topic_is_freed_of_what_its_namespace_enforces() -> None:
    free = TopicPolicies(schema_validation_enforced=False)

    assert changes(free, TopicPolicies()) == ()
    assert [c.after for c in changes(free, TopicPolicies(), enforced_above=True)] == [False]
    assert changes(free, free, enforced_above=True) == ()


# ------------------------------------------------------------------ laying over


@given(topic_policies(), topic_policies())
def test_what_is_laid_over_wins_where_it_is_set(over: TopicPolicies, under: TopicPolicies) -> None:
    both = overlay(over, under)

    for each in fields(both):
        above, below = getattr(over, each.name), getattr(under, each.name)
        assert getattr(both, each.name) == (below if above is None else above)
    assert overlay(over, both) == both
    assert overlay(TopicPolicies(), under) == under


# ------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (True, "true"), (False, "false"), (Strategy.FULL, "FULL"), (Legacy.FULL, "Full")],
)
def test_values_as_text(value: PolicyValue, text: str) -> None:
    assert policy_text(value) == text


def test_policies_as_text() -> None:
    policies = NamespacePolicies(
        schema_compatibility_strategy=Strategy.BACKWARD, is_allow_auto_update_schema=False
    )

    assert (
        describe(policies) == "schemaCompatibilityStrategy BACKWARD, isAllowAutoUpdateSchema false"
    )
    assert describe(NamespacePolicies()) == ""
