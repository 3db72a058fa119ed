"""Calls that cannot be interrupted, and are not waited for without end."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


def within(seconds: float, call: Callable[[], _T]) -> _T:
    """What the call answers or raises; raises TimeoutError where it is not done by then.

    It runs in a thread of its own, which is left to itself then: a daemon, so that neither the
    end of the program nor Ctrl-C waits for it.
    """
    answers: queue.SimpleQueue[Callable[[], _T]] = queue.SimpleQueue()

    def run() -> None:
        try:
            result = call()
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            answers.put(_raising(error))
        else:
            answers.put(lambda: result)

    threading.Thread(target=run, daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"not done within {seconds:g} s") from None
    return answer()


def _raising(error: BaseException) -> Callable[[], NoReturn]:
    def answer() -> NoReturn:
        raise error

    return answer
