"""Signals that ask this process to end: each is recorded when it comes, whatever it interrupts.

Raising KeyboardInterrupt is not enough. Python ignores an exception that is raised in a finalizer
or in the callback of a weak reference, and libraries turn it into errors of their own (pydantic
does while it builds validators). So whoever is about to write asks `was_requested` first.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType
from typing import Final, final

_SHELL: Final = 128
"""What a shell adds to the number of a signal to make an exit code of it."""


@final
class _State:
    """What came, whether the next signal is only recorded, and the exit code once it is known."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self.is_held = False
        self.code: int | None = None


_state = _State()


def listen() -> None:
    """Record SIGINT, SIGTERM and SIGHUP from now on, and interrupt what runs.

    SIGTERM and SIGHUP (a terminal that was closed, a lost SSH session) go to whoever handles
    SIGINT at that moment. A signal that is ignored stays ignored: SIGHUP below `nohup`, SIGINT in
    the background of a shell.
    """
    defaults = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    for number, default in defaults.items():
        if signal.getsignal(number) is default:
            signal.signal(number, _receive)
    if sys.unraisablehook is not _report_unraisable:
        sys.unraisablehook = _report_unraisable
        atexit.register(_ignore)  # the first that is registered is the last that is called


def was_requested() -> bool:
    """Whether a signal came, also where the interruption itself was lost."""
    return bool(_state.received)


def raise_if_requested() -> None:
    """Raise KeyboardInterrupt where a signal came."""
    if _state.received:
        raise KeyboardInterrupt


def hold() -> None:
    """Only record signals from now on: what is left to do is short, or asks `was_requested`."""
    _state.is_held = True


def release() -> None:
    """Let signals interrupt again."""
    _state.is_held = False


def exit_code() -> int:
    """The code of a command that was interrupted: 129, 130 or 143."""
    others = [number for number in _state.received if number != signal.SIGINT]
    return _SHELL + (others[0] if others else signal.SIGINT)


def finish(code: int) -> None:
    """The command has ended with this code, and no later signal changes it."""
    _state.code = code


def _receive(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGHUP and number in _state.received:
        return  # the kernel and the shell send it for the same terminal
    _state.received.append(number)
    if _state.code is not None:
        os._exit(_state.code)
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler) and handler is not _receive:
        handler(number, frame)
    elif not _state.is_held:
        raise KeyboardInterrupt


def _report_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Print what Python ignores, other than the interruption, which is recorded."""
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)


def _ignore() -> None:
    """Python restores default handlers while it ends; ignored signals stay ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is _receive:
            signal.signal(number, signal.SIG_IGN)
