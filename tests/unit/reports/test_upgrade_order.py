"""The column *Upgrade first* and the lines of a rollout never disagree."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from gitops.model.names import TopicName
from gitops.model.plan import Plan
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rollout import (
    Block,
    Constraint,
    OrderedStep,
    Register,
    Role,
    Rollout,
    Side,
    Upgrade,
)
from gitops.model.rollout_reason import Reason
from gitops.reports.rollout_wording import Line, lines
from gitops.reports.upgrade_order import UpgradeOrder, clients_first
from gitops.rollout.acts import ActKind
from gitops.rollout.model import RolloutModel, TopicModel, Use
from gitops.rollout.readers import histories, refusal_reason
from gitops.rollout.split_upgrades import solve_with_few_merges
from tests.support.random_rollouts import Worlds

TOPIC = TopicName.parse("a/b/c")
PLAN = Plan(registry="local", address="x.db", files="")


def _locked_out(model: RolloutModel, topic: TopicModel) -> set[str]:
    """Whom a registration keeps out that let it in before: asked of the broker's rules alone."""
    return {
        service.name
        for service in model.services
        if service.changes
        for before, after in pairwise(histories(topic))
        if _refused(service.before, topic, after) and not _refused(service.before, topic, before)
    }


def _refused(uses: tuple[Use, ...], topic: TopicModel, history: object) -> bool:
    on_it = (use for use in uses if use.topic == topic.topic)
    return any(refusal_reason(use, topic, history) for use in on_it)  # type: ignore[arg-type]


def _line_of(found: list[Line], topic: TopicName) -> int:
    """The last one that registers a version of it."""
    return max(
        place
        for place, line in enumerate(found)
        for one in line.steps
        if isinstance(one.step, Register) and one.step.topic == topic
    )


def _names(found: list[Line]) -> set[str]:
    steps = (one.step for line in found if line.kind is ActKind.UPGRADE for one in line.steps)
    return {step.service for step in steps if isinstance(step, Upgrade)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))]
)
def test_the_column_names_whom_the_lines_name(seed: int) -> None:
    worlds, seen = Worlds(seed), set[str]()
    for _ in range(250):
        model, _, rollout = solve_with_few_merges(worlds.healthy())
        found, order = list(lines(rollout, PLAN)), UpgradeOrder(rollout)
        for name, topic in model.topics.items():
            if rollout.blocks or not topic.new:
                continue
            column = order.first(name, topic.strategy)
            named, place = set(re.findall(r"s\d", column)), _line_of(found, name)
            before, after = _names(found[:place]), _names(found[place:])
            locked = _locked_out(model, topic)
            kind = "after" if column.startswith("after") else "before" if named else "nobody"
            seen.add(kind)
            if kind == "before":
                assert named <= before, (column, found)
                assert locked == named or "more" in column, (column, model)
            else:
                assert not locked, (column, model)
            if kind == "after":
                assert named <= after - before, (column, found)
    assert len(seen) > 1


def _order(*steps: OrderedStep, **more: object) -> UpgradeOrder:
    return UpgradeOrder(replace(Rollout(steps=steps), **more))  # type: ignore[arg-type]


REGISTER = OrderedStep(step=Register(TOPIC, 1), wave=0)


def test_without_declared_clients_it_is_the_strategys() -> None:
    strategies = {TOPIC: Strategy.BACKWARD}
    declared, none = _order(REGISTER), _order(REGISTER, strategies=strategies)
    assert declared.first(TOPIC, Strategy.BACKWARD) == "nobody"
    assert none.first(TOPIC, Strategy.BACKWARD) == "consumers (by BACKWARD)"
    assert _order().first(TOPIC, Strategy.FULL) == "any order (by FULL)"


def test_a_first_version_and_a_waived_one_have_no_strategy() -> None:
    none = _order(REGISTER, strategies={TOPIC: Strategy.BACKWARD})
    assert none.first(TOPIC, Strategy.BACKWARD, is_new=True) == "nobody"
    assert none.first(TOPIC, Strategy.BACKWARD, is_waived=True) == "–"
    assert _order(REGISTER).first(TOPIC, Strategy.BACKWARD, is_waived=True) == "nobody"


def test_without_an_order_nobody_is_first() -> None:
    blocked = _order(blocks=(Block(reason="x", topics=(TOPIC,)),))
    assert blocked.first(TOPIC, Strategy.BACKWARD) == "no safe order"
    assert blocked.first(TopicName.parse("a/b/d"), Strategy.BACKWARD) == "–"


def test_of_many_clients_the_first_are_named() -> None:

    register = Register(TOPIC, 1)
    waits = tuple(
        Constraint(first=Upgrade(name), then=register, reason=Reason(verb="x"), topic=TOPIC)
        for name in "abcdef"
    )
    sides = dict.fromkeys("abcdef", (Side(role=Role.CONSUMER, topic=TOPIC),))
    upgrades = (OrderedStep(step=Upgrade(name), wave=0) for name in "abcdef")
    order = _order(*upgrades, replace(REGISTER, waits_for=waits), sides=sides)
    assert order.first(TOPIC, Strategy.BACKWARD) == "consumers: a, b, c and 3 more"


def test_clients_that_upgrade_before_a_registration_are_counted() -> None:
    register = Register(TOPIC, 1)
    wait = Constraint(first=Upgrade("a"), then=register, reason=Reason(verb="x"), topic=TOPIC)
    upgrade = OrderedStep(step=Upgrade("a"), wave=0)
    assert _order(upgrade, replace(REGISTER, waits_for=(wait,))).early_clients == {TOPIC: 1}
    assert _order(upgrade, REGISTER).early_clients == {}
    assert [clients_first(number) for number in (1, 2)] == ["1 client first", "2 clients first"]
