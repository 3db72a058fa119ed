"""The command line in this process, as `pulsar-gitops` runs it: exit code and both streams."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitops.cli.app import COMMANDS, load_command, run
from gitops.cli.exits import run_to_exit
from gitops.recursion_limit import raise_recursion_limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

PROGRAM: Final = Path(sys.executable).parent / "pulsar-gitops"
"""The installed command of this environment."""


def command_names() -> list[str]:
    """All commands, those of groups too: `plan`, `schemas upload`."""
    return [
        f"{row.name} {name}".strip()
        for row in COMMANDS
        for name in getattr(load_command(row), "commands", [""])
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a command line ended."""

    code: int
    out: str
    err: str


def captured(*args: object, stdin: str = "") -> Outcome:
    """Run `pulsar-gitops ARGS`, also where no fixture of pytest is at hand."""
    texts, out, err = [str(arg) for arg in args], io.StringIO(), io.StringIO()
    before, sys.stdin = sys.stdin, io.StringIO(stdin)
    limit = sys.getrecursionlimit()  # which hypothesis lowers for its examples
    raise_recursion_limit()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = run_to_exit(lambda: run(texts), verbose=True)
    finally:
        sys.stdin = before
        sys.setrecursionlimit(limit)
    return Outcome(code=int(code), out=out.getvalue(), err=err.getvalue())


class CommandLine:
    """Runs command lines and catches what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *args: object) -> Outcome:
        """Run `pulsar-gitops ARGS`."""
        self._capsys.readouterr()
        texts = [str(arg) for arg in args]
        code = run_to_exit(lambda: run(texts), verbose="-v" in texts)
        printed = self._capsys.readouterr()
        return Outcome(code=int(code), out=printed.out, err=printed.err)


@contextmanager
def stdin_of(text: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Standard input that is a pipe with this text."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO(text))
        yield
