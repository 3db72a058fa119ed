"""`plan`: desired against live, every action with its verdict."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from gitops.cli import options
from gitops.cli.console import print_message
from gitops.cli.exits import Exit, print_error
from gitops.cli.options import HERE, FailOn
from gitops.cli.session import OpenedRepository, open_registry, open_repository
from gitops.model.errors import GitopsError, UsageError
from gitops.reports import results

if TYPE_CHECKING:
    from gitops.cli.answer import Display
    from gitops.model.state import PlanScope

_WORST_FIRST: Final = (Exit.OUTSIDE, Exit.USAGE, Exit.FINDINGS, Exit.CHANGES, Exit.GOOD)


def plan(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAMESPACE|TOPIC",
            help="Plan only these: tenant/namespace, or tenant/namespace/topic.",
            show_default="all",
        ),
    ] = None,
    repo: options.Repo = HERE,
    registry: options.RegistryNames = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the plan for `apply`.")
    ] = None,
    waivers: options.WaiversFolder = None,
    as_if_broker: options.AsIfBroker = None,
    fix: options.Fix = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete the schemas of topics that have no manifest.")
    ] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Let an apply of this plan skip what has errors.")
    ] = False,
    detailed_exitcode: Annotated[
        bool,
        typer.Option("--detailed-exitcode", help="Exit with 3 where there is something to apply."),
    ] = False,
    output_format: Annotated[
        str, options.format_of(results.PlanResult, results.PlansResult, results.FindingsResult)
    ] = options.FORMAT,
    output: options.OutputFile = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Show what would be done to a registry, and what the broker would answer."""
    from gitops.changes.plan_scope import require_known
    from gitops.changes.registries import registries_in_order
    from gitops.cli import plan_output
    from gitops.cli.answer import Display, print_result
    from gitops.cli.registry_order import note_order

    started = time.monotonic()
    display = Display(
        output_format=output_format, output=output, fail_on=fail_on, no_color=no_color
    )
    scope = _scope(subjects or (), prune=prune)
    opened = open_repository(repo, output, out, release=as_if_broker)
    if scope:
        require_known(scope, opened.repository)
        opened = opened.within(scope)
    names = registries_in_order(registry or [], opened.repository.config)
    if fix and len(names) > 1:
        raise UsageError("--fix edits for one registry, and --registry names several")
    if code := plan_output.print_blocking_findings(opened, display):
        return code
    if fix and _write_fixes(opened, names, display):
        opened = open_repository(repo, output, out, release=as_if_broker).within(scope)
    choices = _Choices(prune=prune, keep_going=keep_going, release=as_if_broker)
    if len(names) > 1:
        outcomes = _plan_each(names, opened, display, choices)
        if waivers:
            plan_output.write_waivers(
                (outcome.plan for outcome in outcomes if outcome.plan), waivers
            )
        _print_plans(outcomes, opened, display, has_written_waivers=bool(waivers))
        if out:
            plan_output.write_plans(outcomes, out)
        return _worst_code(outcomes, display, detailed=detailed_exitcode)
    with open_registry(opened, names, release=as_if_broker) as (live, config):
        made = plan_output.make_plan(
            opened, live, config, display, prune=prune, keep_going=keep_going
        )
        made = note_order(made, config, opened, display, {})
    printed = made
    if waivers:
        plan_output.write_waivers([made], waivers)
        printed = plan_output.with_written_waivers(made)
    print_result(plan_output.plan_result(printed, opened, time.monotonic() - started), display)
    if out:
        print_message(f"plan written to {out} · {plan_output.write_plan(made, out)}")
    return plan_output.plan_code(made, display, detailed=detailed_exitcode)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choices:
    """What is asked of the plan of each registry."""

    prune: bool
    keep_going: bool
    release: str | None


def _scope(names: Sequence[str], *, prune: bool) -> PlanScope | None:
    """What the plan is asked for; raises UsageError where that leaves nothing to prune."""
    from gitops.changes.plan_scope import parse_scope

    scope = parse_scope(names)
    if scope and prune and not scope.namespaces:
        raise UsageError(
            "--prune looks for topics without a manifest, and only topics are named",
            hint=f"name the namespace: {min(scope.topics).namespace}",
        )
    return scope


def _write_fixes(opened: OpenedRepository, names: list[str], display: Display) -> bool:
    """Write the edits with which what the plan refuses is accepted; whether there are any."""
    from gitops.cli import plan_output

    with open_registry(opened, names, release=opened.release) as (live, config):
        return plan_output.write_fixes(opened, live, config, display)


def _plan_each(
    names: Iterable[str],
    opened: OpenedRepository,
    display: Display,
    choices: _Choices,
) -> list[results.RegistryPlan]:
    """A plan for each registry, in this order; a failure of one does not stop the others.

    Raises UsageError for a name that is not in `gitops.yaml`, before any registry is asked.
    """
    from gitops.changes.registries import registry_config

    made: dict[str, results.RegistryPlan] = {}
    for name in [registry_config(opened.repository, name)[0] for name in names]:
        made[name] = _plan_one(name, opened, display, made, choices)
    return list(made.values())


def _plan_one(
    name: str,
    opened: OpenedRepository,
    display: Display,
    known: Mapping[str, results.RegistryPlan],
    choices: _Choices,
) -> results.RegistryPlan:
    from gitops.cli import plan_output
    from gitops.cli.registry_order import note_order

    started = time.monotonic()
    try:
        with open_registry(opened, [name], release=choices.release) as (live, config):
            plan = plan_output.make_plan(
                opened,
                live,
                config,
                display,
                prune=choices.prune,
                keep_going=choices.keep_going,
            )
            plan = note_order(plan, config, opened, display, known)
    except GitopsError as error:
        return results.RegistryPlan(registry=name, error=error)
    return results.RegistryPlan(registry=name, plan=plan, seconds=time.monotonic() - started)


def _print_plans(
    outcomes: list[results.RegistryPlan],
    opened: OpenedRepository,
    display: Display,
    *,
    has_written_waivers: bool,
) -> None:
    """Print all plans as one answer; what kept a registry from having one also goes to stderr."""
    from gitops.cli import plan_output
    from gitops.cli.answer import folder_in_git, print_result
    from gitops.git.references import describe

    printed = outcomes
    if has_written_waivers:
        printed = [
            replace(outcome, plan=plan_output.with_written_waivers(outcome.plan))
            if outcome.plan
            else outcome
            for outcome in outcomes
        ]
    result = results.PlansResult(
        plans=printed,
        commit=lambda: describe(opened.root),
        options=opened.options,
        excerpt=opened.excerpt,
        folder=folder_in_git(opened.root),
    )
    print_result(result, display)
    for outcome in outcomes:
        if outcome.error:
            print_error(outcome.error, f"no plan for {outcome.registry}: ")


def _worst_code(outcomes: list[results.RegistryPlan], display: Display, *, detailed: bool) -> int:
    """The worst of all: 4, 2, 1, 3, 0, in this order."""
    codes = {_code(outcome, display, detailed=detailed) for outcome in outcomes}
    return next((item for item in _WORST_FIRST if item in codes), Exit.OUTSIDE)


def _code(outcome: results.RegistryPlan, display: Display, *, detailed: bool) -> int:
    from gitops.cli import plan_output

    if outcome.plan is None:
        return outcome.error.exit_code if outcome.error else Exit.OUTSIDE
    return plan_output.plan_code(outcome.plan, display, detailed=detailed)
