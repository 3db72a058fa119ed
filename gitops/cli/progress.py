"""A progress bar on stderr for what takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gitops.ports import Progress, no_progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

_PATIENCE = 1.0


@contextmanager
def progress_bar(*, no_color: bool = False, rate: bool = False) -> Iterator[Progress]:
    """A Progress for people; silent where stderr is no terminal.

    With `rate` it says how many are done a second, and how long the rest will take.
    """
    if not sys.stderr.isatty():
        yield no_progress
        return
    bar = _LateBar(no_color=no_color, rate=rate)
    try:
        yield bar
    finally:
        bar.stop()


class _LateBar:
    """Appears only once a second has passed: quick commands neither flicker nor load rich."""

    def __init__(self, *, no_color: bool, rate: bool) -> None:
        self._no_color = no_color
        self._rate = rate
        self._start = time.monotonic()
        self._bar: RichProgress | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._bar is None:
            if time.monotonic() - self._start < _PATIENCE:
                return
            self._bar = started(no_color=self._no_color, rate=self._rate)
        task = self._bar.task_ids[0]
        self._bar.update(task, description=what, completed=done, total=total or None)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def started(*, no_color: bool, rate: bool) -> RichProgress:
    """A bar with one task, which is on the screen until it is stopped."""
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class Speed(progress.ProgressColumn):
        def render(self, task: progress.Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f}/s")

    rates = (Speed(), progress.TimeRemainingColumn())
    bar = progress.Progress(
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
