"""Which strategy a plan decides with: the one that holds once its policies are set."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Action, Notice, Plan, RefusedSchema, RegisterSchema, SetPolicy
from gitops.model.policy import BrokerSettings, NamespacePolicies, TopicPolicies
from gitops.model.policy import SchemaAutoUpdateCompatibilityStrategy as Legacy
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.state import RegistryState
from gitops.planning.plan import make_plan
from tests.support.states import CREATED, ORDERS, avro, field, question, state, topic_state

_OLD, _BREAKING = avro(field("a")), avro(field("a"), field("b"))


def _strategy(
    desired: RegistryState, observed: RegistryState, defaults: BrokerSettings | None = None
) -> Strategy:
    (decided,) = [
        one
        for one in _outcomes(make_plan(question(desired, observed, broker=defaults)))
        if isinstance(one, RegisterSchema | RefusedSchema)
    ]
    return decided.strategy


def _outcomes(plan: Plan) -> list[Action | Notice]:
    return [*plan.actions, *plan.notices]


def _with(
    topic: Strategy | None = None,
    namespace: Strategy | None = None,
    legacy: Legacy | None = None,
    *,
    name: TopicName = CREATED,
) -> tuple[TopicPolicies, Mapping[NamespaceName, NamespacePolicies], TopicName]:
    return (
        TopicPolicies(schema_compatibility_strategy=topic),
        {
            name.namespace: NamespacePolicies(
                schema_compatibility_strategy=namespace,
                schema_auto_update_compatibility_strategy=legacy,
            )
        },
        name,
    )


_VOLATILE = TopicName(ORDERS, "created", "non-persistent")


@pytest.mark.parametrize(
    ("desired", "observed", "expected"),
    [
        (_with(), _with(), Strategy.FORWARD),
        (_with(), _with(namespace=Strategy.BACKWARD), Strategy.BACKWARD),
        (_with(namespace=Strategy.FULL), _with(namespace=Strategy.BACKWARD), Strategy.FULL),
        (_with(), _with(Strategy.FULL, Strategy.BACKWARD), Strategy.FULL),
        (
            _with(Strategy.FULL_TRANSITIVE),
            _with(Strategy.FULL, Strategy.BACKWARD),
            Strategy.FULL_TRANSITIVE,
        ),
        (_with(Strategy.FULL), _with(namespace=Strategy.BACKWARD), Strategy.FULL),
        (_with(Strategy.UNDEFINED), _with(Strategy.FULL, Strategy.BACKWARD), Strategy.BACKWARD),
        (_with(), _with(legacy=Legacy.BACKWARD), Strategy.BACKWARD),
        (
            _with(),
            _with(namespace=Strategy.UNDEFINED, legacy=Legacy.AUTO_UPDATE_DISABLED),
            Strategy.ALWAYS_INCOMPATIBLE,
        ),
        (_with(), _with(namespace=Strategy.FULL, legacy=Legacy.BACKWARD), Strategy.FULL),
        (
            _with(legacy=Legacy.FULL_TRANSITIVE),
            _with(legacy=Legacy.BACKWARD),
            Strategy.FULL_TRANSITIVE,
        ),
        (
            _with(Strategy.FULL, name=_VOLATILE),
            _with(namespace=Strategy.BACKWARD, name=_VOLATILE),
            Strategy.BACKWARD,
        ),
    ],
    ids=[
        "the broker's default",
        "the namespace's as observed",
        "the namespace's as desired",
        "the topic's as observed beats the namespace's",
        "the topic's as desired beats the observed one",
        "a topic's new strategy",
        "a topic's UNDEFINED falls back to the namespace",
        "the legacy setting counts",
        "the legacy setting may forbid every change",
        "the newer setting beats the legacy one",
        "the legacy setting as desired",
        "a non-persistent topic's own strategy never counts",
    ],
)
def test_the_strategy_is_the_one_that_holds_once_the_policies_are_set(
    desired: tuple[TopicPolicies, Mapping[NamespaceName, NamespacePolicies], TopicName],
    observed: tuple[TopicPolicies, Mapping[NamespaceName, NamespacePolicies], TopicName],
    expected: Strategy,
) -> None:
    wanted = state(topic_state(desired[2], _BREAKING, policies=desired[0]), namespaces=desired[1])
    there = state(topic_state(observed[2], _OLD, policies=observed[0]), namespaces=observed[1])
    broker = BrokerSettings(schema_compatibility_strategy=Strategy.FORWARD)

    assert _strategy(wanted, there, broker) is expected


def test_a_policy_that_is_loosened_lets_the_same_plan_register() -> None:
    loose = NamespacePolicies(schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE)
    strict = NamespacePolicies(schema_compatibility_strategy=Strategy.FULL)
    observed = state(topic_state(CREATED, _OLD), namespaces={ORDERS: strict})

    refused = make_plan(question(state(topic_state(CREATED, _BREAKING)), observed))
    let_in = make_plan(
        question(state(topic_state(CREATED, _BREAKING), namespaces={ORDERS: loose}), observed)
    )

    assert [type(one) for one in _outcomes(refused)] == [RefusedSchema]
    assert [type(one) for one in _outcomes(let_in)] == [SetPolicy, RegisterSchema]
