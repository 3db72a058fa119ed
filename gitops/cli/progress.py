"""Lines on stderr while something takes long: a progress bar, an answer that is waited for."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Final, final

from gitops.ports import WAITING, Progress, no_progress
from gitops.reports.text.plain import safe

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as RichProgress

# A line on stderr about an answer that is waited for, from two seconds on.

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
        slow = [wait for wait in tuple(self._waits.values()) if now - wait[1] >= PATIENCE]
        with self._lock:
            if slow:
                what, since = min(slow, key=lambda texts: texts[1])
                remainder = f" (and {len(slow) - 1} more)" if len(slow) > 1 else ""
                self._show(f"waiting {now - since:.0f} s for {safe(what)}{remainder}", now)
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
        if show_below(text):
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
        if self._is_shown and not show_below(""):
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


# A progress bar on stderr for what takes longer than a second.


_PATIENCE = 1.0
_bars: Final[list[_LateBar]] = []
"""The bar of the command that runs, if it has one."""


@contextmanager
def progress_bar(*, no_color: bool = False, rate: bool = False) -> Iterator[Progress]:
    """A Progress for people; silent where stderr is no terminal.

    With `rate` it says how many are done a second, and how long the rest will take.
    """
    if not sys.stderr.isatty():
        yield no_progress
        return
    bar = _LateBar(no_color=no_color, rate=rate)
    _bars.append(bar)
    try:
        yield bar
    finally:
        _bars.remove(bar)
        bar.stop()


def show_below(text: str) -> bool:
    """Show a line of text below the bar, in place of the last one; False where there is no bar."""
    for bar in _bars:
        bar.show_below(text)
    return bool(_bars)


class _LateBar:
    """Appears only once a second has passed: quick commands neither flicker nor load rich."""

    def __init__(self, *, no_color: bool, rate: bool) -> None:
        self._no_color = no_color
        self._rate = rate
        self._start = time.monotonic()
        self._lock = threading.Lock()
        self._ended = False
        self._bar: RichProgress | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._bar is None and time.monotonic() - self._start < _PATIENCE:
            return
        with self._lock:
            bar = self._shown()
            bar.update(bar.task_ids[0], description=what, completed=done, total=total or None)

    def show_below(self, text: str) -> None:
        with self._lock:
            if not self._ended and (text or self._bar is not None):
                bar = self._shown()
                bar.update(bar.task_ids[0], below=text, refresh=True)

    def stop(self) -> None:
        with self._lock:
            self._ended = True
            if self._bar is not None:
                self._bar.stop()

    def _shown(self) -> RichProgress:
        if self._bar is None:
            self._bar = start_bar(no_color=self._no_color, rate=self._rate)
        return self._bar


def start_bar(*, no_color: bool, rate: bool) -> RichProgress:
    """A bar with one task, which is on the screen until it is stopped."""
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class Speed(progress.ProgressColumn):
        def render(self, task: progress.Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f}/s")

    class Bar(progress.Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            yield from super().get_renderables()
            for task in self.tasks:
                if below := task.fields.get("below"):
                    yield Text(below, no_wrap=True, overflow="ellipsis")

    rates = (Speed(), progress.TimeRemainingColumn())
    bar = Bar(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        *(rates if rate else ()),
        progress.TimeElapsedColumn(),
        console=Console(stderr=True, no_color=no_color or None),
        transient=True,
    )
    bar.add_task("", total=None)
    bar.start()
    return bar
