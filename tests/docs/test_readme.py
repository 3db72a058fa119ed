"""What the README says about setting up, looked at rather than done: the tests run in it."""

from __future__ import annotations

import re
import shlex
import tomllib
from typing import Final

from gitops.cli.app import COMMANDS
from tests.docs.pages import ROOT, blocks

README: Final = (ROOT / "README.md").read_text("utf-8")
LINES: Final = [
    line for block in blocks(README) if block.language == "sh" for line in block.text.splitlines()
]


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {line.split()[1] for line in LINES if line.startswith("make ")}
    assert named == {"demo", "test"}
    assert named <= targets


def test_what_pip_installs_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (install,) = [shlex.split(line) for line in LINES if "pip install" in line]
    assert install[1:] == ["install", "."]
    for extra in re.findall(r"'\.\[(\w+)\]'", README):
        assert extra in project["optional-dependencies"]


def test_the_table_names_the_commands_that_there_are() -> None:
    there, not_there = README.split("## What works today")[1].split("**Not there yet:**")
    commands = {row.name for row in COMMANDS}
    rows = [line.split("|")[1] for line in there.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == commands
    missing = set(re.findall(r"`(\w+)`", not_there.split("\n\n")[0]))
    assert missing
    assert not missing & commands
