"""The order between registries, as `after` has it: `plan` shows it, and `apply` keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitops.cli.answer import Display
from gitops.cli.plan_output import make_plan
from gitops.cli.session import OpenedRepository, open_registry
from gitops.model.config import RegistryConfig
from gitops.model.errors import GitopsError
from gitops.model.plan import Plan
from gitops.planning.registry_comparison import not_applied_finding, noted, unknown_finding
from gitops.reports.results import RegistryPlan


def note_order(
    plan: Plan,
    config: RegistryConfig,
    opened: OpenedRepository,
    display: Display,
    known: Mapping[str, RegistryPlan],
) -> Plan:
    """The plan with a note on the registry that has to be applied before it; see `after`.

    `known` are plans that are made already. A registry that does not answer is part of the note.
    """
    first = config.after
    if not first:
        return plan
    outcome = known.get(first) or _plan_of(first, opened, display)
    if outcome.plan:
        finding = not_applied_finding(plan.registry, outcome.plan)
        if finding and first in known:
            finding = replace(finding, hint=f"an apply of these plans begins with {first}")
        return noted(plan, finding)
    reason = outcome.error.what if outcome.error else "it has no plan"
    return noted(plan, unknown_finding(plan.registry, first, reason))


def _plan_of(name: str, opened: OpenedRepository, display: Display) -> RegistryPlan:
    try:
        return RegistryPlan(registry=name, plan=_current_plan(name, opened, display))
    except GitopsError as error:
        return RegistryPlan(registry=name, error=error)


def require_order(
    plan: Plan, config: RegistryConfig, opened: OpenedRepository, display: Display
) -> Plan:
    """The plan, with an error where the registry that comes before it is not applied.

    Raises OutsideError, UsageError where that one does not answer.
    """
    first = config.after
    if not first:
        return plan
    try:
        before = _current_plan(first, opened, display)
    except GitopsError as error:
        error.what = f"{first} comes before {plan.registry}, and has no plan: {error.what}"
        raise
    finding = not_applied_finding(plan.registry, before)
    return replace(plan, findings=(*plan.findings, finding)) if finding else plan


def _current_plan(name: str, opened: OpenedRepository, display: Display) -> Plan:
    with open_registry(opened, [name]) as (live, config):
        return make_plan(opened, live, config, display, prune=False, asks_for_clients=False)
