"""Upgrades in two parts, where that saves a merge: consumers first, producers at the end.

A service may have to read a new schema before a merge, and may write another one only after it.
Upgraded as a whole it would need two merges, or two services would wait for each other. Where
nobody declared the upgrade, it can as well come in two parts.
"""

from __future__ import annotations

from dataclasses import replace

from gitops.model.names import TopicName
from gitops.model.rollout import Constraints, Register, Role, Rollout, Upgrade
from gitops.rollout.acts import merge_count
from gitops.rollout.constraints import constraints
from gitops.rollout.model import RolloutModel, Service, Use
from gitops.rollout.order import order, solve


def solve_with_few_merges(model: RolloutModel) -> tuple[RolloutModel, Constraints, Rollout]:
    """What `solve` finds, and of which model: the one given, or one whose upgrades are split.

    Raises PayloadError for a history that cannot be read.
    """
    solved, rollout = solve(model)
    count = merge_count(rollout)
    if count <= 1 and not rollout.blocks:
        return model, solved, rollout
    # Without an order `found` is of a model in which some stay behind.
    whole = constraints(model) if rollout.blocks else solved
    first_parts = _first_parts(model, whole)
    split_found = constraints(first_parts)
    split = order(split_found)
    # Who has to upgrade for what is written at the end has to upgrade all the same.
    is_same = not (whole.blocks or split.blocks) and split.may_stay == whole.may_stay
    if is_same and (rollout.blocks or merge_count(split) < count):
        return first_parts, split_found, split
    return model, solved, rollout


def _first_parts(model: RolloutModel, result: Constraints) -> RolloutModel:
    early = {
        constraint.first.service
        for constraint in result.before
        if isinstance(constraint.first, Upgrade) and isinstance(constraint.then, Register)
    }
    late = {
        (constraint.then.service, constraint.topic)
        for constraint in result.before
        if isinstance(constraint.first, Register) and isinstance(constraint.then, Upgrade)
    }
    services = (
        _first_part(service, late) if service.assumed and service.name in early else service
        for service in model.services
    )
    return replace(model, services=tuple(services))


def _first_part(service: Service, late: set[tuple[str, TopicName]]) -> Service:
    """The upgrade without what the service writes only after a registration."""
    if _sides(service.before) != _sides(service.after):
        return service
    uses = (
        old if new.role is Role.PRODUCER and (service.name, new.topic) in late else new
        for old, new in zip(service.before, service.after, strict=True)
    )
    return replace(service, after=tuple(uses))


def _sides(uses: tuple[Use, ...]) -> list[tuple[TopicName, Role]]:
    return [(use.topic, use.role) for use in uses]
