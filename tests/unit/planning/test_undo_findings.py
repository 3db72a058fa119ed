"""What an undo leaves is said with its reason."""

from __future__ import annotations

import pytest

from gitops.planning.undo_findings import deletion_left, namespace_left, versions_left
from tests.support.states import CREATED, ORDERS, avro, field, state, topic_state

_OLD, _NEW = avro(field("a")), avro(field("a"), field("b", default=""))


@pytest.mark.rule("PLAN-R017")
def test_versions_after_the_one_that_comes_back_stay() -> None:
    again = avro(field("a"), revision="2")
    observed = state(topic_state(CREATED, _OLD, _NEW, again))

    (one,) = versions_left({CREATED: _OLD}, observed)

    assert (one.rule, one.subject) == ("PLAN-R017", str(CREATED))
    assert one.message.startswith("v1 stays registered")


def test_of_several_each_is_named() -> None:
    observed = state(topic_state(CREATED, _OLD, _NEW, avro(field("c", default=""))))

    (one,) = versions_left({CREATED: _OLD}, observed)

    assert one.message.startswith("v1, v2 stay registered: producers that have them")


def test_nothing_stays_of_what_was_not_registered() -> None:
    assert not [*versions_left({CREATED: _OLD}, state(topic_state(CREATED, _OLD)))]
    assert not [*versions_left({CREATED: _OLD}, state(topic_state(CREATED)))]
    assert not [*versions_left({CREATED: _OLD}, state(topic_state(CREATED, _NEW)))]


def test_a_namespace_and_deleted_versions() -> None:
    assert namespace_left(ORDERS).message == "the namespace stays: no plan deletes one"
    assert deletion_left(CREATED, [0, 1]).message.startswith("the deleted versions v0, v1 do not")
    assert deletion_left(CREATED, []).message.startswith("the deleted versions do not come back")
