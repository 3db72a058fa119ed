"""Ctrl-C as a question that is asked between two batches, so that what was done stays whole.

The command line makes SIGTERM another way to press it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from itertools import count
from types import FrameType
from typing import Final, TypeVar

Answer = TypeVar("Answer")

_LOOK: Final = 0.1
"""Seconds between two looks at whether somebody pressed Ctrl-C."""


def interrupt() -> None:
    """What Ctrl-C does elsewhere."""
    raise KeyboardInterrupt


@contextmanager
def interruptible(again: Callable[[], None] = interrupt) -> Iterator[Callable[[], bool]]:
    """Answers whether somebody pressed Ctrl-C; `again` is called when it is pressed once more."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def press(_number: int, _frame: FrameType | None) -> None:
        if pressed.is_set():
            again()
        pressed.set()

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until this is done, which is to take some seconds at most."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for number in pressed[:1]:
            signal.raise_signal(number)


def beside(
    work: Callable[[], Answer],
    stopped: Callable[[], bool],
    end: Callable[[int], bool] = lambda _turn: False,
) -> Answer:
    """What `work` answers, in a thread of its own: it may be long, and deaf to Ctrl-C.

    Raises KeyboardInterrupt once it is stopped. Then `end` is called ten times a second, with the
    number of the turn from 0, until the work is done or it answers that nothing can end it: then
    the work is left to itself, and to the end of this process.
    """
    done: Future[Answer] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - whoever waits for it gets it
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    while not stopped():
        if wait([done], _LOOK).done:
            return done.result()
    turns = count()
    while not wait([done], _LOOK).done and end(next(turns)):
        pass
    raise KeyboardInterrupt
