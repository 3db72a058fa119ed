"""`import`: an existing cluster into repository files."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE, TextOrJson

_NEVER_CREATED: Final = (
    "a cluster does not list a topic that was never created: import finds it only where a "
    "manifest, git's history or a snapshot names it"
)


def import_registry(
    namespaces: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TENANT/NAMESPACE]...", help="Only these; all without any."),
    ] = None,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: options.TextOrJsonFormat = TextOrJson.TEXT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Write what a registry holds as files of this repository."""
    from gitops.cli.console import print_lines, print_text, require_writable
    from gitops.cli.opened import open_registry, open_repository
    from gitops.cli.progress import progress_bar
    from gitops.model.names import NamespaceName
    from gitops.reporters.json_report import imported_document, to_text
    from gitops.reporters.tally import count
    from gitops.repository.folder import write_files
    from gitops.repository.writer import render
    from gitops.usecases.import_registry import new_to, observe_all
    from gitops.usecases.known_names import known_names

    require_writable(output)
    wanted = tuple(NamespaceName.parse(text) for text in namespaces or [])
    opened = open_repository(repo, output)
    bar = progress_bar(no_color=no_color)
    with open_registry(opened, registry) as (live, _), bar as progress:
        known = known_names(opened.root, opened.tree, opened.repository, live.name)
        state = observe_all(live, namespaces=wanted, recorded=known.topics, progress=progress)
    new, kept = new_to(opened.repository, state)
    files = render(new, taken=opened.tree.paths())
    write_files(opened.root, files)
    if output_format is TextOrJson.JSON:
        print_text(to_text(imported_document(live, files, new.topics, kept)), output)
        return Exit.GOOD
    lines = [
        f"wrote {count(len(files), 'file')} for {count(len(new.topics), 'topic')} of {live.name}",
        _NEVER_CREATED,
        *(known.limits if known.has_history else ()),
        *(f"kept the manifest of {topic}, which is there already" for topic in kept),
    ]
    print_lines(lines, output)
    return Exit.GOOD
