"""Work at several things at once: only its calls are made in threads, all else in the caller's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, final

from gitops.interrupts import made

Call = Callable[[], object]
Work = Generator[Call, Any, None]
"""Yields calls, and gets what each answers, or has raised in it what the call raises."""


def run_side_by_side(works: Iterable[Work], width: int, wait: Callable[[Call], Any]) -> None:
    """Bring all works to their end, begun in their order, `width` of them at a time.

    So they may share whatever they like, but for what a call uses. With a width of 1 the calls are
    made in the caller's thread too, where Ctrl-C cuts them. A KeyboardInterrupt is raised in each
    work that waits for a call, which is left to itself: the threads are daemons. What a work
    raises is raised once the others that have begun are at their end. `wait` makes a call that may
    take long, as Interruption.wait does.
    """
    group = _Group(works, width, wait)
    try:
        group.run()
    except KeyboardInterrupt as pressed:
        group.cut(pressed)
    finally:
        group.calls.close()
    if group.crashes:
        raise group.crashes[0]


@final
class _Group:
    """The works, those that are under way, and what some of them have raised."""

    def __init__(self, works: Iterable[Work], width: int, wait: Callable[[Call], Any]) -> None:
        self.calls = _Calls(width)
        self.crashes: list[BaseException] = []
        self._waiting = iter(works)
        self._active: set[Work] = set()
        self._width = width
        self._wait = wait

    def run(self) -> None:
        """Bring them to their end."""
        self._begin()
        while self._active:
            self._go_on(*self._next_answer())
            self._begin()

    def cut(self, pressed: KeyboardInterrupt) -> None:
        """Raise it in each work that is under way."""
        for work in self._active:
            with suppress(StopIteration):
                work.throw(pressed)
            work.close()

    def _begin(self) -> None:
        while not self.crashes and len(self._active) < self._width:
            work = next(self._waiting, None)
            if work is None:
                return
            self._go_on(work, partial(next, work))

    def _go_on(self, work: Work, resume: Callable[[], Call]) -> None:
        self._active.discard(work)
        try:
            self.calls.add(work, resume())
            self._active.add(work)
        except StopIteration:
            pass
        except BaseException as crash:  # noqa: BLE001 - raised once no call is under way
            self.crashes.append(crash)

    def _next_answer(self) -> tuple[Work, Callable[[], Call]]:
        """The next work that can go on, and how."""
        work, answer = self._wait(self.calls.next_answer)
        try:
            result = self._wait(answer)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - raised in the work
            return work, partial(work.throw, error)
        return work, partial(work.send, result)


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
        while (items := self._waiting.get()) is not None:
            work, call = items
            self._answers.put((work, made(call)))
