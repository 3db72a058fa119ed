"""A line on stderr about an answer that is waited for, from two seconds on."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from typing import Final, final

from gitops.cli import progress
from gitops.ports import WAITING
from gitops.reporters.text.plain import safe

PATIENCE: Final = 2.0
"""Seconds without a word."""

_REPEAT: Final = 10.0
"""Seconds between two lines where they stay, as in the log of a job."""

_TICK: Final = 0.5
_ERASE: Final = "\r\x1b[K"


@contextmanager
def waiting_line() -> Iterator[None]:
    """Have adapters that are opened in the block tell on stderr what they wait for."""
    line = WaitingLine()
    token = WAITING.set(line.waiting)
    try:
        yield
    finally:
        WAITING.reset(token)
        line.close()


@final
class WaitingLine:
    """What is waited for, in any thread; the longest wait is shown.

    A terminal has one line that counts the seconds and goes away. Elsewhere lines are printed, at
    most one in ten seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._numbers = count()
        self._waits: dict[int, tuple[str, float]] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._watcher: threading.Thread | None = None
        self._told_at = float("-inf")
        self._is_shown = False

    def waiting(self, what: str) -> AbstractContextManager[None]:
        """The block waits for this."""
        return _Wait(self, what)

    def begin(self, what: str) -> int:
        """Somebody waits from now on; answers the number of the wait."""
        number = next(self._numbers)
        self._waits[number] = (what, self._now())
        if self._watcher is None:
            self._watch()
        return number

    def end(self, number: int) -> None:
        """The wait is over."""
        del self._waits[number]
        if self._is_shown and not self._waits:
            self.refresh()  # now, before anybody prints what came of it

    def refresh(self) -> None:
        """Show the longest wait if it is worth a line, and no line if none is."""
        now = self._now()
        slow = [each for each in tuple(self._waits.values()) if now - each[1] >= PATIENCE]
        with self._lock:
            if slow:
                what, since = min(slow, key=lambda each: each[1])
                more = f" (and {len(slow) - 1} more)" if len(slow) > 1 else ""
                self._show(f"waiting {now - since:.0f} s for {safe(what)}{more}", now)
            else:
                self._erase()

    def close(self) -> None:
        """Leave no line and no thread."""
        self._ended.set()
        with self._lock:  # another thread may just be starting it
            watcher = self._watcher
        if watcher is not None:
            watcher.join()
        with self._lock:
            self._erase()

    def _watch(self) -> None:
        """Look every now and then, in a thread."""
        with self._lock:
            if self._watcher is None:
                watcher = threading.Thread(target=self._refresh_often, daemon=True)
                watcher.start()
                self._watcher = watcher

    def _refresh_often(self) -> None:
        with suppress(OSError, ValueError):  # nobody reads stderr any more
            while not self._ended.wait(_TICK):
                self.refresh()

    def _show(self, text: str, now: float) -> None:
        if progress.show_below(text):
            self._is_shown = True
        elif _is_terminal():
            width = shutil.get_terminal_size().columns - 1
            line = text if len(text) <= width else f"{text[: width - 1]}…"
            _write(f"{_ERASE}{line}")
            self._is_shown = True
        elif now - self._told_at >= _REPEAT:
            _write(f"{text}\n")
            self._told_at = now

    def _erase(self) -> None:
        if self._is_shown and not progress.show_below(""):
            _write(_ERASE)
        self._is_shown = False


@final
class _Wait(AbstractContextManager[None]):
    """Quicker than a generator: there is one for each request."""

    def __init__(self, line: WaitingLine, what: str) -> None:
        self._line = line
        self._what = what
        self._number = 0

    def __enter__(self) -> None:
        self._number = self._line.begin(self._what)

    def __exit__(self, *_error: object) -> None:
        self._line.end(self._number)


def _is_terminal() -> bool:
    """Whether a line can be written over."""
    return sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
