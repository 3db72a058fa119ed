"""`snapshot`: records a registry's version history in the repository."""

from __future__ import annotations

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE


def snapshot(repo: options.Repo = HERE, registry: options.RegistryName = None) -> int:
    """Record all versions of the repository's topics under snapshots/."""
    from gitops.cli.console import say
    from gitops.cli.opened import open_registry, open_repository
    from gitops.cli.progress import progress_bar
    from gitops.repository import snapshots
    from gitops.repository.folder import replace_files
    from gitops.usecases.snapshot import observe_managed

    opened = open_repository(repo)
    with open_registry(opened, registry) as (live, _), progress_bar() as progress:
        recorded = snapshots.recorded_topics(opened.tree, live.name)
        state = observe_managed(opened.repository, live, recorded, progress)
    files = snapshots.render(live.name, state)
    old = snapshots.snapshot_files(opened.tree, live.name)
    changed = replace_files(opened.root, old, files)
    say(f"{len(files)} files under {snapshots.folder_of(live.name)}, {changed} of them changed")
    return Exit.GOOD
