"""SIGTERM, which CI sends at its time limit, ends a command as Ctrl-C does."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

from gitops.cli.exits import Exit


def run_until_sigterm(command: Callable[[], int]) -> int:
    """Run; where SIGTERM has interrupted the command, it ends with 143 instead of 130.

    Whoever waits for Ctrl-C, or holds it back, gets SIGTERM by the same handler; who takes both
    is left alone. Nothing is changed where SIGTERM is ignored.
    """
    terminated = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal terminated
        terminated = True
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # a background shell has Ctrl-C ignored, and SIGTERM not
            raise KeyboardInterrupt
        handler(number, frame)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, press)
    code = command()
    return Exit.TERMINATED if terminated and code == Exit.INTERRUPTED else code


def let_signals_end() -> None:
    """Whoever presses Ctrl-C again, while Python puts its things away, sees no traceback."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
