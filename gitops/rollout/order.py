"""Constraints to an order, or to why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Final

from gitops.model.rollout import (
    Block,
    Constraint,
    Constraints,
    Delete,
    Drain,
    Ordered,
    Register,
    Rollout,
    Step,
    Upgrade,
)

_RANKS: Final = {Register: 0, Upgrade: 1, Drain: 2, Delete: 3}


def order(found: Constraints) -> Rollout:
    """A sort of the steps: each wave as early as it can be, registrations first within it."""
    broken = tuple(one.reason for one in found.broken)
    blocks = found.blocks or _cycle(found)
    if blocks:
        return Rollout(blocks=blocks, broken=broken, may_stay=found.may_stay)
    waits: dict[Step, list[Constraint]] = {step: [] for step in found.steps}
    for one in found.before:
        waits[one.then].append(one)
    steps = _sorted(waits)
    return Rollout(steps=steps, broken=broken, may_stay=found.may_stay)


def _sorted(waits: Mapping[Step, list[Constraint]]) -> tuple[Ordered, ...]:
    sorter = TopologicalSorter({step: [one.first for one in its] for step, its in waits.items()})
    sorter.prepare()
    found: list[Ordered] = []
    wave = 0
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=_rank)
        found += [Ordered(step=s, wave=wave, waits_for=tuple(waits[s])) for s in ready]
        sorter.done(*ready)
        wave += 1
    return tuple(found)


def _rank(step: Step) -> tuple[int, Step]:
    return _RANKS[type(step)], step


def _cycle(found: Constraints) -> tuple[Block, ...]:
    """The steps that each wait for the next, with the reasons of all of them."""
    graph: dict[Step, set[Step]] = {step: set() for step in found.steps}
    for one in found.before:
        graph[one.then].add(one.first)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        steps: list[Step] = error.args[1]
        return (_block(steps, found.before),)
    return ()


def _block(steps: list[Step], constraints: Iterable[Constraint]) -> Block:
    pairs = set(pairwise(steps))
    waiting = [one for one in constraints if (one.first, one.then) in pairs]
    return Block(
        reason="; and ".join(dict.fromkeys(one.reason for one in waiting)),
        steps=tuple(steps[:-1]),
        topics=tuple(sorted({one.topic for one in waiting})),
    )
