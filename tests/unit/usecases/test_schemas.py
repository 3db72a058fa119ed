"""Versions of one topic by hand, and what is said where there are none."""

from __future__ import annotations

import pytest

from gitops.model.errors import NotThereError
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings, NamespacePolicies, SchemaCompatibilityStrategy
from gitops.usecases.schemas import read_history, read_version, upload_findings
from tests.support.fake_registry import FakeRegistry
from tests.support.states import CREATED, INT64, ORDERS, STRING, avro, field, state, topic_state

_KNOWN = state(topic_state(CREATED, STRING, INT64, after=3))


def test_a_history_is_read_with_one_request() -> None:
    registry = FakeRegistry(_KNOWN)

    assert read_history(registry, CREATED) == _KNOWN.topics[CREATED].history
    assert [scope.topics for scope in registry.asked] == [{CREATED}]


@pytest.mark.parametrize(("asked", "info"), [(3, STRING), (4, INT64), (None, INT64)])
def test_a_version_is_the_one_asked_for_or_the_latest(asked: int | None, info: object) -> None:
    assert read_version(FakeRegistry(_KNOWN), CREATED, asked).info == info


@pytest.mark.parametrize(
    ("topic", "what", "hint"),
    [
        ("shop/orders/other", "shop/orders/other has no schema", "nobody has registered one"),
        ("shop/orders/craeted", "has no schema", "did you mean shop/orders/created?"),
        ("shop/elsewhere/created", "there is no namespace 'shop/elsewhere'", ""),
    ],
)
@pytest.mark.parametrize("version", [None, 0])
def test_what_is_not_there_is_said(topic: str, what: str, hint: str, version: int | None) -> None:
    with pytest.raises(NotThereError, match=what) as raised:
        read_version(FakeRegistry(_KNOWN, listed=[CREATED]), TopicName.parse(topic), version)

    assert (raised.value.exit_code, raised.value.where) == (2, "nowhere")
    assert hint in raised.value.hint


def test_a_version_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(NotThereError, match="created has no version 9") as raised:
        read_version(FakeRegistry(_KNOWN), CREATED, 9)

    assert "the newest are 3, 4" in raised.value.hint


def test_who_may_not_list_topics_is_told_without_a_suggestion() -> None:
    registry = FakeRegistry(_KNOWN, listed=[CREATED], unlisted=[ORDERS])

    with pytest.raises(NotThereError, match="has no schema") as raised:
        read_history(registry, TopicName(ORDERS, "craeted"))

    assert "did you mean" not in raised.value.hint


@pytest.mark.parametrize(("release", "count"), [("4.0.7", 1), ("9.1.0", 0)])
def test_nobody_is_warned_of_an_upload_to_a_release_without_a_profile(
    release: str, count: int
) -> None:
    policies = NamespacePolicies(schema_compatibility_strategy=SchemaCompatibilityStrategy.BACKWARD)
    topic = topic_state(CREATED, avro(field("a"), field("b")))
    known = state(topic, namespaces={ORDERS: policies})
    registry = FakeRegistry(known, broker=BrokerSettings(release=release))

    warnings, _ = upload_findings(registry, CREATED, avro(field("a")))

    assert len(warnings) == count
