"""What is wrong with the words of a command line, in our own words."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

from gitops.repository.suggestions import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    import typer

_CHOICE: Final = re.compile(r"'([^']*)' is not one of ((?:'[^']*'(?:, )?)+)\.?$")
_NO_NUMBER: Final = "a whole number is expected"
_PLAIN: Final = (
    ("Value error, ", ""),
    ("Input should be a valid integer, unable to parse string as an integer", _NO_NUMBER),
    ("Input should be less than or equal to ", "it may be at most "),
    ("Input should be greater than or equal to ", "it has to be at least "),
)
"""What the libraries say that read options, and what a person says."""


def line_with(context: typer.Context, option: str) -> str:
    """The command line of a context with one more option, as a shell takes it.

    `run` puts the words of the line into the context's `obj`.
    """
    command = context.command_path.split()
    words: tuple[str, ...] = context.obj or ()
    return shlex.join([*command, option, *words[len(command) - 1 :]])


_NAMES_OF_DEFINITIONS: Final = ("--schema", "--definition", "--filename", "--file", "-f")
"""Options that people expect, `-f` and `--filename` from `pulsar-admin schemas upload`."""
_TAKE_DEFINITIONS: Final = (
    ("compat",),
    ("connect", "producer"),
    ("connect", "consumer"),
    ("schemas", "upload"),
)


def corrected_command_line(error: Exception, args: Sequence[str]) -> str:
    """The line to write where `error` is an option in front of a definition; else empty.

    `args` are the words behind the program's name.
    """
    context = getattr(error, "ctx", None)
    command = tuple(context.command_path.split()[1:]) if context else ()
    if command not in _TAKE_DEFINITIONS or tuple(args[: len(command)]) != command:
        return ""
    if getattr(error, "option_name", "") not in _NAMES_OF_DEFINITIONS:
        return ""
    kept, moved = _moved(args[len(command) :])
    return shlex.join(["pulsar-gitops", *command, *kept, *moved]) if moved else ""


def _moved(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words without such options, and the definitions that stood behind them."""
    kept: list[str] = []
    moved: list[str] = []
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if name in _NAMES_OF_DEFINITIONS:
            moved.append(value if equals else next(left, ""))
        elif word.startswith("-f"):
            moved.append(word.removeprefix("-f"))
        else:
            kept.append(word)
    return kept, [text for text in moved if text]


def given_word(error: BaseException) -> str:
    """The word that an option does not take; empty where Pydantic, which Typer asks, says none."""
    problems: list[dict[str, object]] = getattr(error.__cause__, "errors", list)()
    return one_line(str(problems[0]["input"])) if problems else ""


def plain(message: str, given: str = "") -> str:
    """A message of theirs about the word `given`.

    Of one that is none of a choice's with the one that may be meant.
    """
    for text, ours in _PLAIN:
        message = message.replace(text, ours, 1)
    if given and message == _NO_NUMBER:
        return f"{message}, not '{given}'"
    match = _CHOICE.search(message)
    if match is None:
        return message
    from gitops.repository.suggestions import did_you_mean

    near = did_you_mean(match[1], re.findall("'([^']*)'", match[2]))
    return f"{message} {near[:1].upper()}{near[1:]}" if near else message
