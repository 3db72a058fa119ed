"""Only what was reviewed is applied: stale plans, and plans that are resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gitops.model.config import SafetyConfig
from gitops.model.errors import StalePlanError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import CreateNamespace, DeleteSchema, Plan
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.planning.plan import make_plan
from gitops.planning.reviewed_plan import resume, scope_of
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.usecases.apply import apply
from tests.support.apply_examples import (
    ACTIONS,
    ALSO_GONE,
    GONE,
    NEW,
    OLD,
    PAID,
    PAYMENTS,
    planned,
    registry_in_use,
    written,
)
from tests.support.states import (
    CREATED,
    INT64,
    ORDERS,
    STRING,
    avro,
    field,
    observe,
    question,
    state,
    topic_state,
)


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[EmbeddedRegistry]:
    """Holds an older schema, and two that a pruning plan deletes."""
    with registry_in_use(tmp_path / "registry.db") as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("count", range(ACTIONS + 1))
def test_a_plan_is_taken_up_again_wherever_it_stopped(
    registry: EmbeddedRegistry, count: int
) -> None:
    plan = planned(registry)
    document = written(plan)
    assert len(plan.actions) == ACTIONS
    apply(replace(plan, actions=plan.actions[:count]), registry)

    rest = planned(registry)

    assert resume(document, rest).done == count
    apply(rest, registry)
    assert planned(registry).actions == ()
    assert resume(document, planned(registry)).done == len(plan.actions)


# ------------------------------------------------------------------ stale plans


def test_a_fresh_plan_is_not_stale(registry: EmbeddedRegistry) -> None:
    assert resume(written(planned(registry)), planned(registry)).done == 0


def test_other_files_are_stale(registry: EmbeddedRegistry) -> None:
    plan = planned(registry)

    with pytest.raises(StalePlanError, match="the files"):
        resume(written(plan), replace(plan, files="sha256:other"))


def _register(registry: EmbeddedRegistry) -> None:
    registry.register_schema(CREATED, avro(field("a"), field("c", default="")))


def _register_elsewhere(registry: EmbeddedRegistry) -> None:
    registry.create_namespace(PAYMENTS)
    registry.register_schema(PAID, avro())


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
    registry.delete_schema(GONE)
    registry.delete_schema(GONE)


def _delete_by_hand(registry: EmbeddedRegistry) -> None:
    registry.delete_schema(GONE)


def _forget(registry: EmbeddedRegistry) -> None:
    """As where somebody deletes the topic itself (Pulsar 4.0.7 removes its history then)."""
    registry.delete_schema(GONE, force=True)


def _delete_and_set(registry: EmbeddedRegistry) -> None:
    registry.delete_schema(GONE)
    full = PolicyChange(key="schemaCompatibilityStrategy", before=None, after=Strategy.FULL)
    registry.set_policies(GONE, [full])


def _register_another(registry: EmbeddedRegistry) -> None:
    registry.delete_schema(GONE)
    registry.register_schema(GONE, INT64)


def _bring_back(registry: EmbeddedRegistry) -> None:
    registry.delete_schema(GONE)
    registry.register_schema(GONE, STRING)


@pytest.mark.parametrize(
    ("meanwhile", "who"),
    [
        (_register, "topic shop/orders/created"),
        (_register_elsewhere, "topic shop/payments/paid"),
        (_set_namespace, "namespace shop/orders"),
        (_set_topic, "topic shop/orders/created"),
        (_delete, "topic shop/orders/created"),
        (_bring_back, "topic shop/orders/gone"),
        (_register_another, "topic shop/orders/gone"),
    ],
)
def test_a_registry_that_somebody_else_changed_is_stale(
    registry: EmbeddedRegistry, meanwhile: Callable[[EmbeddedRegistry], None], who: str
) -> None:
    document = written(planned(registry))
    meanwhile(registry)

    with pytest.raises(StalePlanError, match=f"{who}.* changed since the plan was made") as raised:
        resume(document, planned(registry))

    assert raised.value.hint


@pytest.mark.parametrize("how", [_delete_by_hand, _delete_twice, _forget, _delete_and_set])
@pytest.mark.parametrize("is_applied", [False, True], ids=["before", "after"])
def test_a_topic_that_the_plan_deletes_is_done_however_its_schema_went(
    registry: EmbeddedRegistry,
    how: Callable[[EmbeddedRegistry], None],
    is_applied: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    plan = planned(registry)
    document = written(plan)
    if is_applied:
        apply(plan, registry)
    how(registry)

    rest = resume(document, planned(registry))

    assert rest.done == (len(plan.actions) if is_applied else 1)
    assert DeleteSchema(topic=GONE, versions=(0,)) not in rest.plan.actions


def test_a_change_of_a_topic_that_the_plan_leaves_alone_is_stale(
    registry: EmbeddedRegistry,
) -> None:
    desired = state(topic_state(CREATED, OLD), topic_state(PAID, STRING))
    document = written(planned(registry, desired))
    registry.set_policies(
        CREATED,
        [PolicyChange(key="schemaCompatibilityStrategy", before=None, after=Strategy.FORWARD)],
    )

    with pytest.raises(StalePlanError, match="topic shop/orders/created changed"):
        resume(document, planned(registry, desired))


def test_other_subjects_are_stale(registry: EmbeddedRegistry) -> None:
    document = written(planned(registry))

    with pytest.raises(StalePlanError, match="other subjects"):
        resume(document, planned(registry, state(topic_state(CREATED, NEW))))


def test_another_action_on_the_same_state_is_stale(registry: EmbeddedRegistry) -> None:
    plan = planned(registry)
    other = replace(plan, actions=(CreateNamespace(namespace=NamespaceName("shop", "more")),))

    with pytest.raises(StalePlanError, match="other actions"):
        resume(written(plan), other)


def test_many_moved_subjects_are_counted(registry: EmbeddedRegistry) -> None:
    plan = planned(registry)
    moved = replace(plan, observed=dict.fromkeys(plan.observed, "other"))

    with pytest.raises(StalePlanError, match=r"and 3 more changed"):
        resume(written(plan), moved)


# ------------------------------------------------------------------ what is looked at


def test_an_apply_looks_at_what_the_plan_has_seen(registry: EmbeddedRegistry) -> None:
    plan = planned(registry)

    scope = scope_of(written(plan))

    assert scope.namespaces == {ORDERS, PAYMENTS}
    assert scope.topics == {CREATED, PAID, GONE, ALSO_GONE}


@pytest.mark.parametrize("subject", ["topic shop", "namespace shop/orders/created", "", "x"])
def test_a_plan_that_looks_at_what_is_no_name_is_refused(subject: str) -> None:
    with pytest.raises(UsageError, match="the plan file contains the subject") as raised:
        scope_of({"observed": {subject: "0" * 64}})

    assert raised.value.hint


@pytest.mark.slow
def test_the_share_that_may_change_is_judged_once_for_the_whole_plan(
    registry: EmbeddedRegistry,
) -> None:
    """Three first versions make a registry of two topics one that the limit holds for."""
    names = [TopicName(ORDERS, f"new-{number}") for number in range(3)]
    wanted = state(topic_state(CREATED, NEW), *(topic_state(name, STRING) for name in names))
    limited = SafetyConfig(max_changed_share=0.2, min_topics=3)

    def plan_now() -> Plan:
        return make_plan(question(wanted, observe(registry, wanted), safety=limited))

    plan = plan_now()
    assert plan.findings == ()
    for name in names:
        registry.register_schema(name, STRING)
    now = plan_now()
    assert [one.rule for one in now.findings] == ["PLAN-R004"]

    assert resume(written(plan), now).plan.findings == ()
    assert resume(written(now), now).plan.findings == now.findings
