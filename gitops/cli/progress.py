"""A progress bar on stderr for what takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gitops.ports import Progress, no_progress

_PATIENCE = 1.0


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A Progress for people; silent where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    bar = _LateBar()
    try:
        yield bar
    finally:
        bar.stop()


class _LateBar:
    """Appears only once a second has passed, so that quick commands do not flicker."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._start = time.monotonic()
        self._running = False
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=None)

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self._running and time.monotonic() - self._start > _PATIENCE:
            self._bar.start()
            self._running = True
        self._bar.update(self._task, description=what, completed=done, total=total or None)

    def stop(self) -> None:
        if self._running:
            self._bar.stop()
