"""Constraints to an order of upgrades; where there is none, the way to a new topic."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Final

from gitops.broker.consumer_compatibility import check_consumer
from gitops.broker.lines.line import BrokerLine
from gitops.broker.registration import register
from gitops.model.decision import StoredHistory
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rollout import (
    Block,
    Constraint,
    Constraints,
    Delete,
    Drain,
    Migration,
    OrderedStep,
    Register,
    Role,
    Rollout,
    Step,
    Upgrade,
)
from gitops.model.rollout_reason import Reason
from gitops.model.schema import SchemaInfo
from gitops.rollout.constraints import constraints
from gitops.rollout.model import RolloutModel, Service
from gitops.schemas.payload import PayloadError

_NUMBERED: Final = re.compile(r"(.+)-v(\d{1,9})")
_FIRST: Final = 2


def next_name(topic: TopicName, taken: Collection[tuple[str, str]]) -> TopicName:
    """The topic's name with the next number that is free: `orders-v2` after `orders`.

    `taken` are namespaces with local names.
    """
    match = _NUMBERED.fullmatch(topic.local_name)
    stem, number = (match[1], int(match[2]) + 1) if match else (topic.local_name, _FIRST)
    while (str(topic.namespace), f"{stem}-v{number}") in taken:
        number += 1
    return replace(topic, local_name=f"{stem}-v{number}")


def migration(
    topic: TopicName,
    to: TopicName,
    services: Iterable[Service],
    schema: tuple[SchemaInfo, SchemaCompatibilityStrategy],
    line: BrokerLine,
) -> Migration | None:
    """Who moves; None where the broker would not let them in at the new topic either."""
    info, strategy = schema
    sides: dict[Role, dict[str, bool]] = {role: {} for role in Role}
    for service in services:
        for use in (*service.before, *service.after):
            if use.topic == topic:
                has_schema = any(isinstance(item, SchemaInfo) for item in use.schemas)
                side = sides[use.role]
                side[service.name] = side.get(service.name, False) or has_schema
    if not _lets_in(info, strategy, line, consumers=any(sides[Role.CONSUMER].values())):
        return None
    consumers, producers = (tuple(sides[role]) for role in (Role.CONSUMER, Role.PRODUCER))
    return Migration(topic=topic, to=to, consumers=consumers, producers=producers)


def _lets_in(
    info: SchemaInfo, strategy: SchemaCompatibilityStrategy, line: BrokerLine, *, consumers: bool
) -> bool:
    try:
        stored = line.types.to_stored(info)
    except PayloadError:
        return False
    if not register(StoredHistory(), info, strategy, line).accepted:
        return False
    alone = StoredHistory(entries=((0, stored),), next_version=1)
    return not consumers or check_consumer(alone, info, strategy, line).accepted


# Constraints to an order, or to why there is none.

_RANKS: Final = {Register: 0, Upgrade: 1, Drain: 2, Delete: 3}


def order(constraints: Constraints) -> Rollout:
    """A sort of the steps: each wave as early as it can be, registrations first within it."""
    broken = tuple(block.reason for block in constraints.broken)
    blocks = constraints.blocks or _cycle(constraints)
    if blocks:
        return Rollout(blocks=blocks, broken=broken, may_stay=constraints.may_stay)
    waits: dict[Step, list[Constraint]] = {step: [] for step in constraints.steps}
    for constraint in constraints.before:
        waits[constraint.then].append(constraint)
    steps = _sort_steps(waits)
    return Rollout(steps=steps, broken=broken, may_stay=constraints.may_stay)


def _sort_steps(waits: Mapping[Step, list[Constraint]]) -> tuple[OrderedStep, ...]:
    sorter = TopologicalSorter(
        {step: [constraint.first for constraint in members] for step, members in waits.items()}
    )
    sorter.prepare()
    steps: list[OrderedStep] = []
    wave = 0
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=_rank)
        steps += [OrderedStep(step=s, wave=wave, waits_for=tuple(waits[s])) for s in ready]
        sorter.done(*ready)
        wave += 1
    return tuple(steps)


def _rank(step: Step) -> tuple[int, Step]:
    return _RANKS[type(step)], step


def _cycle(constraints: Constraints) -> tuple[Block, ...]:
    """The steps that each wait for the next, with the reasons of all of them."""
    graph: dict[Step, set[Step]] = {step: set() for step in constraints.steps}
    for constraint in constraints.before:
        graph[constraint.then].add(constraint.first)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        steps: list[Step] = error.args[1]
        return (_block(steps, constraints.before),)
    return ()


def _block(steps: list[Step], constraints: Iterable[Constraint]) -> Block:
    pairs = set(pairwise(steps))
    waiting = [
        constraint for constraint in constraints if (constraint.first, constraint.then) in pairs
    ]
    return Block(
        reason="; and ".join(dict.fromkeys(_clause(constraint.reason) for constraint in waiting)),
        steps=tuple(steps[:-1]),
        topics=tuple(sorted({constraint.topic for constraint in waiting})),
    )


def _clause(reason: Reason) -> str:
    sentence = reason.sentence()
    return f"{sentence[:1].lower()}{sentence[1:]}" if reason.moment or reason.state else sentence


# A world to its rollout: with everybody who may upgrade, or else with those who have to.


def solve(world: RolloutModel) -> tuple[Constraints, Rollout]:
    """The constraints and the order; raises PayloadError for a history that cannot be read.

    Nobody has declared an upgrade that is only assumed, so it is no reason against an order. Where
    all of them together have none, they stay behind but for those whom a block names, which then
    are stuck as they are; each round lets one more of them go at least, so that there are as many
    rounds as such services, at most.
    """
    result = constraints(world)
    rollout = order(result)
    assumed = {service.name for service in world.services if service.assumed}
    going: set[str] = set()
    while rollout.blocks and assumed - going:
        result = constraints(_staying_services(world, assumed - going))
        rollout = order(result)
        steps = (step for block in rollout.blocks for step in block.steps)
        stuck = {step.service for step in steps if isinstance(step, Upgrade)} & assumed
        if stuck <= going:
            break
        going |= stuck
    return result, rollout


def _staying_services(world: RolloutModel, names: set[str]) -> RolloutModel:
    services = (
        replace(service, after=service.before, assumed=False) if service.name in names else service
        for service in world.services
    )
    return replace(world, services=tuple(services))
