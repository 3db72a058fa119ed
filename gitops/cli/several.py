"""Plans for several registries in one run: one after the other, whatever becomes of the others."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from gitops.changes.registries import registry_config
from gitops.cli import plan_output
from gitops.cli.console import print_report, print_text
from gitops.cli.exits import Exit, tell
from gitops.cli.options import Format
from gitops.cli.pull_request_output import print_reported
from gitops.cli.session import OpenedRepository, open_registry
from gitops.model.errors import GitopsError
from gitops.model.plan import Plan
from gitops.reports.json.documents import plans_document, to_text
from gitops.reports.text.plain import safe

_WORST_FIRST: Final = (Exit.OUTSIDE, Exit.USAGE, Exit.FINDINGS, Exit.CHANGES, Exit.GOOD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The plan for one registry, or why there is none; `seconds` is how long it took."""

    registry: str
    plan: Plan | None = None
    error: GitopsError | None = None
    seconds: float = 0.0


def plan_each(
    names: Iterable[str], opened: OpenedRepository, display: plan_output.Display, *, prune: bool
) -> list[Outcome]:
    """A plan for each registry, in this order; a failure of one does not stop the others.

    Raises UsageError for a name that is not in `gitops.yaml`, before any registry is asked.
    """
    wanted = [registry_config(opened.repository, name)[0] for name in dict.fromkeys(names)]
    return [_outcome(name, opened, display, prune=prune) for name in wanted]


def _outcome(
    name: str, opened: OpenedRepository, display: plan_output.Display, *, prune: bool
) -> Outcome:
    started = time.monotonic()
    try:
        with open_registry(opened, [name]) as (live, config):
            plan = plan_output.make(opened, live, config, display, prune=prune)
    except GitopsError as error:
        return Outcome(registry=name, error=error)
    return Outcome(registry=name, plan=plan, seconds=time.monotonic() - started)


def show(outcomes: list[Outcome], opened: OpenedRepository, display: plan_output.Display) -> None:
    """Print all plans as one answer; what kept a registry from having one also goes to stderr."""
    if display.output_format is Format.JSON:
        plans = [one.plan for one in outcomes if one.plan]
        failures = [(one.registry, one.error) for one in outcomes if one.error]
        print_text(to_text(plans_document(plans, failures)), display.output)
    elif not _reported(outcomes, opened, display):
        parts = [_report(one, opened) for one in outcomes]
        spaced = [part for each in parts for part in (each, Text(""))][:-1]
        print_report(Group(*spaced), output=display.output, no_color=display.no_color)
    for one in outcomes:
        if one.error:
            tell(one.error, f"no plan for {one.registry}: ")


def _reported(
    outcomes: list[Outcome], opened: OpenedRepository, display: plan_output.Display
) -> bool:
    plans = [one.plan for one in outcomes if one.plan]
    failures = {one.registry: one.error.what for one in outcomes if one.error}
    whole = plan_output.plans_report(plans, failures)
    return print_reported(whole, display.output_format, opened.root, display.output)


def _report(outcome: Outcome, opened: OpenedRepository) -> RenderableType:
    if outcome.plan:
        return plan_output.report(outcome.plan, opened, outcome.seconds)
    why = safe(outcome.error.what) if outcome.error else ""
    return Text.assemble((safe(outcome.registry), "bold"), f" · no plan: {why}")


def code(outcomes: list[Outcome], display: plan_output.Display, *, detailed: bool) -> int:
    """The worst of all: 4, 2, 1, 3, 0, in this order."""
    codes = {_code(one, display, detailed=detailed) for one in outcomes}
    return next((each for each in _WORST_FIRST if each in codes), Exit.OUTSIDE)


def _code(outcome: Outcome, display: plan_output.Display, *, detailed: bool) -> int:
    if outcome.plan is None:
        return outcome.error.exit_code if outcome.error else Exit.OUTSIDE
    return plan_output.code(outcome.plan, display, detailed=detailed)
