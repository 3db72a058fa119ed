"""Reports as the lines that a terminal shows."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType


def shown(report: RenderableType, width: int = 100, *, color: bool = False) -> str:
    """The text of a report, as wide as asked for; with `color` as a terminal gets it."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=color,
        color_system="truecolor" if color else None,
        no_color=not color,
        highlight=False,
        emoji=False,
        markup=False,
    )
    console.print(report)
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))


def unwrapped(text: str) -> str:
    """The text without anything that a narrow terminal changes: blanks and line ends."""
    return "".join(text.split())
