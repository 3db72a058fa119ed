"""Reports for a pull request: Markdown, workflow commands with the files of a step, SARIF.

A command prints its text and its JSON by itself; for the others it makes a `CheckReport` and
calls `print_reported`.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from gitops.cli.console import print_text, say
from gitops.cli.options import Format
from gitops.model.check import CheckReport
from gitops.model.errors import UsageError
from gitops.reports.github import assignments, github, outputs
from gitops.reports.json.documents import to_text
from gitops.reports.markdown.document import COMMENT_LIMIT, SUMMARY_LIMIT
from gitops.reports.markdown.report import markdown
from gitops.reports.sarif import sarif
from gitops.reports.text.plain import safe
from gitops.repository.shipped_files import rule_page

Summary = Callable[[int], str]
"""The Markdown of a report in at most so many bytes."""

_SMALLEST: Final = 4096
"""A summary with less room, in bytes, would say little more than that it is cut."""


def print_reported(
    report: CheckReport,
    output_format: Format,
    root: Path,
    output: Path | None = None,
    summary: Summary | None = None,
) -> bool:
    """Print it in one of these formats; answers False, and prints nothing, for text and JSON.

    `root` is the folder of the schemas repository. `summary` makes the Markdown, where it is not
    the report's own.
    """
    as_markdown = summary or (lambda limit: markdown(report, limit))
    match output_format:
        case Format.MARKDOWN:
            print_text(as_markdown(COMMENT_LIMIT), output)
        case Format.GITHUB:
            print_text(github(report, folder_in_git(root)), output)
            add_to_step(outputs(report), as_markdown, os.environ)
        case Format.SARIF:
            print_text(to_text(sarif(report, rule_page, folder_in_git(root))), output)
        case _:
            return False
    return True


def folder_in_git(root: Path) -> str:
    """The folder's path in its git repository, with a `/` at its end; empty at the top of one."""
    whole = root.resolve()
    for above in (whole, *whole.parents):
        if (above / ".git").exists():
            inside = whole.relative_to(above).as_posix()
            return "" if inside == "." else f"{inside}/"
    return ""


def add_to_step(
    values: Mapping[str, str], as_markdown: Summary, environment: Mapping[str, str]
) -> None:
    """Add to `$GITHUB_OUTPUT` and `$GITHUB_STEP_SUMMARY`, where they are set; raises UsageError."""
    if output := environment.get("GITHUB_OUTPUT"):
        text = assignments(values, f"pulsar_gitops_{secrets.token_hex(16)}")
        _append("GITHUB_OUTPUT", Path(output), text)
    if summary := environment.get("GITHUB_STEP_SUMMARY"):
        _add_summary(Path(summary), as_markdown)


def _add_summary(path: Path, as_markdown: Summary) -> None:
    """What fits beside what earlier commands of the step have written there."""
    taken = path.stat().st_size if path.is_file() else 0
    room = SUMMARY_LIMIT - taken
    if room < _SMALLEST:
        say("the summary of this step is full: nothing was added")
        return
    _append("GITHUB_STEP_SUMMARY", path, as_markdown(room))


def _append(name: str, path: Path, text: str) -> None:
    try:
        with path.open("ab") as file:
            file.write(text.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"cannot write ${name}, {safe(str(path))}: {error.strerror}") from error
