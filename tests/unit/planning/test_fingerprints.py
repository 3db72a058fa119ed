"""Fingerprints say what a registry holds: the same before it happens as after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.names import TopicName
from gitops.model.plan import Action, CreateNamespace, DeleteSchema, Plan, RegisterSchema, SetPolicy
from gitops.model.policy import NamespacePolicies, PolicyChange, PolicyValue, TopicPolicies
from gitops.model.policy import SchemaAutoUpdateCompatibilityStrategy as Legacy
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.planning.fingerprints import (
    Subject,
    fingerprints_after,
    state_fingerprints,
    subject_fingerprint,
    subject_name,
)
from gitops.planning.plan import make_plan, subject_of
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.usecases.apply import apply
from tests.support.states import (
    CREATED,
    INT64,
    ORDERS,
    STRING,
    avro,
    field,
    history,
    info,
    observe,
    pair,
    question,
    record,
    state,
    topic_state,
)
from tests.support.strategies import registry_states

_K = TypeVar("_K")
_V = TypeVar("_V")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[EmbeddedRegistry]:
    opened = EmbeddedRegistry("local", tmp_path / "registry.db")
    yield opened
    opened.close()


def _turned(mapping: Mapping[_K, _V]) -> dict[_K, _V]:
    return dict(reversed(list(mapping.items())))


@pytest.mark.slow
@given(registry_states())
def test_they_do_not_depend_on_the_order_of_mappings(one: RegistryState) -> None:
    other = RegistryState(
        namespaces=_turned(one.namespaces),
        topics={
            name: replace(
                topic,
                history=replace(
                    topic.history,
                    entries=tuple(
                        replace(e, info=replace(e.info, properties=_turned(e.info.properties)))
                        for e in topic.history.entries
                    ),
                ),
            )
            for name, topic in _turned(one.topics).items()
        },
    )

    assert state_fingerprints(other) == state_fingerprints(one)
    assert list(state_fingerprints(other)) == sorted(state_fingerprints(one))


def test_subjects_are_called_by_kind_and_name() -> None:
    assert subject_name(ORDERS) == "namespace shop/orders"
    assert subject_name(CREATED) == "topic shop/orders/created"
    assert subject_name(TopicName(ORDERS, "x", "non-persistent")) == (
        "topic non-persistent://shop/orders/x"
    )


def test_when_a_version_was_stored_does_not_count() -> None:
    plain = topic_state(CREATED, STRING)
    timed = tuple(replace(entry, timestamp=1) for entry in plain.history.entries)

    assert subject_fingerprint(
        replace(plain, history=replace(plain.history, entries=timed))
    ) == subject_fingerprint(plain)


_BASE = topic_state(CREATED, avro(field("a")))
_DIFFERENT: dict[str, Subject] = {
    "an empty topic": TopicState(topic=CREATED),
    "a deletion takes a number": TopicState(topic=CREATED, history=SchemaHistory(next_version=2)),
    "one version": _BASE,
    "the same version twice": topic_state(CREATED, avro(field("a")), avro(field("a"))),
    "another number": topic_state(CREATED, avro(field("a")), after=1),
    "another layout": topic_state(CREATED, info(record(field("a"), doc="x"))),
    "another type": topic_state(CREATED, info(record(field("a")), SchemaType.JSON)),
    "a property": topic_state(CREATED, replace(avro(field("a")), properties={"k": "v"})),
    "a topic's policy": topic_state(
        CREATED, policies=TopicPolicies(schema_compatibility_strategy=Strategy.FULL)
    ),
    "a namespace": NamespaceState(namespace=ORDERS),
    "no namespace": NamespaceState(namespace=ORDERS, exists=False),
    "a namespace's policy": NamespaceState(
        namespace=ORDERS, policies=NamespacePolicies(is_allow_auto_update_schema=False)
    ),
}


def test_everything_else_counts() -> None:
    prints = {subject_fingerprint(subject) for subject in _DIFFERENT.values()}

    assert len(prints) == len(_DIFFERENT)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (info("x", SchemaType.BYTES), info("x", SchemaType.NONE)),
        (
            pair({"type": "string"}, ""),
            replace(pair("", ""), schema='{"key":{"type":"string"},"value":""}'),
        ),
    ],
    ids=["BYTES is kept as NONE", "KEY_VALUE is printed anew"],
)
def test_a_schema_is_the_same_before_and_after_it_is_stored(
    written: SchemaInfo, kept: SchemaInfo
) -> None:
    assert written != kept
    assert subject_fingerprint(topic_state(CREATED, written)) == subject_fingerprint(
        topic_state(CREATED, kept)
    )


@pytest.mark.parametrize(
    "policies",
    [
        NamespacePolicies(schema_compatibility_strategy=Strategy.UNDEFINED),
        NamespacePolicies(schema_validation_enforced=False),
        NamespacePolicies(is_allow_auto_update_schema=True),
    ],
)
def test_what_a_new_namespace_says_by_itself_is_as_good_as_unset(
    policies: NamespacePolicies,
) -> None:
    spelt_out = NamespaceState(namespace=ORDERS, policies=policies)

    assert subject_fingerprint(spelt_out) == subject_fingerprint(NamespaceState(namespace=ORDERS))


def _set(key: str, value: PolicyValue) -> SetPolicy:
    return SetPolicy(subject=ORDERS, change=PolicyChange(key=key, before=None, after=value))


@pytest.mark.parametrize(
    ("subject", "action"),
    [
        (NamespaceState(namespace=ORDERS), DeleteSchema(topic=CREATED, versions=(0,))),
        (TopicState(topic=CREATED), CreateNamespace(namespace=ORDERS)),
        (
            NamespaceState(namespace=ORDERS),
            RegisterSchema(
                topic=CREATED,
                info=STRING,
                version=0,
                latest_version=None,
                strategy=Strategy.FULL,
            ),
        ),
    ],
)
def test_an_action_about_another_kind_of_subject_is_a_mistake(
    subject: NamespaceState | TopicState, action: Action
) -> None:
    with pytest.raises(TypeError, match="is not about"):
        fingerprints_after(subject, action)


def test_removing_a_setting_leaves_it_unset() -> None:
    before = NamespaceState(
        namespace=ORDERS, policies=NamespacePolicies(is_allow_auto_update_schema=False)
    )

    assert fingerprints_after(before, _set("isAllowAutoUpdateSchema", None)) == NamespaceState(
        namespace=ORDERS
    )


# ------------------------------------------------------------------ what a registry shows


def _topic(name: str) -> TopicName:
    return TopicName(ORDERS, name)


_OBSERVED = state(
    topic_state(_topic("avro"), avro(field("a"))),
    topic_state(_topic("pruned"), STRING, avro()),
    topic_state(_topic("tombstoned"), STRING),
    namespaces={},
)
_DESIRED = state(
    topic_state(
        _topic("avro"),
        avro(field("a"), field("b", default="")),
        policies=TopicPolicies(
            schema_compatibility_strategy=Strategy.BACKWARD, schema_validation_enforced=True
        ),
    ),
    topic_state(_topic("bytes"), info("any\x00thing", SchemaType.BYTES)),
    topic_state(_topic("json"), info(record(field("a")), SchemaType.JSON, {"b": "1", "a": "2"})),
    topic_state(
        _topic("pairs"),
        info(
            '{"value" : {"type":"record","name":"V","fields":[]},\n "key" : "" }',
            SchemaType.KEY_VALUE,
            {"key.schema.type": "STRING", "value.schema.type": "AVRO"},
        ),
    ),
    topic_state(TopicName(ORDERS, "volatile", "non-persistent"), INT64),
    topic_state(
        _topic("undefined"),
        INT64,
        policies=TopicPolicies(schema_compatibility_strategy=Strategy.UNDEFINED),
    ),
    namespaces={
        ORDERS: NamespacePolicies(
            schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE,
            is_allow_auto_update_schema=False,
            schema_validation_enforced=True,
            schema_auto_update_compatibility_strategy=Legacy.FULL,
        )
    },
)


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [True, False], ids=["empty registry", "registry in use"])
def test_what_a_plan_expects_is_what_the_registry_shows(
    registry: EmbeddedRegistry, *, fresh: bool
) -> None:
    if not fresh:
        registry.create_namespace(ORDERS)
        for name, topic in _OBSERVED.topics.items():
            policy = PolicyChange(
                key="schemaCompatibilityStrategy", before=None, after=Strategy.ALWAYS_COMPATIBLE
            )
            registry.set_policies(name, [policy])
            for entry in topic.history.entries:
                registry.register_schema(name, entry.info)
        registry.delete_schema(_topic("tombstoned"))

    def planned() -> Plan:
        observed = observe(registry, _DESIRED, _OBSERVED)
        return make_plan(question(_DESIRED, observed, prune=True))

    plan = planned()
    passed: dict[str, list[str]] = {}

    for action in plan.actions:
        before = planned().observed
        apply(replace(plan, actions=(action,), observed=before), registry)
        now = planned().observed
        whom = subject_name(subject_of(action))
        passed.setdefault(whom, []).append(now[whom])
        assert {k: v for k, v in now.items() if k != whom} == {
            k: v for k, v in before.items() if k != whom
        }

    assert {name: tuple(prints) for name, prints in passed.items()} == plan.expected
    kinds = {type(action) for action in plan.actions}
    assert kinds == (
        {CreateNamespace, SetPolicy, RegisterSchema}
        if fresh
        else {SetPolicy, RegisterSchema, DeleteSchema}
    )


@given(st.sampled_from([STRING, INT64, avro()]), st.integers(min_value=0, max_value=3))
def test_a_registration_appends(one: SchemaInfo, first: int) -> None:
    before = TopicState(topic=CREATED, history=history(STRING, after=first))
    action = RegisterSchema(
        topic=CREATED,
        info=one,
        version=first + 1,
        latest_version=first,
        strategy=Strategy.FULL,
    )

    assert fingerprints_after(before, action) == TopicState(
        topic=CREATED, history=history(STRING, one, after=first)
    )
