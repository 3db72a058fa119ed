"""Work at several things at once: only its calls are made in threads, all else in the caller's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from functools import partial
from queue import SimpleQueue
from typing import Any, NoReturn, Protocol, TypeVar, final

_T = TypeVar("_T")

Call = Callable[[], object]
Work = Generator[Call, Any, None]
"""Yields calls, and gets what each answers, or has raised in it what the call raises."""


class Wait(Protocol):
    """Makes a call that may take long; raises KeyboardInterrupt where nobody waits for it."""

    def __call__(self, call: Callable[[], _T], /) -> _T:
        """What the call answers."""
        ...


def run_side_by_side(works: Iterable[Work], width: int, wait: Wait) -> None:
    """Bring all works to their end, begun in their order, `width` of them at a time.

    So they may share whatever they like, but for what a call uses. With a width of 1 the calls are
    made in the caller's thread too, where Ctrl-C cuts them. A KeyboardInterrupt is raised in each
    work that waits for a call, which is left to itself: the threads are daemons.
    """
    calls, waiting = _Calls(width), iter(works)
    active: set[Work] = set()

    def go_on(work: Work, resume: Callable[[], Call]) -> None:
        try:
            calls.add(work, resume())
            active.add(work)
        except StopIteration:
            active.discard(work)

    try:
        while True:
            while len(active) < width and (work := next(waiting, None)):
                go_on(work, partial(next, work))
            if not active:
                return
            go_on(*_next_answer(calls, wait))
    except KeyboardInterrupt as pressed:
        for work in active:
            _cut(work, pressed)
    finally:
        calls.close()


def _next_answer(calls: _Calls, wait: Wait) -> tuple[Work, Callable[[], Call]]:
    """The next work that can go on, and how."""
    work, answer = wait(calls.next_answer)
    try:
        result = wait(answer)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - raised in the work
        return work, partial(work.throw, error)
    return work, partial(work.send, result)


def _cut(work: Work, pressed: KeyboardInterrupt) -> None:
    try:
        work.throw(pressed)
    except StopIteration:
        return
    work.close()


@final
class _Calls:
    """Calls that are made in threads; their answers come in no order."""

    def __init__(self, width: int) -> None:
        self._waiting: SimpleQueue[tuple[Work, Call] | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[Work, Call]] = SimpleQueue()
        self._width = width
        self._threads = 0

    def add(self, work: Work, call: Call) -> None:
        """One more call of a work."""
        (self._answers if self._width == 1 else self._waiting).put((work, call))
        if self._threads < self._width > 1:
            self._threads += 1
            name = f"call-{self._threads}"
            threading.Thread(target=self._run, name=name, daemon=True).start()

    def next_answer(self) -> tuple[Work, Call]:
        """A work, and what answers at once, or raises, as its call did; or that call itself."""
        return self._answers.get()

    def close(self) -> None:
        """Let the threads end, each after its call."""
        for _ in range(self._threads):
            self._waiting.put(None)

    def _run(self) -> None:
        while (each := self._waiting.get()) is not None:
            work, call = each
            self._answers.put((work, _made(call)))


def _made(call: Call) -> Call:
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001 - raised where the answer is read
        return partial(_raise, error)
    return lambda: result


def _raise(error: BaseException) -> NoReturn:
    raise error
