"""A cache of bounded size."""

from __future__ import annotations

import threading

from gitops.schemas.avro.fragments import ENTRY, SizeBoundedCache


def test_what_was_put_is_found_until_all_is_forgotten() -> None:
    recent: SizeBoundedCache[str, int] = SizeBoundedCache(10 * ENTRY)

    recent.put("a", 1)

    assert recent.get("a") == 1
    assert recent.get("b") is None
    recent.clear()
    assert recent.get("a") is None


def test_any_number_of_keys_pass_by_at_constant_memory() -> None:
    alive: set[int] = set()

    class Value:
        def __init__(self) -> None:
            alive.add(id(self))

        def __del__(self) -> None:
            alive.discard(id(self))

    recent: SizeBoundedCache[str, Value] = SizeBoundedCache(10 * ENTRY)

    for number in range(1000):
        recent.put(str(number), Value())

    assert 0 < len(alive) <= 20


def test_a_heavy_key_makes_room_for_itself() -> None:
    recent: SizeBoundedCache[str, int] = SizeBoundedCache(10 * ENTRY)
    for number in range(5):
        recent.put(str(number), number)

    recent.put("x" * 20 * ENTRY, 5)
    recent.put("y" * 20 * ENTRY, 6)

    assert recent.get("0") is None
    assert recent.get("y" * 20 * ENTRY) == 6


def test_what_is_used_stays() -> None:
    recent: SizeBoundedCache[str, int] = SizeBoundedCache(10 * ENTRY)
    recent.put("used", -1)

    for number in range(1000):
        recent.put(str(number), number)
        assert recent.get("used") == -1

    assert recent.get("0") is None


def test_many_are_found_at_once_old_and_young() -> None:
    recent: SizeBoundedCache[str, int] = SizeBoundedCache(10 * ENTRY)
    for number in range(15):
        recent.put(str(number), number)

    assert recent.get("3") == 3  # of the old generation
    assert recent.get_each(["3", "14", "x", "4"]) == [3, 14, None, 4]


def test_threads_may_share_it() -> None:
    recent: SizeBoundedCache[str, int] = SizeBoundedCache(50 * ENTRY)
    wrong: list[tuple[str, int]] = []

    def use(start: int) -> None:
        for number in range(start, start + 3000):
            key = str(number % 200)
            if (found := recent.get(key)) is None:
                recent.put(key, number % 200)
            elif found != number % 200:
                wrong.append((key, found))

    threads = [threading.Thread(target=use, args=(start,)) for start in range(0, 400, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not wrong
