"""`rollout`: in which order the declared clients upgrade for a change."""

from __future__ import annotations

from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.options import HERE, TextOrJson
from gitops.model.check import HistoryChoice
from gitops.model.errors import UsageError


def rollout(
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="REF",
            help="What the change is to be merged into.",
            show_default="the registry",
        ),
    ] = None,
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
    """Show the steps of a change, or from the registry to the files: register, upgrade, wait."""
    from gitops.cli import rolling
    from gitops.cli.checked import Asked
    from gitops.cli.options import Format
    from gitops.cli.plan_output import Display

    display = Display(output_format=Format(output_format), output=output, no_color=no_color)
    if base is None:
        _require_no_change(head, history, migrate=migrate)
        return rolling.run_from_registry(repo, registry or [], history, display)
    asked = Asked(
        repo=repo,
        base=base,
        head=head,
        registries=tuple(registry or ()),
        history=history,
        drift=False,
    )
    return rolling.run(asked, display, migrate=migrate)


def _require_no_change(head: str | None, history: HistoryChoice, *, migrate: bool) -> None:
    """Raise UsageError for what only a change has."""
    given = {
        "--head": head is not None,
        "--migrate": migrate,
        "--history git": history is HistoryChoice.GIT,
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(
                f"{option} needs --base",
                hint="without --base the files are compared with the registry or its snapshot",
            )
