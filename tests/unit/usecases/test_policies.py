"""Policies of one subject by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.errors import InvalidNameError, NotThereError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import NamespacePolicies, PolicyValue, TopicPolicies
from gitops.model.policy import SchemaAutoUpdateCompatibilityStrategy as Legacy
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.usecases.policies import observe_policies, parse_assignments, parse_subject
from tests.support.fake_registry import FakeRegistry
from tests.support.states import CREATED, ORDERS, STRING, state, topic_state


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("shop/orders", ORDERS),
        ("shop/orders/created", CREATED),
        ("persistent://shop/orders/created", CREATED),
        ("non-persistent://shop/orders/x", TopicName(ORDERS, "x", "non-persistent")),
    ],
)
def test_subjects(text: str, subject: NamespaceName | TopicName) -> None:
    assert parse_subject(text) == subject


@pytest.mark.parametrize(
    "text", ["", "shop", "shop/orders/", "a/b/c/d", "x://shop/orders/created", "shop//created"]
)
def test_what_is_no_subject(text: str) -> None:
    with pytest.raises(InvalidNameError):
        parse_subject(text)


@pytest.mark.parametrize(
    ("text", "key", "after"),
    [
        ("schemaCompatibilityStrategy=FULL", "schemaCompatibilityStrategy", Strategy.FULL),
        ("schemaCompatibilityStrategy=", "schemaCompatibilityStrategy", None),
        (
            "schemaAutoUpdateCompatibilityStrategy=AutoUpdateDisabled",
            "schemaAutoUpdateCompatibilityStrategy",
            Legacy.AUTO_UPDATE_DISABLED,
        ),
        ("isAllowAutoUpdateSchema=false", "isAllowAutoUpdateSchema", False),
        ("schemaValidationEnforced=true", "schemaValidationEnforced", True),
    ],
)
def test_assignments(text: str, key: str, after: PolicyValue) -> None:
    before = NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)

    (change,) = parse_assignments(before, [text])

    assert (change.key, change.after) == (key, after)
    assert change.before is (Strategy.BACKWARD if key == "schemaCompatibilityStrategy" else None)


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("", "assigns nothing", "KEY=VALUE"),
        ("schemaValidationEnforced", "assigns nothing", "KEY=VALUE"),
        ("schemaValidationEnforce=true", "no policy", "schemaValidationEnforced"),
        ("schemaValidationEnforced=yes", "true or false", ""),
        ("schemaValidationEnforced=True", "true or false", ""),
        ("schemaCompatibilityStrategy=BACKWARDS", "not a strategy", "BACKWARD"),
        ("schemaCompatibilityStrategy=full", "not a strategy", "FULL"),
        ("schemaAutoUpdateCompatibilityStrategy=FULL", "not a strategy", "Full"),
    ],
)
def test_what_is_no_assignment(text: str, what: str, hint: str) -> None:
    with pytest.raises(UsageError, match=what) as raised:
        parse_assignments(NamespacePolicies(), [text])

    assert hint in raised.value.hint


def test_a_topic_has_fewer_policies() -> None:
    with pytest.raises(UsageError, match="no policy 'isAllowAutoUpdateSchema'"):
        parse_assignments(TopicPolicies(), ["isAllowAutoUpdateSchema=true"])


@given(st.text())
def test_no_text_makes_a_traceback(text: str) -> None:
    try:
        parse_assignments(NamespacePolicies(), [text])
    except UsageError:
        return
    assert "=" in text


# ------------------------------------------------------------------ observed


_KNOWN = state(
    topic_state(CREATED, policies=TopicPolicies(schema_compatibility_strategy=Strategy.FORWARD)),
    namespaces={ORDERS: NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)},
)


def test_a_namespaces_policies() -> None:
    found = observe_policies(FakeRegistry(_KNOWN), ORDERS)

    assert found.own == _KNOWN.namespaces[ORDERS].policies
    assert found.effective is Strategy.BACKWARD


def test_a_topics_policies_and_what_holds_for_it() -> None:
    own = observe_policies(FakeRegistry(_KNOWN), CREATED)
    none = observe_policies(FakeRegistry(_KNOWN), TopicName(ORDERS, "other"))

    assert (own.own, own.effective) == (_KNOWN.topics[CREATED].policies, Strategy.FORWARD)
    assert (none.own, none.effective) == (TopicPolicies(), Strategy.BACKWARD)


@pytest.mark.parametrize("subject", [NamespaceName("no", "where"), TopicName.parse("no/where/x")])
def test_without_a_namespace_there_are_none(subject: NamespaceName | TopicName) -> None:
    with pytest.raises(NotThereError, match="no namespace 'no/where'"):
        observe_policies(FakeRegistry(_KNOWN), subject)


_ABSENT = TopicName(ORDERS, "creatd")


@pytest.mark.parametrize(
    "registry",
    [
        FakeRegistry(_KNOWN, listed=[_ABSENT]),
        FakeRegistry(state(topic_state(_ABSENT, STRING))),
        FakeRegistry(_KNOWN, unlisted=[ORDERS]),
    ],
    ids=["listed", "with a schema", "perhaps"],
)
def test_the_policies_of_a_topic_that_exists(registry: FakeRegistry) -> None:
    assert observe_policies(registry, _ABSENT, existing=True).own == TopicPolicies()


def test_the_policies_of_a_topic_that_does_not_exist() -> None:
    with pytest.raises(NotThereError, match="no topic 'shop/orders/creatd'") as raised:
        observe_policies(FakeRegistry(_KNOWN, listed=[CREATED]), _ABSENT, existing=True)

    assert raised.value.hint == f"did you mean {CREATED}?"
    assert observe_policies(FakeRegistry(_KNOWN), _ABSENT).own == TopicPolicies()
