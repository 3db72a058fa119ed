"""What is wrong with the words of a command line, in our own words."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import typer

_CHOICE: Final = re.compile(r"'([^']*)' is not one of ((?:'[^']*'(?:, )?)+)\.?$")
_PLAIN: Final = (
    ("Value error, ", ""),
    ("Input should be a valid integer, unable to parse string as an integer", "no whole number"),
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


def plain(message: str) -> str:
    """A message of theirs; of a word that is none of a choice's, with the one that may be meant."""
    for theirs, ours in _PLAIN:
        message = message.replace(theirs, ours, 1)
    found = _CHOICE.search(message)
    if found is None:
        return message
    from gitops.repository.suggestions import did_you_mean

    near = did_you_mean(found[1], re.findall("'([^']*)'", found[2]))
    return f"{message} {near[:1].upper()}{near[1:]}" if near else message
