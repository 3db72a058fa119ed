"""`validate`: everything that can be told from the files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.options import HERE, FailOn
from gitops.reports import results


def validate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Show only findings in these files or folders."),
    ] = None,
    as_if_broker: options.AsIfBroker = None,
    repo: options.Repo = HERE,
    output_format: Annotated[str, options.format_of(results.FindingsResult)] = options.FORMAT,
    output: options.OutputFile = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Check the files of the repository, without any registry."""
    from gitops.cli.answer import Display, print_findings
    from gitops.cli.session import open_repository, relative_paths, today
    from gitops.repository.snapshots import latest_recorded_schemas
    from gitops.usecases.validate import validate as run

    opened = open_repository(repo, output, release=as_if_broker)
    findings = run(
        opened.repository,
        relative_paths(opened.root, paths or []),
        lambda topics: latest_recorded_schemas(opened.tree, topics),
        today=today(),
    )
    display = Display(
        output_format=output_format, output=output, fail_on=fail_on, no_color=no_color
    )
    return print_findings(findings, opened, display)
