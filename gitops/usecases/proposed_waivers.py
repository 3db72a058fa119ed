"""Waivers that a check proposes: a waiver fits the versions that it is computed from, no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gitops.model.check import History, HistorySource
from gitops.model.plan import Notice, Plan, RefusedSchema
from gitops.model.waivers import WaiverProposal

_WRITES: Final = "this check with `--waivers waivers` writes it"
_OF_SNAPSHOT: Final = "it fits the versions of the snapshot"
_NONE: Final = (
    "No waiver is proposed: it would fit the versions that git knows, and the registry may have "
    "others."
)


def with_proposals(plan: Plan, history: History) -> tuple[Plan, History]:
    """The plan with waivers that can fit the registry, and a limit where there are none."""
    if history.source is not HistorySource.GIT:
        is_live = history.source is HistorySource.REGISTRY
        fits = "" if is_live else _OF_SNAPSHOT
        return _each(plan, lambda one: replace(one, hint=_WRITES, fits=fits)), history
    bare = _each(plan, lambda _: None)
    if bare == plan:
        return plan, history
    return bare, replace(history, limits=(*history.limits, _NONE))


def _each(plan: Plan, edit: Callable[[WaiverProposal], WaiverProposal | None]) -> Plan:
    def edited(one: Notice) -> Notice:
        if isinstance(one, RefusedSchema) and one.waiver:
            return replace(one, waiver=edit(one.waiver))
        return one

    return replace(plan, notices=tuple(map(edited, plan.notices)))
