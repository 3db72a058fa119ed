"""`compat`: one decision, explained; with --jsonl a stream of decisions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE, FailOn, Format
from gitops.model.errors import UsageError

if TYPE_CHECKING:
    from gitops.usecases.compare_files import Compared


def compat(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="OLD... NEW", help="Definitions, oldest first, the new one last."),
    ] = None,
    strategy: Annotated[
        str, typer.Option("--strategy", "-s", help="The SchemaCompatibilityStrategy.")
    ] = "FULL",
    schema_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            help="The SchemaType [default: what the file says, as for pulsar-admin; or AVRO].",
        ),
    ] = None,
    message: Annotated[
        str | None,
        typer.Option("--message", metavar="NAME", help="The root message of .proto files."),
    ] = None,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Read cases from stdin, write a verdict for each.")
    ] = False,
    output_format: options.OutputFormat = Format.TEXT,
    output: options.OutputFile = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Say whether a broker would take NEW after OLD..., and why not."""
    if jsonl:
        return _stream(files)
    from gitops.cli.console import print_report, print_text, refuse_inputs
    from gitops.cli.findings import exit_code
    from gitops.reporters.json_report import decision_document, to_text
    from gitops.reporters.text.decision import decision_report
    from gitops.usecases.compare_files import compare_files

    if not files:
        raise UsageError("name at least one definition", hint="compat --strategy S OLD... NEW")
    refuse_inputs([output], files)
    compared = compare_files(files, strategy, schema_type, message)
    if output_format is Format.JSON:
        document = decision_document(compared.decision, compared.findings, compared.changes)
        print_text(to_text(document), output)
    elif not _reported(compared, output_format, output):
        report = decision_report(compared)
        print_report(report, output=output, no_color=no_color)
    if not compared.decision.accepted:
        return Exit.FINDINGS
    return exit_code(compared.findings, fail_on)


def _reported(compared: Compared, output_format: Format, output: Path | None) -> bool:
    from gitops.cli.findings import files_report
    from gitops.cli.reported import print_reported
    from gitops.reporters.markdown.decision import decision_markdown

    def summary(limit: int) -> str:
        return decision_markdown(compared, limit)

    report = files_report(compared.findings, "pulsar-gitops compat")
    return print_reported(report, output_format, HERE, output, summary)


def _stream(files: list[Path] | None) -> int:
    from gitops.usecases.compat import decide_lines

    if files:
        raise UsageError("--jsonl reads cases from stdin, not files")
    good = True
    stdin = sys.stdin
    if hasattr(stdin, "reconfigure"):
        # A carriage return alone is white space of JSON and no end of a line.
        stdin.reconfigure(encoding="utf-8-sig", errors="surrogateescape", newline="\n")
    for verdict, readable in decide_lines(stdin):
        sys.stdout.write(verdict + "\n")
        sys.stdout.flush()  # whoever asks one by one waits for this one
        good = good and readable
    return Exit.GOOD if good else Exit.USAGE
