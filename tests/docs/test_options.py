"""Every option and exit code that the documentation names is one of the commands."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.cli.app import COMMANDS, load_command
from gitops.cli.examples import EXIT_CODES
from gitops.cli.exits import Exit
from tests.docs.pages import ROOT
from tests.support.command_line import captured, command_names

PAGES: Final = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "schemas_repo_template").rglob("*.md")),
]
_COMMAND_LINE: Final = re.compile(r"pulsar-gitops((?:\\\n|[^`\n|;&#])*)")
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
_INLINE: Final = re.compile(r"`(--[a-z][a-z0-9-]*)")
_EXIT_CODE: Final = re.compile(r"(?:exit codes?|ends? with|code) `?(\d{1,3})`?(?![\d.%])")
_OF_OTHERS: Final = {
    "--exclude-packages",  # spark-submit
    "--filter",  # git
    "--index-url",  # pip
    "--no-requirement",
    "--requirement",
    "--unshallow",  # git
    "--filename",  # pulsar-admin
    "--schema",  # which commands answer with what to write in its place
    "--install-completion",  # the program itself
    "--show-completion",
    "--version",
    "--verbose",
}


@cache
def _options() -> dict[str, frozenset[str]]:
    """The options of each command, by its name."""
    found: dict[str, frozenset[str]] = {}
    for row in COMMANDS:
        loaded: Any = load_command(row)
        group: Any = loaded if hasattr(loaded, "commands") else None
        members = group.commands.items() if group else [("", loaded)]
        for name, command in members:
            words = {word for param in command.params for word in param.opts}
            words |= {word for param in command.params for word in param.secondary_opts}
            found[f"{row.name} {name}".strip()] = frozenset({*words, "--help"})
    return found


def test_all_commands_are_looked_at() -> None:
    assert sorted(_options()) == sorted(command_names())
    assert "--prune" in _options()["plan"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_options_of_a_command_line_are_those_of_the_command(page: Path) -> None:
    wrong = []
    for line in _COMMAND_LINE.finditer(page.read_text("utf-8")):
        words = line[1].split()
        name = next((n for n in (" ".join(words[:2]), " ".join(words[:1])) if n in _options()), "")
        if not name:
            continue
        of_program = {"--version", "--verbose", "--install-completion", "--show-completion"}
        known = _options()[name] | of_program
        wrong += [f"{name} {word}" for word in _OPTION.findall(line[1]) if word not in known]
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_an_option_in_a_sentence_exists(page: Path) -> None:
    known = frozenset[str]().union(*_options().values()) | _OF_OTHERS
    found = _INLINE.findall(page.read_text("utf-8"))
    assert [word for word in found if word not in known] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_an_exit_code_in_a_sentence_exists(page: Path) -> None:
    known = {int(code) for code in Exit}
    found = [int(code) for code in _EXIT_CODE.findall(page.read_text("utf-8"))]
    assert [code for code in found if code not in known] == []


def test_the_exit_codes_of_the_help_exist() -> None:
    known = {int(code) for code in Exit}
    assert {code for codes in EXIT_CODES.values() for code, _ in codes} <= known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("import", ["nowhere/at-all"]),
        ("schemas get", ["shop/orders/missing"]),
        ("schemas get", ["shop/orders/order-status", "--version", "7"]),
        ("schemas versions", ["shop/orders/missing"]),
        ("policies get", ["nowhere/at-all"]),
        ("policies set", ["nowhere/at-all", "schemaCompatibilityStrategy=FULL"]),
    ],
)
def test_what_the_registry_does_not_have_ends_as_the_help_says(
    name: str, args: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "repo"
    assert captured("init", folder).code == 0
    assert captured("apply", "--repo", folder, "--auto-approve").code == 0

    done = captured(*name.split(), *args, "--repo", folder)

    ((code, text),) = EXIT_CODES[name]
    assert (done.code, "no such namespace" in text) == (code, True), done.err
