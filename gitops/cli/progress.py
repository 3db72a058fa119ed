"""A progress bar on stderr for what takes longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from gitops.ports import Progress, no_progress

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as RichProgress

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
            self._bar = started(no_color=self._no_color, rate=self._rate)
        return self._bar


def started(*, no_color: bool, rate: bool) -> RichProgress:
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
