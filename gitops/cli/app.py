"""The command `pulsar-gitops`."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Annotated, Any

import typer

import gitops
from gitops.cli.commands import (
    apply,
    check,
    compat,
    connect,
    explain,
    fmt,
    github,
    import_registry,
    init,
    plan,
    policies,
    replay,
    rollout,
    schemas,
    serve,
    snapshot,
    validate,
)
from gitops.cli.completion import VARIABLE
from gitops.cli.exits import Exit, end_at_signals, run_to_exit, run_until_sigterm
from gitops.cli.progress import waiting_line
from gitops.cli.streams import prepare_streams
from gitops.cli.usage_errors import given_word, plain, without_definition_option
from gitops.model.errors import UsageError
from gitops.recursion_limit import raise_recursion_limit

# Typer carries a Click of its own and does not export the base class of its errors.
_USAGE_ERROR: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

_VERBOSE = ("-v", "--verbose")

app = typer.Typer(
    name="pulsar-gitops",
    help="Apache Pulsar schemas and namespace policies as files in git.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Without rich the help is there in a tenth of a second.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# Short help is cut in mid-sentence from 45 characters on, in a terminal of 60 columns.
app.command("init", short_help="Make a new schemas repository.")(init.init)
app.command("validate", short_help="Check the files of the repository.")(validate.validate)
app.command("fmt", short_help="Format manifests and Avro definitions.")(fmt.fmt)
app.command("check", short_help="Check a change, as before a merge.")(check.check)
app.command("rollout", short_help="Show who upgrades first, step by step.")(rollout.rollout)
app.command("replay", short_help="Read sample data with old and new schemas.")(replay.replay)
app.command("plan", short_help="Show what an apply would do to a registry.")(plan.plan)
app.command("apply", short_help="Carry out a reviewed plan.")(apply.apply)
app.command("import", short_help="Write what a registry holds as files.")(
    import_registry.import_registry
)
app.command("snapshot", short_help="Record all versions under snapshots/.")(snapshot.snapshot)
app.command("compat", short_help="Decide whether NEW may follow OLD.")(compat.compat)
app.command("serve", short_help="Serve the embedded registry as a broker.")(serve.serve)
app.command("explain", short_help="Explain a rule, or list all rules.")(explain.explain)
app.add_typer(connect.app, name="connect", short_help="Decide whether a client may connect.")
app.add_typer(schemas.app, name="schemas", short_help="Upload, read and delete schemas.")
app.add_typer(policies.app, name="policies", short_help="Read and set schema policies.")
app.add_typer(github.app, name="github", short_help="Write reports to GitHub.")


def _version(asked: bool) -> None:
    if asked:
        print(f"pulsar-gitops {gitops.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option(*_VERBOSE, help="After a bug of ours, say more; may stand anywhere.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit with its code."""
    raise_recursion_limit()
    prepare_streams()
    # People add it at the end, to the line that has just failed.
    args = [arg for arg in sys.argv[1:] if arg not in _VERBOSE]
    verbose = len(args) < len(sys.argv) - 1
    code = run_until_sigterm(lambda: run_to_exit(lambda: run(args), verbose=verbose))
    end_at_signals(code)
    raise SystemExit(code)


@cache
def _command() -> Any:  # noqa: ANN401 - of Typer's own Click, which has no name
    """All commands, which Typer takes longer to build than most of them to run."""
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
            result = command.invoke(context)
    except typer.Exit as ended:
        return int(ended.exit_code)
    except _USAGE_ERROR as error:
        error.message = plain(error.message, given_word(error))
        error.show()
        if line := without_definition_option(error, args):
            print(f"The definition has no option in front of it:\n  {line}", file=sys.stderr)
        return Exit.USAGE
    except typer.Abort:
        raise KeyboardInterrupt from None
    return int(result or 0)
