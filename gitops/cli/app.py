"""The command `pulsar-gitops`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Final, final

import typer
from typer.core import TyperCommand, TyperGroup

import gitops
from gitops import signals
from gitops.cli.completion import VARIABLE
from gitops.cli.exits import Exit, prepare_streams, run_to_end
from gitops.cli.progress import waiting_line
from gitops.cli.usage_errors import corrected_command_line, given_word, plain
from gitops.model.errors import UsageError
from gitops.recursion_limit import raise_recursion_limit
from gitops.reports.text.plain import mask_credentials

# Typer carries a Click of its own and does not export the base class of its errors.
_USAGE_ERROR: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

_VERBOSE = ("-v", "--verbose")


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A command: its name, its module in `gitops.cli.commands`, and its line in the list of all.

    The module has a function of its own name, or `app` with the commands of a group.
    """

    name: str
    module: str
    summary: str


GROUPS: Final[Mapping[str, tuple[CommandRow, ...]]] = {
    # From 45 characters on a line is cut in mid-sentence, in a terminal of 60 columns.
    "Write files": (
        CommandRow("init", "init", "Make a new schemas repository."),
        CommandRow("import", "import_registry", "Write what a registry has as files."),
        CommandRow("validate", "validate", "Check the files of the repository."),
        CommandRow("fmt", "fmt", "Format manifests and Avro definitions."),
    ),
    "Review a change": (
        CommandRow("check", "check", "Check a change, as before a merge."),
        CommandRow("plan", "plan", "Show what an apply would do to a registry."),
        CommandRow("rollout", "rollout", "Show who upgrades first, step by step."),
        CommandRow("replay", "replay", "Read sample data with old and new schemas."),
    ),
    "Ask what Pulsar accepts": (
        CommandRow("compat", "compat", "Decide whether NEW may follow OLD."),
        CommandRow("connect", "connect", "Decide whether a client may connect."),
        CommandRow("explain", "explain", "Explain a rule or a word, or list all rules."),
    ),
    "Change a registry": (
        CommandRow("apply", "apply", "Carry out a reviewed plan."),
        CommandRow("schemas", "schemas", "Upload, read, extract, delete schemas."),
        CommandRow("policies", "policies", "Read and set schema policies."),
    ),
    "Move messages": (
        CommandRow("capture", "capture", "Write messages of topics to files."),
        CommandRow("publish", "publish", "Send captured messages to a topic."),
    ),
    "Operate a cluster": (
        CommandRow("drift", "drift", "Find what changed outside git."),
        CommandRow("snapshot", "snapshot", "Record all versions under snapshots/."),
        CommandRow("restore", "restore", "Make the recorded versions again."),
        CommandRow("audit", "audit", "Find what an upgrade would break."),
        CommandRow("serve", "serve", "Serve the embedded registry as a broker."),
    ),
    "Report from CI": (
        CommandRow("github", "github", "Write reports to GitHub."),
        CommandRow("gitlab", "gitlab", "Write a report to GitLab."),
    ),
}
"""All commands by task, in the order of the work."""

COMMANDS: Final = tuple(row for rows in GROUPS.values() for row in rows)


@cache
def load_command(row: CommandRow) -> Any:  # noqa: ANN401 - of Typer's own Click, which has no name
    """The command as its module declares it, which is imported only now."""
    from gitops.cli.examples import CommandWithExamples, GroupWithExamples

    module = import_module(f"gitops.cli.commands.{row.module}")
    group = getattr(module, "app", None)
    if group is None:
        group = typer.Typer(add_completion=False, rich_markup_mode=None)
        group.command(row.name)(getattr(module, row.module))
    group.info.cls = GroupWithExamples
    for command in group.registered_commands:
        command.cls = CommandWithExamples
    return typer.main.get_command(group)


@final
class _TableCommand(TyperCommand):
    """A row of the table, enough for the list of all: the module is imported for one command."""

    def __init__(self, row: CommandRow) -> None:
        super().__init__(row.name, short_help=row.summary)
        self._row = row

    def make_context(self, *args: Any, **mapping: Any) -> Any:  # noqa: ANN401 - as Click has it
        """The context of the command itself, which Click runs, completes or explains."""
        return load_command(self._row).make_context(*args, **mapping)


@final
class _TableGroup(TyperGroup):
    """All commands of the table."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - as Typer has it
        super().__init__(**attributes)
        self.commands = {row.name: _TableCommand(row) for row in COMMANDS}

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - as Click has it
        """A section for each task, the summaries in one column."""
        width = max(map(len, self.commands))
        for task, rows in GROUPS.items():
            with formatter.section(task):
                formatter.write_dl([(row.name.ljust(width), row.summary) for row in rows])


app = typer.Typer(
    cls=_TableGroup,
    name="pulsar-gitops",
    help="Apache Pulsar schemas and namespace policies as files in git.",
    epilog="Options and examples: pulsar-gitops COMMAND --help",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Without rich the help is there in a tenth of a second.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        print(f"pulsar-gitops {gitops.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(*_VERBOSE, help="Show the traceback of a bug; anywhere in the command line."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit with its code."""
    signals.listen()
    raise_recursion_limit()
    prepare_streams()
    # People add it at the end, to the line that has just failed.
    args = [arg for arg in sys.argv[1:] if arg not in _VERBOSE]
    verbose = len(args) < len(sys.argv) - 1
    raise SystemExit(run_to_end(lambda: run(args), verbose=verbose))


@cache
def _command() -> Any:  # noqa: ANN401 - of Typer's own Click, which has no name
    """The command line as Click has it."""
    return typer.main.get_command(app)


def _complete(command: Any) -> None:  # noqa: ANN401 - of Typer's own Click, which has no name
    try:
        command.main(prog_name="pulsar-gitops", complete_var=VARIABLE)
    except (KeyError, ValueError):
        hint = f"unset {VARIABLE}: only the script of --show-completion sets it, with COMP_WORDS"
        raise UsageError("a shell asks for completions without its words", hint=hint) from None


def run(args: list[str]) -> int:
    """Run one command line; answers its exit code, or raises what `run_to_exit` maps."""
    command = _command()
    if os.environ.get(VARIABLE):
        # A shell asks what may come next: typer answers from COMP_WORDS, and exits.
        _complete(command)
    try:
        # Typer's own `main` would swallow Ctrl-C and make an error of a closed pipe.
        with (
            command.make_context("pulsar-gitops", list(args), obj=tuple(args)) as context,
            waiting_line(),
        ):
            signals.raise_if_requested()
            result = command.invoke(context)
    except typer.Exit as ended:
        return int(ended.exit_code)
    except _USAGE_ERROR as error:
        error.message = mask_credentials(plain(error.message, given_word(error)))
        error.show()
        if line := corrected_command_line(error, args):
            print(f"The definition has no option in front of it:\n  {line}", file=sys.stderr)
        return Exit.USAGE
    except typer.Abort:
        raise KeyboardInterrupt from None
    return int(result or 0)
