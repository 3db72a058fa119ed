"""Topics do not wait for each other; what they may need is a wave alone."""

from __future__ import annotations

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    CreateTopic,
    DeleteSchema,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.planning.waves import is_one_history, waves
from tests.support.states import ORDERS, STRING

_A, _B, _C = (TopicName(ORDERS, name) for name in "abc")


def _register(topic: TopicName, version: int = 0) -> RegisterSchema:
    return RegisterSchema(
        topic=topic, info=STRING, version=version, latest_version=None, strategy=Strategy.FULL
    )


def _set(subject: TopicName | NamespaceName) -> SetPolicy:
    change = PolicyChange(key="schemaValidationEnforced", before=None, after=True)
    return SetPolicy(subject=subject, change=change)


def _waves(*actions: Action) -> list[list[tuple[Action, ...]]]:
    return list(waves(actions))


def test_topics_do_not_wait_for_each_other_and_each_action_of_one_does() -> None:
    namespace = CreateNamespace(namespace=ORDERS)
    chain = (CreateTopic(topic=_A), _set(_A), _register(_A))
    gone = DeleteSchema(topic=_C, versions=(0,))

    found = _waves(namespace, *chain, CreateTopic(topic=_B), _register(_B), gone)

    assert found == [
        [(namespace,)],
        [chain, (CreateTopic(topic=_B), _register(_B)), (gone,)],
    ]


def test_a_namespace_waits_and_is_waited_for() -> None:
    found = _waves(_register(_A), _set(ORDERS), _set(ORDERS), _register(_B), _register(_C))

    assert [len(wave) for wave in found] == [1, 1, 1, 2]


def test_the_actions_of_a_topic_stay_in_their_order_wherever_they_stand() -> None:
    first = DeleteSchema(topic=_A, versions=(), tombstone=0)

    (found,) = _waves(first, _register(_A, 1), _register(_B), _register(_A, 2))

    assert found == [(first, _register(_A, 1), _register(_A, 2)), (_register(_B),)]


def test_nothing_is_left_out() -> None:
    assert _waves() == []
    assert _waves(_set(ORDERS)) == [[(_set(ORDERS),)]]


def test_entries_of_one_topic_in_a_row_are_one_history() -> None:
    assert is_one_history(_register(_A), _register(_A, 1))
    assert is_one_history(DeleteSchema(topic=_A, versions=()), _register(_A, 1))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (_register(_A), _register(_B)),
        (_set(_A), _register(_A)),
        (_register(_A), _set(_A)),
        (None, _register(_A)),
        (_register(_A), None),
    ],
)
def test_anything_else_is_none(first: Action | None, second: Action | None) -> None:
    assert not is_one_history(first, second)
