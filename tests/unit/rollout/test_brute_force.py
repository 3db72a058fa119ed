"""What is offered is an order, and where none is offered there is none: all orders are tried."""

from __future__ import annotations

import pytest

from gitops.model.rollout import Upgrade
from gitops.rollout.constraints import constraints
from gitops.rollout.order import order
from tests.support.worlds import Worlds, all_orders, is_safe


@pytest.mark.parametrize("seed", range(6))
def test_every_order_was_tried(seed: int) -> None:
    worlds = Worlds(seed)
    outcomes = {True: 0, False: 0}
    for _ in range(30):
        world = worlds.world()
        found = constraints(world)
        rollout = order(found)
        possible = any(is_safe(world, one, wait=True) for one in all_orders(found.steps))
        assert possible == (not rollout.blocks), world
        if not rollout.blocks:
            steps = [one.step for one in rollout.steps]
            assert is_safe(world, steps, wait=False), world
            staying = {Upgrade(name) for name in rollout.may_stay}
            assert is_safe(world, [one for one in steps if one not in staying], wait=False), world
        outcomes[possible] += 1

    assert min(outcomes.values()) > 1
