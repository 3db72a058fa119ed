"""`validate`: everything that can be told from the files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.options import HERE, FailOn, Format


def validate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Show only findings in these files or folders."),
    ] = None,
    repo: options.Repo = HERE,
    output_format: options.OutputFormat = Format.TEXT,
    output: options.OutputFile = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Check the files of the repository, without any registry."""
    from gitops.cli.findings_output import finish, relative_paths
    from gitops.cli.session import open_repository, today
    from gitops.repository.snapshots import latest_recorded
    from gitops.usecases.validate import validate as run

    opened = open_repository(repo, output)
    found = run(
        opened.repository,
        relative_paths(opened.root, paths or []),
        lambda topics: latest_recorded(opened.tree, topics),
        today=today(),
    )
    return finish(found, opened, output_format, output, fail_on, no_color=no_color)
