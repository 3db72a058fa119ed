"""`gitlab`: writes a report to GitLab, as a note of a merge request that is kept up to date."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from gitops.cli.exits import Exit
from gitops.model.errors import UsageError

_HELP = "Write reports to GitLab: GITLAB_TOKEN is the token, CI_PROJECT_ID the project."

app = typer.Typer(help=_HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Typer makes a group of one command only where there is this."""


@app.command("note", short_help="Write the note of a merge request.")
def note(
    report: Annotated[
        Path, typer.Option("--file", metavar="REPORT.md", help="The report, as Markdown.")
    ],
    merge_request: Annotated[
        int | None,
        typer.Option("--mr", metavar="NUMBER", help="The merge request.", show_default="the job's"),
    ] = None,
    path: Annotated[
        str,
        typer.Option(
            "--path",
            metavar="DIR",
            help="The schemas repository's folder, where the project contains several.",
        ),
    ] = ".",
) -> int:
    """Keep one note on a merge request equal to the report."""
    from gitops.cli.console import print_message
    from gitops.hosting.gitlab import (
        GitLabProject,
        merge_request_of,
        project_of,
        without_quick_actions,
    )
    from gitops.hosting.workflow import read_plain
    from gitops.usecases.github import comment_marker, keep_comment

    number = merge_request_of(os.environ) if merge_request is None else merge_request
    if number < 1:
        raise UsageError(f"{number} is not the number of a merge request")
    text = without_quick_actions(read_plain(report, most=4 * GitLabProject.most_characters))
    host = GitLabProject(project_of(os.environ))
    try:
        kept = keep_comment(host, number, text, comment_marker(path))
    finally:
        host.close()
    print_message(f"{kept.written.value} {kept.url}".rstrip())
    return Exit.GOOD
