"""What is offered is an order, and where none is offered there is none: all orders are tried."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from gitops.model.rollout import Step, Upgrade
from gitops.rollout.constraints import constraints
from gitops.rollout.model import RolloutModel
from gitops.rollout.order import solve
from tests.support.random_rollouts import Seen, Worlds, all_orders, is_safe


@pytest.mark.slow
@pytest.mark.parametrize("auto", [False, True])
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))]
)
def test_every_order_was_tried(seed: int, *, auto: bool) -> None:
    worlds = Worlds(seed, auto=auto)
    outcomes = {True: 0, False: 0}
    for _ in range(30):
        world = worlds.world()
        _, rollout = solve(world)
        seen: Seen = {}
        possible = any(is_safe(world, one, wait=True, seen=seen) for one in _all_ways(world))
        assert possible == (not rollout.blocks), world
        if not rollout.blocks:
            steps = [one.step for one in rollout.steps]
            assert is_safe(world, steps, wait=False), world
            staying = {Upgrade(name) for name in rollout.may_stay}
            assert is_safe(world, [one for one in steps if one not in staying], wait=False), world
        outcomes[possible] += 1

    assert min(outcomes.values()) > 1


def _all_ways(world: RolloutModel) -> Iterator[tuple[Step, ...]]:
    """All orders of all steps; and without any of the upgrades that nobody declared."""
    steps = constraints(world).steps
    assumed = [
        step
        for service in world.services
        if service.assumed
        if (step := Upgrade(service.name)) in steps
    ]
    for count in range(len(assumed) + 1):
        for left in itertools.combinations(assumed, count):
            yield from all_orders(one for one in steps if one not in left)
