"""`plan`: desired against live, every action with its verdict."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from gitops.cli import options
from gitops.cli.console import print_report, print_text, say
from gitops.cli.exits import Exit, tell
from gitops.cli.options import HERE, FailOn, Format
from gitops.cli.session import OpenedRepository, open_registry, open_repository
from gitops.model.errors import GitopsError, UsageError
from gitops.model.plan import Plan
from gitops.reports.text.plain import safe

if TYPE_CHECKING:
    from gitops.cli.plan_output import Display

_WORST_FIRST: Final = (Exit.OUTSIDE, Exit.USAGE, Exit.FINDINGS, Exit.CHANGES, Exit.GOOD)


def plan(
    repo: options.Repo = HERE,
    registry: options.RegistryNames = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the plan for `apply`.")
    ] = None,
    waivers: options.WaiversFolder = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete the schemas of topics that have no manifest.")
    ] = False,
    detailed_exitcode: Annotated[
        bool,
        typer.Option("--detailed-exitcode", help="Exit with 3 where files and registry differ."),
    ] = False,
    output_format: options.OutputFormat = Format.TEXT,
    output: options.OutputFile = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Show what would be done to a registry, and what it would say."""
    from gitops.cli import plan_output

    started = time.monotonic()
    display = plan_output.Display(
        output_format=output_format, output=output, fail_on=fail_on, no_color=no_color
    )
    names = list(dict.fromkeys(registry or []))
    if out and len(names) > 1:
        raise UsageError(
            "--out writes the plan of one registry, and --registry names several",
            hint="run `plan --registry NAME --out FILE` for each; `apply` takes one plan file",
        )
    opened = open_repository(repo, output, out)
    if code := plan_output.stopped(opened, display):
        return code
    if len(names) > 1:
        outcomes = _plan_each(names, opened, display, prune=prune)
        _show(outcomes, opened, display)
        if waivers:
            plan_output.write_waivers((one.plan for one in outcomes if one.plan), waivers)
        return _worst_code(outcomes, display, detailed=detailed_exitcode)
    with open_registry(opened, names) as (live, config):
        made = plan_output.make(opened, live, config, display, prune=prune)
    plan_output.show(made, opened, display, time.monotonic() - started)
    if waivers:
        plan_output.write_waivers([made], waivers)
    if out:
        say(f"plan written to {out} · {plan_output.write(made, out)}")
    return plan_output.code(made, display, detailed=detailed_exitcode)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """The plan for one registry, or why there is none; `seconds` is how long it took."""

    registry: str
    plan: Plan | None = None
    error: GitopsError | None = None
    seconds: float = 0.0


def _plan_each(
    names: Iterable[str], opened: OpenedRepository, display: Display, *, prune: bool
) -> list[_Outcome]:
    """A plan for each registry, in this order; a failure of one does not stop the others.

    Raises UsageError for a name that is not in `gitops.yaml`, before any registry is asked.
    """
    from gitops.changes.registries import registry_config

    wanted = [registry_config(opened.repository, name)[0] for name in dict.fromkeys(names)]
    return [_plan_one(name, opened, display, prune=prune) for name in wanted]


def _plan_one(name: str, opened: OpenedRepository, display: Display, *, prune: bool) -> _Outcome:
    from gitops.cli import plan_output

    started = time.monotonic()
    try:
        with open_registry(opened, [name]) as (live, config):
            plan = plan_output.make(opened, live, config, display, prune=prune)
    except GitopsError as error:
        return _Outcome(registry=name, error=error)
    return _Outcome(registry=name, plan=plan, seconds=time.monotonic() - started)


def _show(outcomes: list[_Outcome], opened: OpenedRepository, display: Display) -> None:
    """Print all plans as one answer; what kept a registry from having one also goes to stderr."""
    from gitops.reports.json.documents import plans_document, to_text

    if display.output_format is Format.JSON:
        plans = [one.plan for one in outcomes if one.plan]
        failures = [(one.registry, one.error) for one in outcomes if one.error]
        print_text(to_text(plans_document(plans, failures)), display.output)
    elif not _print_reported(outcomes, opened, display):
        parts = [_plan_text(one, opened) for one in outcomes]
        spaced = [part for each in parts for part in (each, Text(""))][:-1]
        print_report(Group(*spaced), output=display.output, no_color=display.no_color)
    for one in outcomes:
        if one.error:
            tell(one.error, f"no plan for {one.registry}: ")


def _print_reported(outcomes: list[_Outcome], opened: OpenedRepository, display: Display) -> bool:
    from gitops.cli import plan_output
    from gitops.cli.pull_request_output import print_reported

    plans = [one.plan for one in outcomes if one.plan]
    failures = {one.registry: one.error.what for one in outcomes if one.error}
    whole = plan_output.plans_report(plans, failures)
    return print_reported(whole, display.output_format, opened.root, display.output)


def _plan_text(outcome: _Outcome, opened: OpenedRepository) -> RenderableType:
    from gitops.cli import plan_output

    if outcome.plan:
        return plan_output.report(outcome.plan, opened, outcome.seconds)
    why = safe(outcome.error.what) if outcome.error else ""
    return Text.assemble((safe(outcome.registry), "bold"), f" · no plan: {why}")


def _worst_code(outcomes: list[_Outcome], display: Display, *, detailed: bool) -> int:
    """The worst of all: 4, 2, 1, 3, 0, in this order."""
    codes = {_code(one, display, detailed=detailed) for one in outcomes}
    return next((each for each in _WORST_FIRST if each in codes), Exit.OUTSIDE)


def _code(outcome: _Outcome, display: Display, *, detailed: bool) -> int:
    from gitops.cli import plan_output

    if outcome.plan is None:
        return outcome.error.exit_code if outcome.error else Exit.OUTSIDE
    return plan_output.code(outcome.plan, display, detailed=detailed)
