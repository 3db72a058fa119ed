"""Findings as a command's answer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gitops.cli.console import print_report, print_text
from gitops.cli.exits import Exit
from gitops.cli.options import FailOn, Format
from gitops.cli.pull_request_output import print_reported
from gitops.cli.session import OpenedRepository
from gitops.model.check import CheckReport, Impact
from gitops.model.errors import UsageError
from gitops.model.findings import Finding, Severity
from gitops.reports.json.documents import findings_document, to_text
from gitops.reports.text.findings import findings_report

_VALIDATE: Final = "pulsar-gitops validate"


def finish(
    findings: Sequence[Finding],
    opened: OpenedRepository,
    output_format: Format,
    output: Path | None,
    fail_on: FailOn,
    *,
    no_color: bool,
) -> int:
    """Print them and answer the exit code."""
    if output_format is Format.JSON:
        print_text(to_text(findings_document(findings)), output)
    elif not print_reported(files_report(findings), output_format, opened.root, output):
        report = findings_report(findings, opened.excerpt)
        print_report(report, output=output, no_color=no_color)
    return exit_code(findings, fail_on)


def files_report(findings: Sequence[Finding], command: str = _VALIDATE) -> CheckReport:
    """Findings about files as a report of no change and no registry."""
    return CheckReport(
        base="",
        head="",
        reference="",
        files="",
        touched=Impact(),
        findings=tuple(findings),
        command=command,
    )


def exit_code(findings: Sequence[Finding], fail_on: FailOn) -> int:
    """1 where one finding is at or above the threshold."""
    threshold = Severity[fail_on.name]
    bad = any(finding.severity >= threshold for finding in findings)
    return Exit.FINDINGS if bad else Exit.GOOD


def relative_paths(root: Path, paths: Sequence[Path]) -> tuple[str, ...]:
    """Paths as findings have them: from the repository's root, with `/`.

    A path counts from the current folder, as people type it; raises UsageError for one that does
    not exist or is outside.
    """
    found = []
    base = root.resolve()
    for path in paths:
        whole = path if path.is_absolute() or path.exists() else root / path
        if not whole.exists():
            raise UsageError(f"'{path}' does not exist", hint="name a file or folder to look at")
        try:
            found.append(whole.resolve().relative_to(base).as_posix())
        except ValueError:
            raise UsageError(f"'{path}' is outside the repository {os.fspath(root)}") from None
    return tuple(found)
