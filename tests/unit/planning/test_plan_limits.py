"""Limits on how much one apply may change."""

from __future__ import annotations

import pytest

from gitops.model.config import SafetyConfig
from gitops.model.names import TopicName
from gitops.model.plan import Action, CreateNamespace, DeleteSchema, RegisterSchema, SetPolicy
from gitops.model.policy import PolicyChange, SchemaCompatibilityStrategy
from gitops.model.state import RegistryState
from gitops.planning.plan import guard
from tests.support.states import ORDERS, STRING, state, topic_state

_ALLOWED = SafetyConfig(max_changed_share=0.3, min_topics=10, allow_deletions=True)


def _topic(number: int) -> TopicName:
    return TopicName(ORDERS, f"t{number:02}")


def _existing(count: int) -> RegistryState:
    return state(*(topic_state(_topic(number), STRING) for number in range(count)))


def _register(number: int, latest: int | None = 0) -> RegisterSchema:
    return RegisterSchema(
        topic=_topic(number),
        info=STRING,
        version=1,
        latest_version=latest,
        strategy=SchemaCompatibilityStrategy.FULL,
    )


def _delete(number: int) -> DeleteSchema:
    return DeleteSchema(topic=_topic(number), versions=(0,))


def _policy(number: int) -> SetPolicy:
    change = PolicyChange(key="schemaValidationEnforced", before=None, after=True)
    return SetPolicy(subject=_topic(number), change=change)


@pytest.mark.rule("PLAN-R004")
@pytest.mark.parametrize(
    ("actions", "existing", "stopped"),
    [
        ([_register(i) for i in range(3)], 10, False),
        ([_register(i) for i in range(4)], 10, True),
        ([_register(i) for i in range(9)], 9, False),
        ([_register(i, None) for i in range(10, 40)], 10, False),
        (
            [*(_register(i) for i in range(3)), *(_register(i, None) for i in range(10, 40))],
            10,
            False,
        ),
        ([*(_register(i) for i in range(2)), *(_delete(i) for i in (2, 3))], 10, True),
        ([_register(0)] * 9, 10, False),
        ([_policy(i) for i in range(10)], 10, False),
        ([CreateNamespace(namespace=ORDERS)], 10, False),
        ([], 0, False),
    ],
    ids=[
        "at the limit",
        "above it",
        "too few topics to count",
        "first versions do not count",
        "nor beside changes",
        "deletions count",
        "a topic counts once",
        "policies do not count",
        "namespaces do not count",
        "nothing",
    ],
)
def test_the_share_of_topics_that_change(
    actions: list[Action], existing: int, *, stopped: bool
) -> None:
    found = guard(actions, _existing(existing), _ALLOWED)

    assert [one.rule for one in found] == (["PLAN-R004"] if stopped else [])


def test_topics_without_a_schema_are_not_counted() -> None:
    observed = state(
        *(topic_state(_topic(i), STRING) for i in range(10)),
        *(topic_state(_topic(i)) for i in range(10, 100)),
    )

    (found,) = guard([_register(i) for i in range(4)], observed, _ALLOWED)

    assert found.message == "4 of 10 topics with a schema would change, more than 30%"
    assert "--waivers waivers/" in found.hint


def test_a_share_of_zero_lets_nothing_through_but_first_versions() -> None:
    none = SafetyConfig(max_changed_share=0, min_topics=1)

    (found,) = guard([_register(0)], _existing(1), none)
    assert found.message == "1 of 1 topic with a schema would change, more than 0%"
    assert len(guard([_register(0)], _existing(1), none)) == 1
    assert guard([_register(5, None)], _existing(1), none) == ()


@pytest.mark.rule("PLAN-R005")
def test_each_deletion_is_named_unless_deletions_are_allowed() -> None:
    forbidden = SafetyConfig(max_changed_share=1.0)
    actions: list[Action] = [_delete(1), _register(2), _delete(3)]

    found = guard(actions, _existing(5), forbidden)

    assert [(one.rule, one.subject) for one in found] == [
        ("PLAN-R005", "shop/orders/t01"),
        ("PLAN-R005", "shop/orders/t03"),
    ]
    assert all("safety.allowDeletions" in one.hint for one in found)
    assert guard(actions, _existing(5), _ALLOWED) == ()
