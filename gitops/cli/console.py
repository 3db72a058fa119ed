"""Where output goes: answers to stdout or a file, everything else to stderr."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from rich.console import Console, RenderableType

from gitops.model.errors import UsageError

_PIPE_WIDTH = 120
"""A pipe and a file have no width of their own; 80 columns would break what grep looks for."""


def print_report(
    report: RenderableType, *, output: Path | None = None, no_color: bool = False
) -> None:
    """Print to the terminal as wide as it is; plain to a pipe or a file."""
    if output is None and sys.stdout.isatty():
        _console(sys.stdout, width=None, no_color=no_color).print(report)
        return
    width = int(os.environ.get("COLUMNS") or 0) or _PIPE_WIDTH
    text = io.StringIO()
    _console(text, width=width, no_color=no_color or output is not None).print(report)
    lines = (line.rstrip() for line in text.getvalue().split("\n"))
    print_text("\n".join(lines), output)


def print_text(text: str, output: Path | None = None) -> None:
    """Print as it is to stdout, or write it to a file."""
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_text(output, text)


def print_lines(lines: Iterable[str], output: Path | None) -> None:
    """What a command that writes files did: on stderr, or in the file that was asked for."""
    if output is None:
        for line in lines:
            say(line)
    else:
        write_text(output, "".join(f"{line}\n" for line in lines))


def say(text: str) -> None:
    """A line for people, on stderr."""
    print(text, file=sys.stderr)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; raises UsageError."""
    with _partial(path) as partial:
        partial.write_bytes(text.encode("utf-8", "surrogateescape"))
        partial.replace(path)


def make_folder(path: Path) -> None:
    """Make a folder and those above it where they are not there; raises UsageError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {path}: {error.strerror}") from error


def require_writable(path: Path | None) -> None:
    """Raise UsageError now if `write_text` would: before something is done that it tells of."""
    if path is not None:
        with _partial(path) as partial:
            partial.touch()


@contextmanager
def _partial(path: Path) -> Iterator[Path]:
    """A file beside `path`, gone in the end; what the system does not allow is a UsageError."""
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder", hint="name a file")
    partial = path.with_name(f".{path.name}.partial")
    try:
        yield partial
        partial.unlink(missing_ok=True)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _console(stream: TextIO, *, width: int | None, no_color: bool) -> Console:
    plain = no_color or bool(os.environ.get("NO_COLOR"))
    return Console(
        file=stream,
        width=width,
        # Without colours there are no other escape codes either: no bold, no dim.
        color_system=None if plain else "auto",
        highlight=False,
        emoji=False,
        markup=False,
    )
