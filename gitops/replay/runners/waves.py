"""Runs tasks on Spark some at a time, so that what was done is known while the rest is running.

Two waves overlap, that no core waits for the last task of one; each is as large as what Spark does
in some seconds, once it is known how fast it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from gitops.replay.tally import Gathered

Task = TypeVar("Task")

_SIDE_BY_SIDE: Final = 2
_SECONDS: Final = 3.0
"""Of a wave: a job of Spark costs some 30 ms, and what it has not answered is lost to Ctrl-C."""

_MOST: Final = 512
_LOOK: Final = 0.2
"""Seconds between two looks at whether somebody pressed Ctrl-C."""


@dataclass(slots=True)
class Waves(Generic[Task]):
    """`run` blocks until Spark has answered for some tasks; `interrupt` makes it end at once.

    `first` is how many tasks there are in the first wave.
    """

    run: Callable[[Sequence[Task]], list[Gathered]]
    interrupt: Callable[[], None]
    stopped: Callable[[], bool]
    cores: int
    first: int
    _size: int = field(init=False, default=0)

    def answers(self, tasks: Sequence[Task]) -> Iterator[Gathered]:
        """What came back, as it comes; ends early, and without a word, when it is stopped."""
        waiting = list(tasks)
        running: set[Future[tuple[list[Gathered], float, int]]] = set()
        self._size = self.first
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            try:
                while (waiting or running) and not self.stopped():
                    while waiting and len(running) < _SIDE_BY_SIDE:
                        wave, waiting = waiting[: self._size], waiting[self._size :]
                        running.add(pool.submit(self._timed, wave))
                    done, running = wait(running, _LOOK, FIRST_COMPLETED)
                    for each in done:
                        yield from self._noted(each)
            finally:
                while running:  # a wave may be on its way and not yet to be interrupted
                    self.interrupt()
                    _, running = wait(running, _LOOK)

    def _timed(self, wave: Sequence[Task]) -> tuple[list[Gathered], float, int]:
        started = time.monotonic()
        return self.run(wave), time.monotonic() - started, len(wave)

    def _noted(self, done: Future[tuple[list[Gathered], float, int]]) -> list[Gathered]:
        found, seconds, tasks = done.result()
        fit = int(tasks * _SECONDS / max(seconds, 0.01))
        self._size = max(self.cores, min(fit, 2 * self._size, _MOST))
        return found
