"""`check`: what a pull request does, and nothing else."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.extras import Engine
from gitops.cli.options import HERE, FailOn, Format
from gitops.model.check import HistoryChoice
from gitops.model.errors import UsageError


def check(
    base: options.BaseRef,
    head: options.HeadRef = None,
    history: options.HistorySource = HistoryChoice.AUTO,
    drift: Annotated[
        bool, typer.Option("--drift", help="Compare a live registry with the whole base, too.")
    ] = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="Replay the samples of what the change touches.")
    ] = False,
    engine: options.ReplayEngine = Engine.SPARK,
    master: options.SparkMaster = None,
    waivers: options.WaiversFolder = None,
    repo: options.Repo = HERE,
    registry: options.RegistryNames = None,
    output_format: options.OutputFormat = Format.TEXT,
    output: options.OutputFile = None,
    report: options.Reports = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Check what a change touches and reaches, as before a merge."""
    from gitops.cli import checked
    from gitops.cli.plan_output import Display

    if not replay and (master is not None or engine is not Engine.SPARK):
        raise UsageError("--engine and --master go with --replay", hint="add --replay")
    started = time.monotonic()
    asked = checked.Asked(
        repo=repo,
        base=base,
        head=head,
        registries=tuple(registry or ()),
        history=history,
        drift=drift,
        replay=checked.Replayed(engine=engine, master=master) if replay else None,
    )
    display = Display(
        output_format=output_format,
        output=output,
        reports=options.reports_of(report),
        fail_on=fail_on,
        no_color=no_color,
    )
    return checked.run(asked, display, started, waivers)
