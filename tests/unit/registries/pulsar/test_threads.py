"""The same read for many names, in threads."""

from __future__ import annotations

import threading

import pytest

from gitops.registries.pulsar.threads import map_in_threads


def ignore(_done: int) -> None:
    """An `on_progress` that nobody watches."""


def test_the_order_is_that_of_the_items_whoever_is_done_first() -> None:
    last_is_done = threading.Event()

    def work(item: int) -> int:
        if item == 1:
            last_is_done.set()
        assert last_is_done.wait(30)
        return item * 10

    assert map_in_threads(work, [3, 2, 1], threads=3, on_progress=ignore) == [30, 20, 10]


def test_no_items_need_no_thread() -> None:
    assert map_in_threads(str, [], threads=8, on_progress=ignore) == []


def test_never_more_threads_than_allowed() -> None:
    seen: set[int] = set()

    def work(item: int) -> int:
        seen.add(threading.get_ident())
        return item

    assert map_in_threads(work, list(range(50)), threads=2, on_progress=ignore) == list(range(50))
    assert 1 <= len(seen) <= 2


@pytest.mark.slow
def test_progress_grows_and_ends_with_all() -> None:
    may_go_on = threading.Event()
    seen: list[int] = []

    def work(item: int) -> int:
        assert item == 0 or may_go_on.wait(30)
        return item

    def report(done: int) -> None:
        seen.append(done)
        may_go_on.set()

    map_in_threads(work, [0, 1, 2], threads=1, on_progress=report)
    assert seen[0] == 1
    assert seen[-1] == 3
    assert seen == sorted(set(seen))


def test_a_failure_is_raised_and_ends_the_work() -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        raise ValueError(str(item))

    with pytest.raises(ValueError, match="0"):
        map_in_threads(work, list(range(10_000)), threads=1, on_progress=ignore)
    assert begun == [0]


@pytest.mark.slow
def test_of_several_failures_the_one_of_the_first_item_is_raised() -> None:
    threads: dict[int, threading.Thread] = {}
    all_began, may_fail = threading.Barrier(3), threading.Event()

    def work(item: int) -> int:
        threads[item] = threading.current_thread()
        all_began.wait(30)
        if item:
            may_fail.wait(30)
            if item == 1:
                threads[2].join(30)
            raise ValueError(str(item))
        return item

    def wait_for_failures(_done: int) -> None:
        may_fail.set()
        threads[1].join(30)

    with pytest.raises(ValueError, match="1"):
        map_in_threads(work, [0, 1, 2], threads=3, on_progress=wait_for_failures)


@pytest.mark.slow
def test_ctrl_c_does_not_wait_for_answers_that_do_not_come() -> None:
    released = threading.Event()

    def work(item: int) -> int:
        if item:
            released.wait(30)
        return item

    def interrupt(_done: int) -> None:
        raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            map_in_threads(work, [0, 1, 2], threads=3, on_progress=interrupt)
        assert not released.is_set()
    finally:
        released.set()
