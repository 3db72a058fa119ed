"""The progress bar: only for people, and only for what takes its time."""

from __future__ import annotations

import io
import sys

import pytest

from gitops.cli import progress
from gitops.ports import no_progress
from tests.support.consoles import shown


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> _Terminal:
    found = _Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    return found


def test_without_a_terminal_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.progress_bar() as bar:
        assert bar is no_progress


def test_what_is_quick_shows_nothing(terminal: _Terminal) -> None:
    with progress.progress_bar() as bar:
        bar("reading messages", 1, 2)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("rate", [False, True])
def test_what_takes_its_time_is_counted(*, rate: bool) -> None:
    bar = progress.start_bar(no_color=True, rate=rate)
    try:
        task = bar.task_ids[0]
        assert "/s" not in shown(bar.get_renderable(), 200)
        bar.update(task, description="reading messages", completed=10_000, total=40_000)
        bar.update(task, completed=30_000)
        text = shown(bar.get_renderable(), 200)
    finally:
        bar.stop()
    assert "reading messages" in text
    assert "30000/40000" in text
    assert ("/s" in text) is rate
