"""`compat`: one decision, explained; with --jsonl a stream of decisions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final, TextIO

import typer

from gitops.cli import completion, options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE, FailOn
from gitops.model.errors import UsageError
from gitops.model.policy import DEFAULT_RELEASE, BrokerSettings
from gitops.reports import results


def compat(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="OLD... NEW", help="Definitions, oldest first, the new one last."),
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            "-s",
            metavar="STRATEGY",
            help="The SchemaCompatibilityStrategy.",
            autocompletion=completion.strategies,
        ),
    ] = "FULL",
    schema_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="The SchemaType [default: that of the file, as for pulsar-admin; or AVRO].",
            autocompletion=completion.schema_types,
        ),
    ] = None,
    message: Annotated[
        list[str] | None,
        typer.Option(
            "--message",
            metavar="NAME",
            help="The root message of .proto files; twice if it was renamed: the old, the new.",
        ),
    ] = None,
    repo: Annotated[
        Path | None,
        typer.Option(
            "--repo",
            metavar="DIR",
            help="Where imports of .proto files are looked for, besides the file's own folder.",
            show_default="the schemas repository around the file",
        ),
    ] = None,
    broker: options.Broker = None,
    legacy_json: Annotated[
        bool,
        typer.Option(
            "--legacy-json",
            help="As a broker with schemaJsonAllowLegacyJacksonFormat=true decides (from 4.2 on).",
        ),
    ] = False,
    first: Annotated[
        bool,
        typer.Option("--first", help="A single definition, as the first schema of a topic."),
    ] = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Read cases from stdin, write a verdict for each.")
    ] = False,
    output_format: Annotated[str, options.format_of(results.DecisionResult)] = options.FORMAT,
    output: options.OutputFile = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Decide whether a broker would accept NEW after OLD..., and why not."""
    settings = BrokerSettings(
        release=DEFAULT_RELEASE if broker is None else broker,
        schema_json_allow_legacy_jackson_format=legacy_json,
    )
    if jsonl:
        _refuse_options(context)
        return _stream(files, output, settings)
    from gitops.cli.answer import Display, exit_code, folder_in_git, print_result
    from gitops.cli.console import refuse_inputs
    from gitops.usecases.compat import compare_files

    files = _require_versions(context, files or [], first=first)
    refuse_inputs([output], files)
    compared = compare_files(files, strategy, schema_type, message or (), repo, broker=settings)
    display = Display(output_format=output_format, output=output, no_color=no_color)
    print_result(results.DecisionResult(comparison=compared, folder=folder_in_git(HERE)), display)
    if not compared.decision.accepted:
        return Exit.FINDINGS
    return exit_code(compared.findings, fail_on)


def _require_versions(context: typer.Context, files: list[Path], *, first: bool) -> list[Path]:
    """Raise UsageError where nothing would be compared and `--first` does not ask for that."""
    from gitops.cli.usage_errors import line_with

    if not files:
        raise UsageError(
            "nothing to compare: there are no definitions",
            hint="pulsar-gitops compat --strategy STRATEGY OLD... NEW",
        )
    if len(files) == 1 and not first:
        raise UsageError(
            f"nothing to compare: {files[0]} is the only definition",
            hint="put the older definitions before it, oldest first; for a topic without a schema: "
            + line_with(context, "--first"),
        )
    if len(files) > 1 and first:
        raise UsageError(
            f"--first is for one definition, and there are {len(files)}",
            hint="leave --first out to compare them",
        )
    return files


_NOT_OF_A_STREAM: Final = {
    "strategy": ("--strategy", "each case has its own 'strategy'"),
    "schema_type": ("--type", "each schema of a case has its own 'type'"),
    "message": ("--message", "a case contains the text that admin REST accepts"),
    "repo": ("--repo", "a case contains the text that admin REST accepts"),
    "first": ("--first", "a case without 'existing' asks about a first schema"),
    "output_format": ("--format", "a verdict is a line of JSON"),
    "fail_on": ("--fail-on", "the exit code reports whether every line could be read"),
}


def _refuse_options(context: typer.Context) -> None:
    """Raise UsageError for an option that a stream would pass over in silence."""
    for name, (option, why) in _NOT_OF_A_STREAM.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{option} has no meaning with --jsonl", hint=why)


def _stream(files: list[Path] | None, output: Path | None, broker: BrokerSettings) -> int:
    if files:
        raise UsageError("--jsonl reads cases from stdin, not files")
    if output is None:
        return _decide_all(sys.stdout, broker)
    from gitops.cli.console import open_for_writing

    with open_for_writing(output) as stream:
        return _decide_all(stream, broker)


def _decide_all(answers: TextIO, broker: BrokerSettings) -> int:
    from gitops.repository.documents.decision_cases import decide_lines

    good = True
    stdin = sys.stdin
    if hasattr(stdin, "reconfigure"):
        # A carriage return alone is white space of JSON and no end of a line.
        stdin.reconfigure(encoding="utf-8-sig", errors="surrogateescape", newline="\n")
    for verdict, readable in decide_lines(stdin, broker):
        answers.write(verdict + "\n")
        answers.flush()  # whoever asks one by one waits for this one
        good = good and readable
    return Exit.GOOD if good else Exit.USAGE
