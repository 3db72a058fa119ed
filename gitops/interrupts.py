"""Ctrl-C as a question between two steps, and calls that are not waited for without end."""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from types import FrameType
from typing import Final, NoReturn, TypeVar, final

from gitops import signals

_T = TypeVar("_T")


def call_with_timeout(seconds: float, call: Callable[[], _T]) -> _T:
    """What the call answers or raises; raises TimeoutError where it is not done by then.

    It runs in a thread of its own, which is left to itself then: a daemon, so that neither the
    end of the program nor Ctrl-C waits for it.
    """
    answers: queue.SimpleQueue[Callable[[], _T]] = queue.SimpleQueue()

    threading.Thread(target=lambda: answers.put(made(call)), daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"not done within {seconds:g} s") from None
    return answer()


def read_ahead(items: Iterable[_T]) -> Iterator[_T]:
    """The items, of which the next ones are made in a thread while the caller works on one.

    What their source raises is raised here. The thread is a daemon, as above.
    """
    ready: queue.Queue[Callable[[], _T] | None] = queue.Queue(maxsize=1)

    def run() -> None:
        try:
            for item in items:
                ready.put(partial(_same, item))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            ready.put(_raising(error))
        else:
            ready.put(None)

    threading.Thread(target=run, daemon=True).start()
    while (answer := ready.get()) is not None:
        yield answer()


def _same(item: _T) -> _T:
    return item


def made(call: Callable[[], _T]) -> Callable[[], _T]:
    """Make the call; what is answered, or raised, is so again by the function that comes back."""
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001 - raised again where it is asked for
        return _raising(error)
    return lambda: result


def _raising(error: BaseException) -> Callable[[], NoReturn]:
    def answer() -> NoReturn:
        raise error

    return answer


Answer = TypeVar("Answer")

_STDERR: Final = 2
_PATIENCE: Final = b"stopping after what is under way; Ctrl-C again does not wait for it\n"
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
        yield lambda: pressed.is_set() or signals.was_requested()
    finally:
        signal.signal(signal.SIGINT, before)


@final
class Interruption:
    """Ctrl-C for work whose steps are not to be cut: somebody asks, and the work stops by itself.

    The command line makes SIGTERM and SIGHUP other ways to press it.
    Only the wait for an answer is ever cut, by a second Ctrl-C. So wherever a signal comes, what
    was done is known, and can be reported.
    """

    def __init__(self) -> None:
        self._asked = False
        self._waiting = False

    @property
    def asked(self) -> bool:
        """Whether the work is to stop before its next step; also for a signal that came earlier."""
        return self._asked or signals.was_requested()

    def wait(self, call: Callable[[], Answer]) -> Answer:
        """What the call answers; raises KeyboardInterrupt where somebody does not wait for it."""
        self._waiting = True
        try:
            return call()
        except KeyboardInterrupt:
            self._asked = True
            raise
        finally:
            self._waiting = False

    def ask(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        """Ask it to stop; a handler of signals."""
        again, self._asked = self._asked, True
        if not self._waiting:
            return
        if again:
            self._waiting = False  # so that nothing outside of the call is ever cut
            raise KeyboardInterrupt
        with suppress(OSError):
            os.write(_STDERR, _PATIENCE)  # a handler may not use what it has interrupted


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Ctrl-C asks, and interrupts nothing."""
    asked = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.signal(signal.SIGINT, asked.ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def run_interruptible(
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
