"""`github`: writes reports to GitHub, as a comment or an issue that is kept up to date."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitops.cli.exits import Exit
from gitops.model.errors import UsageError, extra_hint

if TYPE_CHECKING:
    from gitops.model.posts import PostResult
    from gitops.ports import CodeHost

app = typer.Typer(
    help="Write reports to GitHub: GITHUB_TOKEN or GH_TOKEN is the token, "
    "GITHUB_REPOSITORY the repository.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Where = Annotated[
    str,
    typer.Option(
        "--path",
        metavar="DIR",
        help="The schemas repository's folder, where the GitHub repository contains several.",
    ),
]
Report = Annotated[
    Path | None, typer.Option("--file", metavar="REPORT.md", help="The report, as Markdown.")
]


Suggestions = Annotated[
    Path | None,
    typer.Option(
        "--suggestions",
        metavar="REPORT.json",
        help="The check's report as JSON: its edits of one place become suggestions.",
    ),
]


@app.command("comment", short_help="Write the comment of a pull request.")
def comment(
    report: Annotated[
        Path, typer.Option("--file", metavar="REPORT.md", help="The report, as Markdown.")
    ],
    pull_request: Annotated[
        int | None,
        typer.Option("--pr", metavar="NUMBER", help="The pull request.", show_default="the run's"),
    ] = None,
    path: Where = ".",
    suggestions: Suggestions = None,
) -> int:
    """Keep one comment on a pull request equal to the report."""
    from gitops.hosting.workflow import MOST_JSON, pull_request_of, read_plain
    from gitops.usecases.github import comment_marker, keep_comment

    number = pull_request_of(os.environ) if pull_request is None else pull_request
    if number < 1:
        raise UsageError(f"{number} is not the number of a pull request")
    text = read_plain(report)
    edits = None if suggestions is None else read_plain(suggestions, most=MOST_JSON)
    with _host() as host:
        _tell(keep_comment(host, number, text, comment_marker(path)))
        return _suggest(host, number, edits, path)


@app.command("relay", short_help="Comment with another run's report.")
def relay(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Has report.md and pull-request.txt.")
    ],
    head: Annotated[
        str, typer.Option("--head", metavar="SHA", help="The commit that the run checked.")
    ],
    path: Where = ".",
) -> int:
    """Comment with a report that another run left: nothing in its folder is trusted."""
    from gitops.hosting.workflow import read_artifact
    from gitops.usecases.github import comment_marker, relay_comment

    claimed = read_artifact(folder)
    marker = comment_marker(path)
    with _host() as host:
        _tell(relay_comment(host, claimed.pull_request, claimed.report, marker, head=head))
        return _suggest(host, claimed.pull_request, claimed.suggestions, path)


@app.command("issue", short_help="Write or close one issue.")
def issue(
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="Its title, by which it is found again.")
    ],
    report: Report = None,
    done: Annotated[
        bool, typer.Option("--close", help="Close it: there is no reason left.")
    ] = False,
    path: Where = ".",
) -> int:
    """Keep one open issue equal to the report."""
    from gitops.hosting.workflow import read_plain
    from gitops.usecases.github import close_issue, issue_marker, keep_issue

    if (report is None) is not done:
        raise UsageError("issue needs either --file or --close")
    text = read_plain(report) if report else ""
    marker = issue_marker(path, title)
    with _host() as host:
        return _tell(close_issue(host, marker) if done else keep_issue(host, title, text, marker))


@contextmanager
def _host() -> Iterator[CodeHost]:
    """The repository that the environment names; raises UsageError without the extra."""
    from gitops.hosting.workflow import access

    try:
        from gitops.hosting.github import GitHubRepository
    except ImportError as error:
        raise UsageError(
            "the library for GitHub is not installed",
            hint=extra_hint("github"),
        ) from error
    repository = GitHubRepository(access(os.environ))
    try:
        yield repository
    finally:
        repository.close()


def _suggest(host: CodeHost, number: int, report: str | None, path: str) -> int:
    from gitops.cli.console import print_message
    from gitops.usecases.github import keep_suggestions

    if report is not None and (new := keep_suggestions(host, number, report, path)):
        print_message(f"suggested {new} edit{'s' if new > 1 else ''}")
    return Exit.GOOD


def _tell(kept: PostResult) -> int:
    from gitops.cli.console import print_message

    print_message(f"{kept.written.value} {kept.url}".rstrip())
    return Exit.GOOD
