"""A result as a command's answer: in the format that was asked for, to where it was asked for."""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitops.cli.console import print_message, print_parts, print_report, print_text
from gitops.cli.exits import Exit
from gitops.cli.options import FailOn
from gitops.cli.session import OpenedRepository
from gitops.model.errors import UsageError
from gitops.model.findings import Finding, Severity
from gitops.reports.formats import DEFAULT, Output, StepFiles, render
from gitops.reports.results import FindingsResult
from gitops.reports.text.plain import safe

_SMALLEST: Final = 4096
"""A summary with less room, in bytes, would show little more than that it is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """How a command shows its answer."""

    output_format: str = DEFAULT
    output: Path | None = None
    reports: tuple[tuple[str, Path], ...] = ()
    fail_on: FailOn = FailOn.ERROR
    no_color: bool = False


def print_result(result: object, display: Display) -> None:
    """Print it, or write it to the file; where a step of a workflow has files, add to them."""
    made = render(display.output_format, result)
    _print(made, display)
    if made.step:
        add_to_step(made.step, os.environ)


def _print(made: Output, display: Display) -> None:
    if isinstance(made.body, Iterator):
        print_parts(made.body, display.output)
    elif not isinstance(made.body, str):
        print_report(made.body, output=display.output, no_color=display.no_color)
    elif made.is_note and display.output is None:
        print_message(made.body.removesuffix("\n"))
    else:
        print_text(made.body, display.output)


def print_findings(findings: Sequence[Finding], opened: OpenedRepository, display: Display) -> int:
    """Print what is wrong with the files, and answer the exit code."""
    folder = folder_in_git(opened.root)
    result = FindingsResult(
        findings=findings,
        excerpt=opened.excerpt,
        folder=folder,
        command=shlex.join(["pulsar-gitops", "validate", *opened.options]),
    )
    print_result(result, display)
    return exit_code(findings, display.fail_on)


def exit_code(findings: Sequence[Finding], fail_on: FailOn) -> int:
    """1 where one finding is at or above the threshold."""
    threshold = Severity[fail_on.name]
    bad = any(finding.severity >= threshold for finding in findings)
    return Exit.FINDINGS if bad else Exit.GOOD


def folder_in_git(root: Path) -> str:
    """The folder's path in its git repository, with a `/` at its end; empty at the top of one."""
    whole = root.resolve()
    for above in (whole, *whole.parents):
        if (above / ".git").exists():
            inside = whole.relative_to(above).as_posix()
            return "" if inside == "." else f"{inside}/"
    return ""


def add_to_step(step: StepFiles, environment: Mapping[str, str]) -> None:
    """Add to `$GITHUB_OUTPUT` and `$GITHUB_STEP_SUMMARY`, where they are set; raises UsageError."""
    from gitops.reports.github import assignments

    if output := environment.get("GITHUB_OUTPUT"):
        text = assignments(step.outputs, f"pulsar_gitops_{secrets.token_hex(16)}")
        _append("GITHUB_OUTPUT", Path(output), text)
    if summary := environment.get("GITHUB_STEP_SUMMARY"):
        _add_summary(Path(summary), step)


def _add_summary(path: Path, step: StepFiles) -> None:
    """What fits beside what earlier commands of the step have written there."""
    from gitops.reports.markdown.document import SUMMARY_LIMIT

    taken = path.stat().st_size if path.is_file() else 0
    room = SUMMARY_LIMIT - taken
    if room < _SMALLEST:
        print_message("the summary of this step is full: nothing was added")
        return
    _append("GITHUB_STEP_SUMMARY", path, step.summary(room))


def _append(name: str, path: Path, text: str) -> None:
    try:
        with path.open("ab") as file:
            file.write(text.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"cannot write ${name}, {safe(str(path))}: {error.strerror}") from error
