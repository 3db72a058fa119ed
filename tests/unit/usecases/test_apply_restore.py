"""A restore is an apply: its histories are looked at as a whole, and what it holds is set back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.apply_result import Result
from gitops.model.errors import GitopsError, PartialApplyError
from gitops.model.plan import (
    Action,
    CreateNamespace,
    DeleteSchema,
    Hold,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.policy import PolicyChange, PolicyValue
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.state import Scope
from gitops.usecases.apply import apply
from tests.support.fake_registry import FakeRegistry
from tests.support.plans import EVERYTHING as SHOWN
from tests.support.states import CREATED, INT64, ORDERS, STRING

EVERYTHING = replace(SHOWN, observed={}, expected={})


class _Words:
    """A Journal that only knows which intent follows another."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def intend(self, action: Action, *, closes: bool = False, follows: bool = False) -> int:
        del action
        self.words.append("close" if closes else "follow" if follows else "intend")
        return len(self.words)

    def conclude(self, number: int, version: int | None, error: GitopsError | None) -> None:
        """Nothing."""


_FIRST = DeleteSchema(topic=CREATED, versions=(), tombstone=0)
_NEXT = [
    RegisterSchema(
        topic=CREATED, info=schema, version=version, latest_version=None, strategy=Strategy.FULL
    )
    for version, schema in ((1, INT64), (2, STRING))
]
_RESTORED = replace(EVERYTHING, actions=(_FIRST, *_NEXT))


def test_a_history_is_looked_at_before_its_first_entry_and_after_its_last() -> None:
    registry, journal = FakeRegistry(versions=[1, 2]), _Words()

    assert apply(_RESTORED, registry, journal=journal) == _RESTORED.actions

    assert [what for what, _ in registry.calls] == ["delete", "register", "register"]
    assert journal.words == ["intend", "follow", "follow"]
    before = Scope(topics=frozenset({CREATED}))
    assert registry.asked == [before, replace(before, topic_policies=False)]


def test_the_number_of_each_entry_is_compared_at_once() -> None:
    moved = replace(_FIRST, tombstone=4)

    with pytest.raises(PartialApplyError, match="the deletion in shop/orders/created is v0, not"):
        apply(replace(_RESTORED, actions=(moved, *_NEXT)), FakeRegistry(versions=[1, 2]))
    registry = FakeRegistry(versions=[3, 4])
    with pytest.raises(PartialApplyError, match="was registered as v3, not as v1"):
        apply(_RESTORED, registry)
    assert [what for what, _ in registry.calls] == ["delete", "register"]


def _held(key: str, hold: Hold, *values: PolicyValue) -> SetPolicy:
    before, after = values
    change = PolicyChange(key=key, before=before, after=after)
    return SetPolicy(subject=ORDERS, change=change, hold=hold)


_OPEN = Strategy.ALWAYS_COMPATIBLE
_ON: PolicyValue = True
_OFF: PolicyValue = False
_HOLD = (
    CreateNamespace(namespace=ORDERS),
    _held("schemaCompatibilityStrategy", Hold.BEGIN, None, _OPEN),
    _held("isAllowAutoUpdateSchema", Hold.BEGIN, _ON, _OFF),
    *_RESTORED.actions,
    _held("schemaCompatibilityStrategy", Hold.END, _OPEN, Strategy.FULL),
    _held("isAllowAutoUpdateSchema", Hold.END, _OFF, _ON),
)


@pytest.mark.parametrize(
    ("done", "closed"),
    [
        (1, 1),  # what was tried may have been carried out
        (2, 2),
        (3, 2),
        (5, 2),
        (6, 2),
        (7, 1),
    ],
)
def test_each_policy_that_is_held_is_set_back_where_a_restore_stops(done: int, closed: int) -> None:
    told: list[Result] = []
    registry = FakeRegistry(versions=[1, 2], fails_at=done, fails_once=True)

    with pytest.raises(PartialApplyError):
        apply(replace(_RESTORED, actions=_HOLD), registry, tell=told.append)

    assert sum(one.closes for one in told) == closed
    policies = registry.observe(Scope(namespaces=frozenset({ORDERS}))).namespaces[ORDERS].policies
    assert policies.is_allow_auto_update_schema is not False
    assert policies.schema_compatibility_strategy is not _OPEN
