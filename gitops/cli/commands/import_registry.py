"""`import`: an existing cluster into repository files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.model.names import TopicName
from gitops.reports import results

if TYPE_CHECKING:
    from gitops.cli.answer import Display


def import_registry(
    namespaces: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAMESPACE", help="tenant/namespace; all without any."),
    ] = None,
    update: Annotated[
        list[str] | None,
        typer.Option(
            "--update",
            metavar="TOPIC",
            help="Take over what the registry has for this topic, and those that follow.",
        ),
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
    output_format: Annotated[
        str, options.format_of(results.ImportResult, results.UpdateResult)
    ] = options.FORMAT,
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
    if update:
        display = Display(output_format=output_format, output=output)
        return _update([*update, *(namespaces or [])], repo, registry, display)
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


def _update(
    topics: list[str],
    repo: Path,
    registry: list[str] | None,
    display: Display,
) -> int:
    """Bring the files of these topics to what the registry has; nothing is written if one fails."""
    from gitops.cli.answer import print_result
    from gitops.cli.session import open_registry, open_repository
    from gitops.model.errors import UsageError
    from gitops.repository.folder import write_files
    from gitops.usecases.import_registry import import_latest_versions

    opened = open_repository(repo, display.output)
    if spaces := [text for text in topics if text.count("/") == 1]:
        raise UsageError(
            f"--update needs topics, and {spaces[0]} is a namespace",
            hint=f"pulsar-gitops import {spaces[0]} writes what the files do not have yet",
        )
    names = [TopicName.parse(text) for text in dict.fromkeys(topics)]
    for name in names:
        if name not in opened.repository.topics:
            hint = f"pulsar-gitops import {name.namespace} writes one"
            raise UsageError(f"{name} has no manifest", hint=hint)
    with open_registry(opened, registry) as (live, _):
        made = import_latest_versions(live, opened.tree, opened.repository, opened.root, names)
    write_files(opened.root, made.files, made.removed)
    result = results.UpdateResult(registry=live, files=made, topics=tuple(names))
    print_result(result, display)
    return Exit.GOOD
