"""The page of commands repeats what the commands say about themselves."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from gitops.cli.app import COMMANDS, load_command
from tests.docs.pages import ROOT, UPDATE, environment

PAGE: Final = ROOT / "docs" / "reference" / "commands.md"
LINES: Final = [
    f"{row.name} {name}".strip()
    for row in COMMANDS
    for name in getattr(load_command(row), "commands", [""])
]
_SECTION: Final = re.compile(
    r"^## (?P<name>[a-z ]+)\n(?P<prose>(?:.*\n)*?)```text\n(?P<help>(?:.*\n)*?)```\n",
    re.MULTILINE,
)


def test_every_command_has_its_section_in_order() -> None:
    assert re.findall(r"^## (.*)$", PAGE.read_text("utf-8"), re.MULTILINE) == LINES


@pytest.mark.parametrize("command", LINES)
def test_a_section_repeats_the_help(command: str, tmp_path: Path) -> None:
    text = PAGE.read_text("utf-8")
    found = next(match for match in _SECTION.finditer(text) if match["name"] == command)
    said = _help(command, tmp_path)
    if UPDATE:
        PAGE.write_text(text[: found.start("help")] + said + text[found.end("help") :], "utf-8")
        return
    assert found["help"] == said, "run the tests of docs with UPDATE_DOCS=1 and without -n"


def _help(command: str, home: Path) -> str:
    program = Path(sys.executable).parent / "pulsar-gitops"
    return subprocess.run(
        [program, *command.split(), "--help"],
        env=environment(home),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
