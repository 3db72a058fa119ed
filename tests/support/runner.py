"""How the runner of GitHub's workflows reads a line of a log (actions/runner, ActionCommand)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

COMMANDS: Final = frozenset(
    {
        "add-mask",
        "add-matcher",
        "add-path",
        "debug",
        "echo",
        "endgroup",
        "error",
        "group",
        "notice",
        "remove-matcher",
        "save-state",
        "set-env",
        "set-output",
        "stop-commands",
        "warning",
    }
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command that the runner would carry out."""

    name: str
    properties: dict[str, str]
    data: str


def commands(text: str) -> list[Command]:
    """Every command in a log; a line ends where .NET's StreamReader ends one."""
    found = (_command(line) for line in re.split(r"\r\n|\r|\n", text))
    return [command for command in found if command]


def _command(line: str) -> Command | None:
    stripped = line.lstrip()
    if stripped.startswith("::") and (end := stripped.find("::", 2)) >= 0:
        name, _, rest = stripped[2:end].partition(" ")
        if name.lower() in COMMANDS:
            given = dict(pair.split("=", 1) for pair in rest.strip().split(",") if "=" in pair)
            properties = {key: _unescaped(value, ":,") for key, value in given.items()}
            return Command(name.lower(), properties, _unescaped(stripped[end + 2 :]))
    if (start := line.find("##[")) >= 0 and (end := line.find("]", start)) >= 0:
        name = line[start + 3 : end].partition(" ")[0]
        if name.lower() in COMMANDS:
            return Command(name.lower(), {}, line[end + 1 :])
    return None


def _unescaped(text: str, more: str = "") -> str:
    for char in f"\r\n{more}%":
        text = text.replace(f"%{ord(char):02X}", char)
    return text
