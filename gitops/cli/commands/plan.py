"""`plan`: desired against live, every action with its verdict."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.options import HERE, FailOn, Format
from gitops.model.errors import UsageError


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
    from gitops.cli import plan_output, several
    from gitops.cli.console import say
    from gitops.cli.session import open_registry, open_repository

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
        outcomes = several.plan_each(names, opened, display, prune=prune)
        several.show(outcomes, opened, display)
        if waivers:
            plan_output.write_waivers((one.plan for one in outcomes if one.plan), waivers)
        return several.code(outcomes, display, detailed=detailed_exitcode)
    with open_registry(opened, names) as (live, config):
        made = plan_output.make(opened, live, config, display, prune=prune)
    plan_output.show(made, opened, display, time.monotonic() - started)
    if waivers:
        plan_output.write_waivers([made], waivers)
    if out:
        say(f"plan written to {out} · {plan_output.write(made, out)}")
    return plan_output.code(made, display, detailed=detailed_exitcode)
