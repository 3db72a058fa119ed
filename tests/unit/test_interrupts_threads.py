"""Calls that are given up."""

from __future__ import annotations

import threading

import pytest

from gitops.interrupts import call_with_timeout


def test_the_answer_is_that_of_the_call() -> None:
    assert call_with_timeout(60, lambda: 7) == 7


def test_what_the_call_raises_is_raised() -> None:
    def fail() -> int:
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        call_with_timeout(60, fail)


def test_a_call_that_does_not_end_is_left_to_itself() -> None:
    over = threading.Event()
    with pytest.raises(TimeoutError, match=r"not done within 0\.01 s"):
        call_with_timeout(0.01, over.wait)
    over.set()
