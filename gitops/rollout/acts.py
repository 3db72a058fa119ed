"""A rollout as people act: one merge registers all that it can, one act upgrades all who may."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from gitops.model.rollout import (
    Delete,
    Drain,
    OrderedStep,
    Register,
    Rollout,
    Step,
    Upgrade,
)


class ActKind(Enum):
    """What people do at once."""

    MERGE = "merge"
    """All registrations that a merge carries out."""
    UPGRADE = "upgrade"
    """Services that have to upgrade, in any order."""
    WAIT = "wait"
    DELETE = "delete"
    OPTIONAL = "optional"
    """Services that never have to upgrade, in any order: it is always the last act."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Steps that do not wait for each other, done together."""

    kind: ActKind
    steps: tuple[OrderedStep, ...]

    @property
    def registers(self) -> tuple[Register, ...]:
        """What a merge registers."""
        return tuple(ordered.step for ordered in self.steps if isinstance(ordered.step, Register))

    @property
    def services(self) -> tuple[str, ...]:
        """Who upgrades."""
        return tuple(
            ordered.step.service for ordered in self.steps if isinstance(ordered.step, Upgrade)
        )


_KINDS: Final = {
    Upgrade: ActKind.UPGRADE,
    Drain: ActKind.WAIT,
    Register: ActKind.MERGE,
    Delete: ActKind.DELETE,
}


def acts(rollout: Rollout) -> tuple[Act, ...]:
    """The acts in order, with as few merges as there can be.

    A merge registers all that is ready. So before each one everybody upgrades who can and whom
    some registration waits for; who upgrades after the registrations comes last.
    """
    waits = {ordered.step: {wait.first for wait in ordered.waits_for} for ordered in rollout.steps}
    optional = _optional(rollout, waits)
    never = {ordered.step for ordered in optional}
    steps = [ordered for ordered in rollout.steps if ordered.step not in never]
    result = list(_required(steps, waits))
    if optional or rollout.later:
        result.append(Act(kind=ActKind.OPTIONAL, steps=tuple(optional)))
    return tuple(result)


def merge_count(rollout: Rollout) -> int:
    """How many merges it takes."""
    return sum(act.kind is ActKind.MERGE for act in acts(rollout))


def act_of(step: OrderedStep) -> Act:
    """A step alone."""
    return Act(kind=_KINDS[type(step.step)], steps=(step,))


def _optional(rollout: Rollout, waits: Mapping[Step, set[Step]]) -> list[OrderedStep]:
    """The upgrades that nothing needs, and nothing waits for."""
    awaited = {first for firsts in waits.values() for first in firsts}
    items = (
        ordered
        for ordered in rollout.steps
        if isinstance(ordered.step, Upgrade)
        and ordered.step.service in rollout.may_stay
        and ordered.step not in awaited
    )
    return sorted(items, key=lambda step: str(step.step))


def _required(steps: Iterable[OrderedStep], waits: Mapping[Step, set[Step]]) -> Iterator[Act]:
    left = {ordered.step: ordered for ordered in steps}
    early = _before_registers(left, waits)
    done: set[Step] = set()
    while left:
        ready = [step for step in left if waits[step] <= done]
        kind, chosen = _next(ready, early)
        yield Act(kind=kind, steps=tuple(left.pop(step) for step in chosen))
        done.update(chosen)


def _before_registers(steps: Iterable[Step], waits: Mapping[Step, set[Step]]) -> set[Step]:
    """What some registration waits for, itself or by what comes between."""
    items: set[Step] = set()
    left: list[Step] = [step for step in steps if isinstance(step, Register)]
    while left:
        firsts = waits[left.pop()] - items
        items |= firsts
        left += firsts
    return {step for step in items if not isinstance(step, Register)}


def _next(ready: list[Step], early: set[Step]) -> tuple[ActKind, list[Step]]:
    """What is done next, all of one kind: what registrations wait for, registrations, the rest."""
    kinds = (Upgrade, Drain, Delete)
    choices: list[list[Step]] = [
        [item for item in ready if isinstance(item, kind) and item in early] for kind in kinds
    ]
    choices += [[item for item in ready if isinstance(item, kind)] for kind in (Register, *kinds)]
    chosen = next(choice for choice in choices if choice)
    return _KINDS[type(chosen[0])], sorted(chosen, key=str)
