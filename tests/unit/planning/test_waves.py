"""Schemas of several topics do not wait for each other; what others may need is a wave alone."""

from __future__ import annotations

from gitops.model.names import TopicName
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
from gitops.planning.waves import waves
from tests.support.states import ORDERS, STRING

_A, _B, _C = (TopicName(ORDERS, name) for name in "abc")


def _register(topic: TopicName, version: int = 0) -> RegisterSchema:
    return RegisterSchema(
        topic=topic, info=STRING, version=version, latest_version=None, strategy=Strategy.FULL
    )


def _set(topic: TopicName) -> SetPolicy:
    change = PolicyChange(key="schemaValidationEnforced", before=None, after=True)
    return SetPolicy(subject=topic, change=change)


def _waves(*actions: Action) -> list[list[tuple[Action, ...]]]:
    return list(waves(actions))


def test_topics_and_then_their_schemas_are_a_wave_each() -> None:
    namespace = CreateNamespace(namespace=ORDERS)
    made = [CreateTopic(topic=topic) for topic in (_A, _B)]
    gone = DeleteSchema(topic=_C, versions=(0,))

    found = _waves(namespace, *made, _register(_A), _register(_B), gone)

    assert found == [
        [(namespace,)],
        [(made[0],), (made[1],)],
        [(_register(_A),), (_register(_B),), (gone,)],
    ]


def test_a_policy_waits_and_is_waited_for() -> None:
    found = _waves(_register(_A), _set(_B), _set(_C), _register(_B), _register(_C))

    assert [len(wave) for wave in found] == [1, 1, 1, 2]


def test_the_entries_of_one_history_stay_in_their_order() -> None:
    first = DeleteSchema(topic=_A, versions=(), tombstone=0)

    (found,) = _waves(first, _register(_A, 1), _register(_B), _register(_A, 2))

    assert found == [(first, _register(_A, 1), _register(_A, 2)), (_register(_B),)]


def test_nothing_is_left_out_and_nothing_comes_before_what_it_needs() -> None:
    actions: list[Action] = [
        _register(_A),
        _set(_A),
        _register(_A, 1),
        _set(_A),
        _register(_B),
    ]

    assert [one for wave in waves(actions) for history in wave for one in history] == actions
    assert [len(wave) for wave in waves(actions)] == [1, 1, 1, 1, 1]
