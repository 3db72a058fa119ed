"""Which parts a task of Spark reads: enough to be worth its start, no more than is fair."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from gitops.replay.sources.part import Part

TASK_BYTES: Final = 32 * 1024 * 1024
TASKS_PER_CORE: Final = 4
_FIRST_PER_CORE: Final = 2
"""With one, a replay of two million messages took an eighth longer; two are not to be noticed."""


def pack(parts: Iterable[Part], cores: int) -> list[list[Part]]:
    """The parts in their order, cut into tasks."""
    parts = list(parts)
    sizes = [max(part.bytes, 1) for part in parts]
    most = min(TASK_BYTES, -(-sum(sizes) // (cores * TASKS_PER_CORE)))
    tasks: dict[int, list[Part]] = {}
    done = 0
    for part, size in zip(parts, sizes, strict=True):
        tasks.setdefault((done + size // 2) // most, []).append(part)
        done += size
    return list(tasks.values())


def first_wave(tasks: Collection[Collection[Part]], cores: int) -> int:
    """How many tasks to begin with: fewer, the larger they are, so that something is known soon."""
    most = cores * _FIRST_PER_CORE
    size = sum(part.bytes for parts in tasks for part in parts)
    return max(cores, min(most, most * TASK_BYTES * len(tasks) // max(size, 1)))
