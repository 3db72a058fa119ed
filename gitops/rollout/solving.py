"""A world to its rollout: with everybody who may upgrade, or else with those who have to."""

from __future__ import annotations

from dataclasses import replace

from gitops.model.rollout import Constraints, Rollout, Upgrade
from gitops.rollout.constraints import constraints
from gitops.rollout.order import order
from gitops.rollout.world import World


def solve(world: World) -> tuple[Constraints, Rollout]:
    """The constraints and the order; raises PayloadError for a history that cannot be read.

    Nobody has declared an upgrade that is only assumed, so it is no reason against an order. Where
    all of them together have none, they stay behind but for those whom a block names, which then
    are stuck as they are; each round lets one more of them go at least, so that there are as many
    rounds as such services, at most.
    """
    found = constraints(world)
    rollout = order(found)
    assumed = {one.name for one in world.services if one.assumed}
    going: set[str] = set()
    while rollout.blocks and assumed - going:
        found = constraints(_staying(world, assumed - going))
        rollout = order(found)
        steps = (step for block in rollout.blocks for step in block.steps)
        stuck = {step.service for step in steps if isinstance(step, Upgrade)} & assumed
        if stuck <= going:
            break
        going |= stuck
    return found, rollout


def _staying(world: World, names: set[str]) -> World:
    services = (
        replace(one, after=one.before, assumed=False) if one.name in names else one
        for one in world.services
    )
    return replace(world, services=tuple(services))
