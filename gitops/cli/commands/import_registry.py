"""`import`: an existing cluster into repository files."""

from __future__ import annotations

from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.reports import results


def import_registry(
    namespaces: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAMESPACE", help="tenant/namespace; all without any."),
    ] = None,
    clients: Annotated[
        bool,
        typer.Option(
            "--clients",
            help="Also propose manifests of the clients that statistics show and nobody declares.",
        ),
    ] = False,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: Annotated[str, options.format_of(results.ImportResult)] = options.FORMAT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Write what a registry contains as files of this repository."""
    from gitops.changes.known_names import known_names
    from gitops.changes.short_lived_topics import short_lived_limits
    from gitops.cli.answer import Display, print_result
    from gitops.cli.console import require_writable
    from gitops.cli.progress import progress_bar
    from gitops.cli.session import open_registry, open_repository
    from gitops.model.names import NamespaceName
    from gitops.repository.folder import write_files
    from gitops.usecases.import_registry import import_new_topics

    require_writable(output)
    wanted = tuple(NamespaceName.parse(text) for text in namespaces or [])
    opened = open_repository(repo, output)
    bar = progress_bar(no_color=no_color)
    with open_registry(opened, registry) as (live, _), bar as progress:
        known = known_names(opened.root, opened.tree, opened.repository, live.name)
        made, new, kept = import_new_topics(
            live,
            opened.tree,
            opened.repository,
            namespaces=wanted,
            recorded=known.topics,
            clients=clients,
            progress=progress,
        )
        short_lived = short_lived_limits(live, new)
    write_files(opened.root, made.files)
    result = results.ImportResult(
        registry=live,
        files=made,
        topics=new,
        kept=kept,
        limits=(*(known.limits if known.has_history else ()), *short_lived),
    )
    print_result(result, Display(output_format=output_format, output=output))
    return Exit.GOOD
