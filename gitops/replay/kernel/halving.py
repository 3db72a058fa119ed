"""Counts of many rows at once, where a few rows may have to be looked at one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from gitops.replay.kernel.walk import Counted

Counts = Counter[Counted]

_TOGETHER: Final = 2048
_FEW: Final = 8


class DoubtError(Exception):
    """Not every one of these rows is sure to be read, or to be counted right."""


def count_in_halves(rows: int, count: Callable[[int, int], Counts]) -> tuple[Counts, list[int]]:
    """What `count(start, end)` says of all rows, and the indexes of those that it doubts.

    Rows that raise DoubtError are counted again in halves, until few are left.
    """
    counts: Counts = Counter()
    doubted: list[int] = []
    waiting = [(at, min(at + _TOGETHER, rows)) for at in range(0, rows, _TOGETHER)]
    while waiting:
        start, end = waiting.pop()
        try:
            counts.update(count(start, end))
        except DoubtError:
            if end - start <= _FEW:
                doubted += range(start, end)
            else:
                middle = (start + end) // 2
                waiting += [(start, middle), (middle, end)]
    return counts, doubted
