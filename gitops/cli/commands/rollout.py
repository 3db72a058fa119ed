"""`rollout`: in which order the declared clients upgrade for a change."""

from __future__ import annotations

from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.options import HERE, TextOrJson
from gitops.usecases.history_choice import HistoryChoice


def rollout(
    base: options.BaseRef,
    head: options.HeadRef = None,
    history: options.HistorySource = HistoryChoice.AUTO,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: options.TextOrJsonFormat = TextOrJson.TEXT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
    migrate: Annotated[
        bool,
        typer.Option("--migrate", help="Write the manifests of a new topic where no order exists."),
    ] = False,
) -> int:
    """Show the steps of a change: register, upgrade, wait, delete."""
    from gitops.cli import rolling
    from gitops.cli.checked import Asked
    from gitops.cli.options import Format
    from gitops.cli.planned import Display

    asked = Asked(
        repo=repo,
        base=base,
        head=head,
        registries=tuple(registry or ()),
        history=history,
        drift=False,
    )
    display = Display(output_format=Format(output_format), output=output, no_color=no_color)
    return rolling.run(asked, display, migrate=migrate)
