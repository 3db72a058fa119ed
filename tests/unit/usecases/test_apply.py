"""What was reviewed is carried out, all of it and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.errors import PartialApplyError, StalePlanError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import CreateNamespace, DeleteSchema, Plan, RegisterSchema, SetPolicy
from gitops.model.policy import NamespacePolicies, PolicyChange, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.state import RegistryState
from gitops.planning.make import make_plan
from gitops.planning.plan_document import Document, digest, to_document
from gitops.registry.embedded.registry import EmbeddedRegistry
from gitops.usecases.apply import Result, apply, check_document, check_reviewed
from tests.support.fake_registry import FakeRegistry
from tests.support.plans import EVERYTHING
from tests.support.states import (
    CREATED,
    ORDERS,
    STRING,
    avro,
    field,
    observe,
    question,
    state,
    topic_state,
)

_PAYMENTS = NamespaceName("shop", "payments")
_GONE = TopicName(ORDERS, "gone")
_PAID = TopicName(_PAYMENTS, "paid")
_OLD, _NEW = avro(field("a")), avro(field("a"), field("b", default=""))
_DESIRED = state(
    topic_state(
        CREATED,
        _NEW,
        policies=TopicPolicies(
            schema_compatibility_strategy=Strategy.BACKWARD, schema_validation_enforced=True
        ),
    ),
    topic_state(_PAID, STRING),
    namespaces={
        ORDERS: NamespacePolicies(is_allow_auto_update_schema=False),
        _PAYMENTS: NamespacePolicies(
            schema_compatibility_strategy=Strategy.FULL, schema_validation_enforced=True
        ),
    },
)
_WHOLE = state(topic_state(_GONE), namespaces={ORDERS: NamespacePolicies()})


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[EmbeddedRegistry]:
    """Holds an older schema, and one that a pruning plan deletes."""
    opened = _Spelling("local", tmp_path / "registry.db")
    opened.create_namespace(ORDERS)
    opened.register_schema(CREATED, _OLD)
    opened.register_schema(_GONE, STRING)
    yield opened
    opened.close()


class _Spelling(EmbeddedRegistry):
    """Spells out what a new namespace says by itself, as a Pulsar 4.0.7 broker does."""

    def create_namespace(self, namespace: NamespaceName) -> None:
        super().create_namespace(namespace)
        undefined = PolicyChange(
            key="schemaCompatibilityStrategy", before=None, after=Strategy.UNDEFINED
        )
        unset = PolicyChange(key="schemaValidationEnforced", before=None, after=False)
        allowed = PolicyChange(key="isAllowAutoUpdateSchema", before=None, after=True)
        self.set_policies(namespace, [undefined, unset, allowed])


def _planned(registry: EmbeddedRegistry, desired: RegistryState = _DESIRED) -> Plan:
    return make_plan(question(desired, observe(registry, desired, _WHOLE), prune=True))


def _written(plan: Plan) -> Document:
    """The plan as it comes back from its file."""
    return check_document(json.loads(json.dumps(to_document(plan))))


# ------------------------------------------------------------------ carrying out


def test_a_plan_of_all_kinds_is_carried_out_and_leaves_nothing_to_do(
    registry: EmbeddedRegistry,
) -> None:
    plan = _planned(registry)
    watched: list[tuple[int, int]] = []

    done = apply(plan, registry, lambda _what, count, total: watched.append((count, total)))

    assert {type(action) for action in done} == {
        CreateNamespace,
        SetPolicy,
        RegisterSchema,
        DeleteSchema,
    }
    assert done == plan.actions
    assert watched == [(i, len(done)) for i in range(len(done) + 1)]
    assert _planned(registry).actions == ()


@pytest.mark.parametrize("count", range(10))
def test_a_plan_is_taken_up_again_wherever_it_stopped(
    registry: EmbeddedRegistry, count: int
) -> None:
    plan = _planned(registry)
    document = _written(plan)
    assert len(plan.actions) == 9
    apply(replace(plan, actions=plan.actions[:count]), registry)

    rest = _planned(registry)

    assert check_reviewed(document, rest) == min(count, len(plan.actions))
    apply(rest, registry)
    assert _planned(registry).actions == ()
    assert check_reviewed(document, _planned(registry)) == len(plan.actions)


def test_the_calls_are_the_actions_in_order() -> None:
    registry = FakeRegistry(versions=[0, 4])

    assert apply(EVERYTHING, registry) == EVERYTHING.actions

    assert [what for what, _ in registry.calls] == [
        "create",
        "set",
        "set",
        "set",
        "register",
        "register",
        "delete",
    ]


def test_what_became_of_each_action_is_told() -> None:
    told: list[Result] = []

    with pytest.raises(PartialApplyError):
        apply(EVERYTHING, FakeRegistry(versions=[0, 9]), tell=told.append)

    assert tuple(one.action for one in told) == EVERYTHING.actions[:6]
    assert [one.version for one in told] == [None, None, None, None, 0, 9]
    assert [bool(one.error) for one in told] == [False] * 5 + [True]


def test_a_failure_of_the_first_action_is_told_as_it_is() -> None:
    with pytest.raises(Exception, match="the wire is cut") as raised:
        apply(EVERYTHING, FakeRegistry(fails_at=0))

    assert getattr(raised.value, "exit_code", None) == 4


@pytest.mark.parametrize("done", range(1, len(EVERYTHING.actions)))
def test_a_failure_after_that_says_how_far_it_came(done: int) -> None:
    registry = FakeRegistry(versions=[0, 4], fails_at=done)

    with pytest.raises(PartialApplyError) as raised:
        apply(EVERYTHING, registry)

    assert raised.value.exit_code == 6
    assert raised.value.what == f"{done} of 7 actions are done, then: the wire is cut"
    assert "mend it" in raised.value.hint
    assert "run apply again" in raised.value.hint
    assert len(registry.calls) == done


def test_another_version_than_the_planned_one_is_said_to_be_registered() -> None:
    only = replace(EVERYTHING, actions=EVERYTHING.actions[5:6])

    said = r"order-created was registered as v9, not as v4"
    with pytest.raises(PartialApplyError, match=said) as raised:
        apply(only, FakeRegistry(versions=[9]))

    assert raised.value.exit_code == 6


def test_another_version_in_the_middle_is_an_apply_in_part() -> None:
    with pytest.raises(PartialApplyError, match=r"4 of 7 .* registered as v9") as raised:
        apply(EVERYTHING, FakeRegistry(versions=[9]))

    assert raised.value.exit_code == 6


# ------------------------------------------------------------------ stale plans


def test_a_fresh_plan_is_not_stale(registry: EmbeddedRegistry) -> None:
    assert check_reviewed(_written(_planned(registry)), _planned(registry)) == 0


def test_other_files_are_stale(registry: EmbeddedRegistry) -> None:
    plan = _planned(registry)

    with pytest.raises(StalePlanError, match="the files"):
        check_reviewed(_written(plan), replace(plan, files="sha256:other"))


def _register(registry: EmbeddedRegistry) -> None:
    registry.register_schema(CREATED, avro(field("a"), field("c", default="")))


def _register_elsewhere(registry: EmbeddedRegistry) -> None:
    registry.create_namespace(_PAYMENTS)
    registry.register_schema(_PAID, avro())


def _set_namespace(registry: EmbeddedRegistry) -> None:
    registry.set_policies(
        ORDERS, [PolicyChange(key="schemaValidationEnforced", before=None, after=True)]
    )


def _set_topic(registry: EmbeddedRegistry) -> None:
    registry.set_policies(
        CREATED,
        [PolicyChange(key="schemaCompatibilityStrategy", before=None, after=Strategy.FORWARD)],
    )


def _delete(registry: EmbeddedRegistry) -> None:
    registry.delete_schema(CREATED)


def _delete_twice(registry: EmbeddedRegistry) -> None:
    registry.delete_schema(_GONE)
    registry.delete_schema(_GONE)


def _bring_back(registry: EmbeddedRegistry) -> None:
    registry.delete_schema(_GONE)
    registry.register_schema(_GONE, STRING)


@pytest.mark.parametrize(
    ("meanwhile", "who"),
    [
        (_register, "topic shop/orders/created"),
        (_register_elsewhere, "topic shop/payments/paid"),
        (_set_namespace, "namespace shop/orders"),
        (_set_topic, "topic shop/orders/created"),
        (_delete, "topic shop/orders/created"),
        (_delete_twice, "topic shop/orders/gone"),
        (_bring_back, "topic shop/orders/gone"),
    ],
)
def test_a_registry_that_somebody_else_changed_is_stale(
    registry: EmbeddedRegistry, meanwhile: Callable[[EmbeddedRegistry], None], who: str
) -> None:
    document = _written(_planned(registry))
    meanwhile(registry)

    with pytest.raises(StalePlanError, match=f"{who}.* changed since the plan was made") as raised:
        check_reviewed(document, _planned(registry))

    assert raised.value.hint


def test_a_change_of_a_topic_that_the_plan_leaves_alone_is_stale(
    registry: EmbeddedRegistry,
) -> None:
    desired = state(topic_state(CREATED, _OLD), topic_state(_PAID, STRING))
    document = _written(_planned(registry, desired))
    registry.set_policies(
        CREATED,
        [PolicyChange(key="schemaCompatibilityStrategy", before=None, after=Strategy.FORWARD)],
    )

    with pytest.raises(StalePlanError, match="topic shop/orders/created changed"):
        check_reviewed(document, _planned(registry, desired))


def test_other_subjects_are_stale(registry: EmbeddedRegistry) -> None:
    document = _written(_planned(registry))

    with pytest.raises(StalePlanError, match="other subjects"):
        check_reviewed(document, _planned(registry, state(topic_state(CREATED, _NEW))))


def test_another_action_on_the_same_state_is_stale(registry: EmbeddedRegistry) -> None:
    plan = _planned(registry)
    other = replace(plan, actions=(CreateNamespace(namespace=NamespaceName("shop", "more")),))

    with pytest.raises(StalePlanError, match="something else"):
        check_reviewed(_written(plan), other)


def test_many_moved_subjects_are_counted(registry: EmbeddedRegistry) -> None:
    plan = _planned(registry)
    moved = replace(plan, observed=dict.fromkeys(plan.observed, "other"))

    with pytest.raises(StalePlanError, match=r"and 2 more changed"):
        check_reviewed(_written(plan), moved)


# ------------------------------------------------------------------ plan files


@pytest.mark.parametrize(
    ("document", "what"),
    [
        (None, "not a plan file"),
        ([], "not a plan file"),
        ("Plan", "not a plan file"),
        ({}, "not a plan file"),
        ({"kind": "Findings"}, "not a plan file"),
        ({"kind": ["Plan"]}, "not a plan file"),
        ({"kind": "Plan"}, "not of version"),
        ({"kind": "Plan", "apiVersion": "pulsar-gitops/v2"}, "not of version"),
        ({"kind": "Plan", "apiVersion": "pulsar-gitops/v1"}, "was changed"),
        ({**to_document(EVERYTHING), "prune": False}, "was changed"),
        ({**to_document(EVERYTHING), "digest": None}, "was changed"),
    ],
)
def test_what_is_not_a_plan_file_is_refused(document: object, what: str) -> None:
    with pytest.raises(UsageError, match=what) as raised:
        check_document(document)

    assert raised.value.hint


def test_a_plan_file_is_taken_as_it_was_written() -> None:
    document = to_document(EVERYTHING)

    assert check_document(document) == document


_JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=3),
    st.lists(st.none() | st.integers() | st.lists(st.text())),
    st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.lists(st.integers())),
)
_NAMES = st.sampled_from([name for name in to_document(EVERYTHING) if name != "digest"])


@given(st.dictionaries(_NAMES, _JUNK), st.sets(_NAMES))
def test_no_document_with_the_right_digest_makes_a_traceback(
    changed: dict[str, Any], left_out: set[str]
) -> None:
    document = {**to_document(EVERYTHING), **changed}
    document = {name: value for name, value in document.items() if name not in left_out}
    document["digest"] = digest(document)
    needed = {"files", "prune", "registry", "actions", "observed", "expected", "kind", "apiVersion"}

    try:
        checked = check_document(document)
    except UsageError:
        assert needed & (left_out | set(changed))
        return
    assert not needed & left_out
    assert isinstance(checked["registry"]["name"], str)
    assert isinstance(checked["prune"], bool)
    try:
        check_reviewed(checked, EVERYTHING)
    except StalePlanError:
        assert needed & set(changed)
