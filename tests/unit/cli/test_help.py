"""What --help shows: tasks, examples that the command line takes, exit codes that exist."""

from __future__ import annotations

import re
import shlex
from typing import Any, Final

import pytest
import typer

from gitops.cli.app import GROUPS, app
from gitops.cli.examples import EXAMPLES, EXIT_CODES
from gitops.cli.exits import Exit
from tests.support.command_line import CommandLine, command_names

NAMES: Final = command_names()
_EXAMPLES: Final = re.compile(r"^Examples:\n((?:  .*\n)+)", re.MULTILINE)


def test_the_list_of_all_is_by_task(command: CommandLine) -> None:
    listed = command("--help").out
    for task, rows in GROUPS.items():
        lines = listed.partition(f"\n{task}:\n")[2].partition("\n\n")[0].splitlines()
        assert [line.split()[0] for line in lines] == [row.name for row in rows]
        assert len({line.index(row.summary) for line, row in zip(lines, rows, strict=True)}) == 1


def test_every_command_has_examples_and_no_other_has_any() -> None:
    assert list(EXAMPLES) == NAMES
    assert set(EXIT_CODES) <= set(NAMES)


@pytest.mark.parametrize("name", [*NAMES, "connect", "schemas", "policies", "github", "gitlab"])
def test_the_command_line_takes_each_example(
    name: str, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    shown = _EXAMPLES.search(command(*name.split(), "--help").out)
    assert shown
    assert max(map(len, shown[1].splitlines())) <= 60
    lines = [shlex.split(line) for line in shown[1].replace("\\\n", "").splitlines()]
    assert lines
    for program, *args in lines:
        assert (program, " ".join(args).startswith(name)) == ("pulsar-gitops", True)
        assert _parsed(args).startswith(f"pulsar-gitops {name}")


def test_an_example_with_a_wrong_option_or_argument_would_fail() -> None:
    for args in (["plan", "--outt", "x"], ["schemas", "get"], ["check"], ["init", "x", "y"]):
        with pytest.raises(Exception, match=r"No such option|Missing|unexpected"):
            _parsed(args)


def _parsed(args: list[str]) -> str:
    """The command to which Click hands the words, once it has understood all of them."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("pulsar-gitops", list(args))
    while hasattr(context.command, "commands"):
        name, command, args = context.command.resolve_command(context, args)
        context = command.make_context(name, list(args), parent=context)
    return str(context.command_path)


@pytest.mark.parametrize("name", EXIT_CODES)
def test_help_names_exit_codes_that_exist_in_order(name: str, command: CommandLine) -> None:
    codes = [code for code, _ in EXIT_CODES[name]]
    assert codes == sorted({*codes} & {*Exit} - {Exit.GOOD})
    shown = command(*name.split(), "--help").out.partition("\nExit codes:\n")[2]
    assert re.findall(r"^  (\d+) ", shown, re.MULTILINE) == [str(code) for code in codes]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", ["", *NAMES])
def test_no_line_of_help_is_wider_than_the_terminal(
    name: str, width: int, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, command(*name.split(), "--help").out.splitlines())) <= width


def test_all_exit_codes_are_explained_at_once(command: CommandLine) -> None:
    done = command("explain", "exit-codes")
    assert done.code == 0
    assert all(re.search(rf"^ *{int(code)} ", done.out, re.MULTILINE) for code in Exit)


@pytest.mark.parametrize("name", [*NAMES, "connect", "schemas", "policies", "github", "gitlab"])
def test_no_help_shows_a_type_of_python_or_brackets_twice(name: str, command: CommandLine) -> None:
    shown = command(*name.split(), "--help").out
    assert not re.search(r"<(?:list\[)?(?:str|int|float|bool|[Pp]ath|text)\]?>", shown)
    usage = shown.partition("\n\n")[0]
    assert not re.search(r"\[\[|\]\]|\]\.\.\.\]|\.\.\.[^ \]]*\]\.\.\.", usage), usage
