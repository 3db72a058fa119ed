"""Ctrl-C is asked for, or waits."""

from __future__ import annotations

import signal
import threading

import pytest

from gitops.replay.runners.interrupting import beside, interruptible, uninterrupted
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


def test_a_second_ctrl_c_interrupts_or_does_what_it_is_to_do() -> None:
    with interruptible() as stopped:
        signal.raise_signal(signal.SIGINT)
        assert stopped()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    pressed: list[str] = []
    with interruptible(again=lambda: pressed.append("again")):
        signal.raise_signal(signal.SIGINT)
        assert not pressed
        signal.raise_signal(signal.SIGINT)
    assert pressed == ["again"]


def test_what_runs_beside_answers_or_fails_here() -> None:
    assert beside(lambda: 7, lambda: False) == 7
    with pytest.raises(ZeroDivisionError):
        beside(lambda: 1 // 0, lambda: False)


def test_what_runs_beside_is_ended_when_it_is_stopped() -> None:
    ended = threading.Event()
    turns: list[int] = []

    def end(turn: int) -> bool:
        turns.append(turn)
        if turn == 2:
            ended.set()
        return True

    with pytest.raises(KeyboardInterrupt):
        beside(ended.wait, lambda: True, end)
    assert turns[:3] == [0, 1, 2]


def test_what_nothing_can_end_is_left_to_itself() -> None:
    never = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        beside(never.wait, lambda: True)
    never.set()
