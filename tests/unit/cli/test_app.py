"""The table of commands, and the commands themselves."""

from __future__ import annotations

import re

import pytest

from gitops.cli.app import COMMANDS, CommandRow, load_command
from tests.support.loaded_modules import run_and_tell

_ROOM = 45
"""From so many characters on a line is cut, in a terminal of 60 columns."""


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.name)
def test_a_line_of_the_table_is_what_the_command_says_of_itself(row: CommandRow) -> None:
    """Word for word where that is short enough, else in words that only this command shares."""
    said = _said(row)
    assert len(row.summary) < _ROOM
    assert row.summary == said or len(said) >= _ROOM
    shared = {other.name: len(_words(row.summary) & _words(_said(other))) for other in COMMANDS}
    assert shared[row.name] == max(shared.values()) > 0


def _said(row: CommandRow) -> str:
    return " ".join((load_command(row).help or "").split())


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower()))


@pytest.mark.slow
def test_the_list_of_all_imports_no_command_and_a_command_no_other() -> None:
    listed, one = run_and_tell("--help"), run_and_tell("explain", "--help")
    assert (listed.returncode, one.returncode) == (0, 0)
    first = "gitops.cli.commands."
    assert not [each for each in listed.stderr.split() if each.startswith(first)]
    assert [each for each in one.stderr.split() if each.startswith(first)] == [f"{first}explain"]
