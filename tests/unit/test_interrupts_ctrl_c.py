"""Ctrl-C is asked for, or waits."""

from __future__ import annotations

import signal
import threading

import pytest

from gitops.interrupts import Interruption, interruptible, interruption, run_interruptible
from tests.support.interrupts import ctrl_c_as_ever


def test_ctrl_c_asks_and_cuts_nothing() -> None:
    with ctrl_c_as_ever():
        before = signal.getsignal(signal.SIGINT)
        with interruption() as asked:
            seen = [asked.asked]
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
                seen.append(asked.asked)
        assert signal.getsignal(signal.SIGINT) is before
    assert seen == [False, True, True, True]


def test_the_first_ctrl_c_waits_for_an_answer_and_says_so(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def answer() -> int:
        signal.raise_signal(signal.SIGINT)
        return 7

    with interruption() as asked:
        assert asked.wait(answer) == 7
        assert asked.asked
    assert "Ctrl-C again does not wait" in capfd.readouterr().err


def test_the_second_ctrl_c_does_not_wait_for_an_answer() -> None:
    pressed: list[int] = []

    def answer() -> None:
        for number in range(3):
            pressed.append(number)
            signal.raise_signal(signal.SIGINT)

    with interruption() as asked:
        with pytest.raises(KeyboardInterrupt):
            asked.wait(answer)
        signal.raise_signal(signal.SIGINT)
    assert pressed == [0, 1]


def test_a_wait_that_is_cut_in_another_way_asks_as_well() -> None:
    def cut() -> None:
        raise KeyboardInterrupt

    asked = Interruption()
    with pytest.raises(KeyboardInterrupt):
        asked.wait(cut)
    assert asked.asked


def test_threads_leave_ctrl_c_to_the_main_one() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def run() -> None:
        with interruption():
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
    assert run_interruptible(lambda: 7, lambda: False) == 7
    with pytest.raises(ZeroDivisionError):
        run_interruptible(lambda: 1 // 0, lambda: False)


@pytest.mark.slow
def test_what_runs_beside_is_ended_when_it_is_stopped() -> None:
    ended = threading.Event()
    turns: list[int] = []

    def end(turn: int) -> bool:
        turns.append(turn)
        if turn == 2:
            ended.set()
        return True

    with pytest.raises(KeyboardInterrupt):
        run_interruptible(ended.wait, lambda: True, end)
    assert turns[:3] == [0, 1, 2]


@pytest.mark.slow
def test_what_nothing_can_end_is_left_to_itself() -> None:
    never = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        run_interruptible(never.wait, lambda: True)
    never.set()
