"""The same read for many names at once, in a few threads."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Final, Generic, TypeVar, final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_T = TypeVar("_T")
_R = TypeVar("_R")

_TICK: Final = 0.1  # seconds between two reports; one for each item would slow the threads down


def map_in_threads(
    function: Callable[[_T], _R],
    items: Sequence[_T],
    *,
    threads: int,
    on_progress: Callable[[int], None],
) -> list[_R]:
    """`[function(item) for item in items]`, up to `threads` at a time.

    `on_progress` gets the number of items that are done, in this thread, now and then and at the
    end. The first failure ends the work and is raised; of several that are known by then, the one
    of the first item. The threads are daemons, so that neither a failure nor Ctrl-C waits for
    answers that nobody will read. One item is read in this thread, whose reads Ctrl-C cuts.
    """
    if len(items) == 1:
        answers = [function(items[0])]
        on_progress(1)
        return answers
    work = _Work(function, items, min(threads, len(items)))
    reported = 0
    try:
        while not work.ended.wait(_TICK):
            if len(work.results) > reported:
                reported = len(work.results)
                on_progress(reported)
    finally:
        work.left.clear()
    if work.failures:
        raise work.failures[min(work.failures)]
    if len(items) > reported:
        on_progress(len(items))
    return [work.results[index] for index in range(len(items))]


@final
class _Work(Generic[_T, _R]):
    """What the threads share: their queue, and what became of each item, by its index.

    Each container is changed by single operations only, which Python makes whole.
    """

    def __init__(self, function: Callable[[_T], _R], items: Sequence[_T], threads: int) -> None:
        self.left = deque(range(len(items)))
        self.results: dict[int, _R] = {}
        self.failures: dict[int, BaseException] = {}
        self.ended = threading.Event()
        self._function = function
        self._items = items
        if not items:
            self.ended.set()
        for number in range(threads):
            name = f"pulsar-read-{number}"
            threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        while self.left:
            try:
                index = self.left.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                self.results[index] = self._function(self._items[index])
            except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
                self.failures[index] = error
                self.left.clear()
                self.ended.set()
            if len(self.results) == len(self._items):
                self.ended.set()
