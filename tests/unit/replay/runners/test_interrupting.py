"""Ctrl-C is asked for, or waits."""

from __future__ import annotations

import signal
import threading

import pytest

from gitops.replay.runners.interrupting import interruptible, uninterrupted
from tests.support.interrupts import ctrl_c_as_ever


def test_ctrl_c_waits_until_what_may_not_be_interrupted_is_done() -> None:
    done: list[str] = []
    with ctrl_c_as_ever():
        before = signal.getsignal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            finish(done)
        assert signal.getsignal(signal.SIGINT) is before
    assert done == ["the rest"]


def finish(done: list[str]) -> None:
    with uninterrupted():
        signal.raise_signal(signal.SIGINT)
        done.append("the rest")


def test_who_asks_for_ctrl_c_is_told_of_the_one_that_waited() -> None:
    with interruptible() as stopped:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            assert not stopped()
        assert stopped()


def test_threads_leave_ctrl_c_to_the_main_one() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def run() -> None:
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [before]
