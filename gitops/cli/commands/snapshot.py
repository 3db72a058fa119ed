"""`snapshot`: records a registry's version history in the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.model.errors import UsageError
from gitops.reports.operation_results import SnapshotResult


def snapshot(
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    clients: Annotated[
        bool,
        typer.Option("--clients", help="Also record who is connected to the topics."),
    ] = False,
    capture: Annotated[
        Path | None,
        typer.Option(
            "--capture",
            metavar="DIR",
            help="With --clients: also record how many messages of each version these captures "
            "have.",
        ),
    ] = None,
    output_format: Annotated[str, options.format_of(SnapshotResult)] = options.FORMAT,
    output: options.OutputFile = None,
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss", help="Record also that the registry lost versions it had before."
        ),
    ] = False,
    no_color: options.NoColor = False,
) -> int:
    """Record all versions of the repository's topics under snapshots/."""
    from gitops.cli.answer import Display, print_result
    from gitops.cli.console import require_writable
    from gitops.cli.progress import progress_bar
    from gitops.cli.session import open_registry, open_repository
    from gitops.repository.folder import replace_files
    from gitops.usecases.snapshot import LostVersionsError, make_snapshot

    if capture and not clients:
        raise UsageError("--capture is recorded with the clients of topics", hint="add --clients")
    require_writable(output)
    opened = open_repository(repo, output)
    bar = progress_bar(no_color=no_color)
    with open_registry(opened, registry) as (live, _), bar as progress:
        made = make_snapshot(
            live,
            opened.root,
            opened.tree,
            opened.repository,
            progress,
            clients=clients,
            captures=capture,
        )
    if made.lost and not accept_loss:
        raise LostVersionsError(live.name, made.lost)
    changed = replace_files(opened.root, made.old, made.files)
    result = SnapshotResult(
        registry=live,
        folder=made.folder,
        files=tuple(made.files),
        changed=changed,
        notes=made.notes,
    )
    print_result(result, Display(output_format=output_format, output=output))
    return Exit.GOOD
