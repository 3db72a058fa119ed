"""Commands as processes of their own that a test interrupts, each at a moment that it knows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

REPLAYING: Final = """\
import sys
from contextlib import contextmanager
from gitops.cli import app, check_run
from gitops.cli.commands import replay

def hold(what, done, total):
    if what == "reading messages" and done and not sys.stdin.closed:
        print("held", file=sys.stderr, flush=True)
        sys.stdin.read()
        sys.stdin.close()

@contextmanager
def bar(**how):
    yield hold

replay.progress_bar = check_run.progress_bar = bar
app.main()
"""
"""The command line, which says `held` once messages were read, and goes on when stdin closes."""

APPLYING: Final = """\
import sys
from gitops.cli import app
from gitops.registries.embedded.registry import EmbeddedRegistry

register_schema = EmbeddedRegistry.register_schema

def held(self, topic, info):
    version = register_schema(self, topic, info)
    if topic.local_name == "order-created":
        print("held", file=sys.stderr, flush=True)
        sys.stdin.read()
    return version

EmbeddedRegistry.register_schema = held
app.main()
"""
"""The same once a schema is registered, and nobody has noted it."""


_TAKING: Final = """\
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
TAKE_TERMINAL: Final = (sys.executable, "-S", "-c", _TAKING)
"""Before a command: the terminal that is its stdin is the one whose end sends it SIGHUP."""


@contextmanager
def ctrl_c_as_ever() -> Iterator[None]:
    """Processes that are started within hear Ctrl-C, also where this one does not.

    A shell starts what is to run in the background with SIGINT ignored, and that is inherited;
    what a process handles itself is not.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def interrupted(
    program: str,
    args: Sequence[object],
    number: signal.Signals,
    *,
    cwd: Path,
    how: Literal["alone", "in the background", "whole group"] = "alone",
) -> subprocess.CompletedProcess[str]:
    """One of the programs above, interrupted where it says `held`; its output, and how it ended.

    `in the background`: with Ctrl-C ignored from the start. `whole group`: what it started gets the
    signal too, as from `timeout` and from CI.
    """
    command = [sys.executable, "-c", program, *map(str, args)]
    if how == "in the background":
        command = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command]
    with (
        ctrl_c_as_ever(),
        subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=how == "whole group",
        ) as process,
    ):
        assert process.stderr is not None
        assert process.stderr.readline() == "held\n"
        if how == "whole group":
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(command, process.returncode, out, err)
