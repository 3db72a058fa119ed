"""Where output goes: answers to stdout or a file, everything else to stderr."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TextIO

from rich.console import Console, RenderableType

from gitops.model.errors import UsageError
from gitops.repository.folder import real_path

_PIPE_WIDTH: Final = 120
"""A pipe and a file have no width of their own; 80 columns would break what grep looks for."""

_SMALLEST_WIDTH: Final = 20
"""Below this, tables have no room for their borders."""

_SYSTEM: Final = ("/dev", "/proc")
"""What stands there is open already, or is no file: `/dev/stdout` is whatever stdout is."""


def print_report(
    report: RenderableType, *, output: Path | None = None, no_color: bool = False
) -> None:
    """Print to the terminal as wide as it is; plain to a pipe or a file."""
    if output is None and sys.stdout.isatty():
        console = _console(sys.stdout, width=None, no_color=no_color)
        console.width = max(_SMALLEST_WIDTH, console.width)
        console.print(report)
        return
    columns = os.environ.get("COLUMNS", "")
    asked = int(columns[:6]) if columns.isdecimal() else 0
    width = max(_SMALLEST_WIDTH, asked or _PIPE_WIDTH)
    text = io.StringIO()
    _console(text, width=width, no_color=no_color or output is not None).print(report)
    lines = (line.rstrip() for line in text.getvalue().split("\n"))
    print_text("\n".join(lines), output)


def print_text(text: str, output: Path | None = None) -> None:
    """Print as it is to stdout, or write it to a file."""
    print_parts([text], output)


def print_parts(parts: Iterable[str], output: Path | None = None) -> None:
    """Print text in parts to stdout, or write all of it to a file."""
    if output is None:
        sys.stdout.writelines(parts)
        sys.stdout.flush()
    else:
        with open_for_writing(output) as stream:
            stream.writelines(parts)


def print_message(text: str) -> None:
    """A line for people, on stderr."""
    print(text, file=sys.stderr)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; raises UsageError."""
    with open_for_writing(path) as stream:
        stream.write(text)


@contextmanager
def open_for_writing(path: Path) -> Iterator[TextIO]:
    """A stream whose text is the file's once it is whole; raises UsageError.

    What a symbolic link leads to is written, and a file that is there keeps its mode. A device, a
    pipe and a socket are written straight into.
    """
    with _told(path):
        if _is_stream(path):
            with _opened(path) as stream:
                yield stream
            return
        with _partial(path) as (partial, target):
            with _opened(partial) as stream:
                yield stream
            if target.exists():
                shutil.copymode(target, partial)
            partial.replace(target)


def _opened(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", errors="surrogateescape", newline="")


def make_folder(path: Path) -> None:
    """Make a folder and those above it where they are not there; raises UsageError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {path}: {error.strerror}") from error


def require_writable(path: Path | None) -> None:
    """Raise UsageError now if `write_text` would: before something is done that it tells of."""
    if path is None:
        return
    with _told(path):
        if not _is_stream(path):
            with _partial(path) as (partial, _):
                partial.touch()


_INPUTS: Final = (".yaml", ".yml", ".avsc", ".proto")


def is_input(path: str) -> bool:
    """Whether no answer is written over a file of a repository: a page of before is no input."""
    return path.endswith(_INPUTS) or path.startswith("snapshots/")


def refuse_inputs(outputs: Iterable[Path | None], inputs: Iterable[Path]) -> None:
    """Raise UsageError for an output that is one of the inputs, under whatever name."""
    known = {identity for path in inputs if (identity := _identity(path))}
    for output in outputs:
        if output is not None and _identity(output) in known:
            raise UsageError(
                f"cannot write {output}: it is one of the files that are read",
                hint="name another file",
            )


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file that is there, which its links share."""
    try:
        stat_result = path.stat()
    except (OSError, ValueError):
        return None
    return stat_result.st_dev, stat_result.st_ino


def _is_stream(path: Path) -> bool:
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - resolving would follow the link
    if any(whole.is_relative_to(item) for item in _SYSTEM):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system does not allow is a UsageError."""
    try:
        if path.is_dir():
            raise UsageError(f"cannot write {path}: it is a folder", hint="name a file")
        yield
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    except ValueError:  # a NUL in the name
        raise UsageError(f"cannot write {path}: no such file can be") from None


@contextmanager
def _partial(path: Path) -> Iterator[tuple[Path, Path]]:
    """A file beside the one that `path` leads to, gone in the end; and that one."""
    target = real_path(path)
    partial = target.with_name(f".{target.name[:200]}.partial")
    try:
        yield partial, target
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


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
