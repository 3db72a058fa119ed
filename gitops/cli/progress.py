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
def progress_bar(*, no_color: bool = False) -> Iterator[Progress]:
    """A Progress for people; silent where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    bar = _LateBar(no_color=no_color)
    try:
        yield bar
    finally:
        bar.stop()


class _LateBar:
    """Appears only once a second has passed: quick commands neither flicker nor load rich."""

    def __init__(self, *, no_color: bool) -> None:
        self._no_color = no_color
        self._start = time.monotonic()
        self._bar: RichProgress | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._bar is None:
            if time.monotonic() - self._start < _PATIENCE:
                return
            self._bar = _started(no_color=self._no_color)
        task = self._bar.task_ids[0]
        self._bar.update(task, description=what, completed=done, total=total or None)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _started(*, no_color: bool) -> RichProgress:
    from rich import progress
    from rich.console import Console

    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        console=Console(stderr=True, no_color=no_color or None),
        transient=True,
    )
    bar.add_task("", total=None)
    bar.start()
    return bar
