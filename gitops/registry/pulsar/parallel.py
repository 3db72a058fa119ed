"""The same read for many names at once, in a few threads."""

from __future__ import annotations

import threading
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_T = TypeVar("_T")
_R = TypeVar("_R")


def map_in_threads(
    function: Callable[[_T], _R],
    items: Sequence[_T],
    *,
    threads: int,
    on_done: Callable[[_T], None],
) -> list[_R]:
    """`[function(item) for item in items]`, up to `threads` at a time.

    `on_done` is called in this thread after each. The first failure ends the work and is raised;
    of several that are known by then, the one of the first item. The threads are daemons, so that
    neither a failure nor Ctrl-C waits for answers that nobody will read.
    """
    done: SimpleQueue[tuple[int, _R | None, BaseException | None]] = SimpleQueue()
    left = deque(range(len(items)))
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            try:
                index = left.popleft()
            except IndexError:
                return
            try:
                done.put((index, function(items[index]), None))
            except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
                done.put((index, None, error))

    for number in range(min(threads, len(items))):
        threading.Thread(target=work, name=f"pulsar-read-{number}", daemon=True).start()
    try:
        return _collect(done, items, on_done)
    finally:
        stop.set()


def _collect(
    done: SimpleQueue[tuple[int, _R | None, BaseException | None]],
    items: Sequence[_T],
    on_done: Callable[[_T], None],
) -> list[_R]:
    """Wait for every item, in whatever order they come."""
    results: dict[int, _R] = {}
    for _ in items:
        index, result, error = done.get()
        if error is not None:
            raise _first_failure(done, index, error)
        results[index] = result  # type: ignore[assignment]
        on_done(items[index])
    return [results[index] for index in range(len(items))]


def _first_failure(
    done: SimpleQueue[tuple[int, _R | None, BaseException | None]],
    index: int,
    error: BaseException,
) -> BaseException:
    """Of the failures that are there already, the one of the first item."""
    failures = {index: error}
    while not done.empty():
        at, _, other = done.get()
        if other is not None:
            failures[at] = other
    return failures[min(failures)]
