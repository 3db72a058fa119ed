"""`snapshot`: records a registry's version history in the repository."""

from __future__ import annotations

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE, TextOrJson


def snapshot(
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: options.TextOrJsonFormat = TextOrJson.TEXT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Record all versions of the repository's topics under snapshots/."""
    from gitops.changes.known_names import known_names
    from gitops.cli.console import print_lines, print_text, require_writable
    from gitops.cli.progress import progress_bar
    from gitops.cli.session import open_registry, open_repository
    from gitops.reports.json.documents import recorded_document, to_text
    from gitops.reports.summary import count
    from gitops.repository import snapshots
    from gitops.repository.folder import replace_files
    from gitops.usecases.snapshot import observe_managed

    require_writable(output)
    opened = open_repository(repo, output)
    bar = progress_bar(no_color=no_color)
    with open_registry(opened, registry) as (live, _), bar as progress:
        recorded = snapshots.replaceable_topics(opened.tree, live.name)
        known = known_names(opened.root, opened.tree, opened.repository, live.name)
        state = observe_managed(opened.repository, live, recorded | known.topics, progress)
    files = snapshots.render(live.name, state)
    old = snapshots.snapshot_files(opened.tree, live.name)
    changed = replace_files(opened.root, old, files)
    if output_format is TextOrJson.JSON:
        print_text(to_text(recorded_document(live, files, changed)), output)
    else:
        written = f"{count(len(files), 'file')} under {snapshots.folder_of(live.name)}"
        print_lines([f"{written}, {changed} of them changed"], output)
    return Exit.GOOD
