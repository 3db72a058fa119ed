"""The options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How a command prints its answer."""

    TEXT = "text"
    JSON = "json"


class FailOn(StrEnum):
    """The severity from which on findings make the exit code 1."""

    ERROR = "error"
    WARNING = "warning"


Repo = Annotated[
    Path, typer.Option("--repo", metavar="DIR", help="The schemas repository.", show_default="here")
]
RegistryName = Annotated[
    str | None,
    typer.Option(
        "--registry", metavar="NAME", help="A registry of gitops.yaml instead of the default."
    ),
]
OutputFormat = Annotated[Format, typer.Option("--format", help="How to print the answer.")]
OutputFile = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE", help="Write the answer there, not to the terminal."),
]
Threshold = Annotated[
    FailOn, typer.Option("--fail-on", help="The severity from which on findings fail the run.")
]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours (also NO_COLOR).")]

HERE = Path()
"""The default of `--repo`."""
