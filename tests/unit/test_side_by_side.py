"""Only calls are made in threads; all else happens in one, and Ctrl-C ends what waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from gitops.side_by_side import Work, run_side_by_side

_LONG = 60


def _at_once(call: Callable[[], Any], /) -> Any:  # noqa: ANN401 - as the call
    return call()


@pytest.mark.parametrize("width", [1, 2, 4])
def test_so_many_calls_are_made_at_once_and_never_more(width: int) -> None:
    together = threading.Barrier(width)
    lock, now, most = threading.Lock(), set[int](), 0
    ends: list[int] = []

    def work(number: int) -> Work:
        def call() -> int:
            nonlocal most
            with lock:
                now.add(number)
                most = max(most, len(now))
            together.wait(_LONG)
            with lock:
                now.discard(number)
            return number

        for _ in range(3):
            assert (yield call) == number
        ends.append(number)

    run_side_by_side(map(work, range(width * 2)), width, _at_once)

    assert most == width
    assert sorted(ends) == list(range(width * 2))


@pytest.mark.parametrize(("width", "own"), [(1, True), (3, False)])
def test_all_but_the_calls_is_in_the_callers_thread(width: int, own: bool) -> None:  # noqa: FBT001
    here = threading.get_ident()
    begun: list[int] = []

    def work(number: int) -> Work:
        begun.append(number)
        assert threading.get_ident() == here
        assert ((yield threading.get_ident) == here) is own
        assert threading.get_ident() == here

    run_side_by_side(map(work, range(7)), width, _at_once)

    assert begun == list(range(7))


def _fail() -> None:
    raise LookupError("not there")


@pytest.mark.parametrize("width", [1, 3])
def test_what_a_call_raises_is_raised_in_its_work(width: int) -> None:
    found: list[str] = []

    def work(name: str, call: Callable[[], object]) -> Work:
        try:
            yield call
        except LookupError as error:
            found.append(f"{name}: {error}")
        yield lambda: None
        found.append(name)

    run_side_by_side([work("a", _fail), work("b", lambda: None)], width, _at_once)

    assert sorted(found) == ["a", "a: not there", "b"]


@pytest.mark.parametrize("width", [1, 3])
def test_what_a_work_does_not_handle_ends_all(width: int) -> None:
    def work() -> Work:
        yield _fail

    with pytest.raises(LookupError, match="not there"):
        run_side_by_side([work()], width, _at_once)


def test_a_work_without_a_call_is_done_at_once() -> None:
    done: list[int] = []

    def work(number: int) -> Work:
        done.append(number)
        yield from ()

    run_side_by_side(map(work, range(5)), 2, _at_once)

    assert done == list(range(5))


def test_ctrl_c_is_raised_in_each_work_that_waits_and_no_other_begins() -> None:
    begun, cut, held = list[int](), list[int](), threading.Event()
    waits = 0

    def pressed(call: Callable[[], Any], /) -> Any:  # noqa: ANN401 - as the call
        nonlocal waits
        waits += 1
        if waits > 1:
            raise KeyboardInterrupt
        return call()

    def work(number: int) -> Work:
        begun.append(number)
        try:
            yield (lambda: held.wait(_LONG)) if number else (lambda: None)
            yield lambda: held.wait(_LONG)
        except KeyboardInterrupt:
            cut.append(number)

    run_side_by_side(map(work, range(9)), 3, pressed)
    held.set()

    assert begun == [0, 1, 2]
    assert sorted(cut) == [0, 1, 2]
