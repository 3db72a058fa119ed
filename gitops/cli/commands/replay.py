"""`replay`: sample data through old and new schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitops.cli import completion, options
from gitops.cli.extras import Engine
from gitops.cli.options import HERE, FailOn, Format
from gitops.model.check import HistoryChoice
from gitops.replay.gates import Gate


def replay(
    topics: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC",
            help="tenant/namespace/topic; all without any.",
            autocompletion=completion.topics,
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="REF", help="Only topics that differ from there."),
    ] = None,
    engine: options.ReplayEngine = Engine.SPARK,
    master: options.SparkMaster = None,
    gate: Annotated[
        Gate, typer.Option("--gate", help="Which failures count; by each topic's strategy.")
    ] = Gate.STRATEGY,
    show_values: Annotated[
        bool,
        typer.Option("--show-values", help="Show what failing messages hold, unless sensitive."),
    ] = False,
    max_examples: Annotated[
        int,
        typer.Option("--max-examples", metavar="N", min=0, max=1000, help="Shown of each reason."),
    ] = options.EXAMPLES,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page with plots there, too."),
    ] = None,
    history: options.HistorySource = HistoryChoice.AUTO,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: options.OutputFormat = Format.TEXT,
    output: options.OutputFile = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Read sample data with the proposed schemas, and what those write with the older ones."""
    from gitops.cli import replayed
    from gitops.cli.plan_output import Display

    asked = replayed.Asked(
        repo=repo,
        topics=tuple(topics or ()),
        base=base,
        registry=registry[0] if registry else None,
        history=history,
        engine=engine,
        master=master,
        gate=gate,
        show_values=show_values,
        examples=max_examples,
    )
    display = Display(
        output_format=output_format, output=output, fail_on=fail_on, no_color=no_color
    )
    return replayed.run(asked, display, html)
