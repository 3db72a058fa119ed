"""SIGTERM, which CI sends at its time limit, ends a command as Ctrl-C does."""

from __future__ import annotations

import os
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


def end_at_signals(code: int) -> None:
    """Whoever presses Ctrl-C while Python puts its things away gets the code, and no traceback."""

    def end(_number: int, _frame: FrameType | None) -> None:
        os._exit(code)

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
