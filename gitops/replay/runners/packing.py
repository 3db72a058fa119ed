"""Which parts a task of Spark reads: enough to be worth its start, no more than is fair."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitops.replay.sources.part import Part

TASK_BYTES: Final = 32 * 1024 * 1024
_TASKS_PER_CORE: Final = 4


def pack(parts: Iterable[Part], cores: int) -> list[list[Part]]:
    """The parts in their order, cut into tasks."""
    parts = list(parts)
    total = sum(part.bytes for part in parts)
    most = min(TASK_BYTES, total // (cores * _TASKS_PER_CORE) + 1)
    tasks: list[list[Part]] = []
    size = most
    for part in parts:
        if size >= most:
            tasks.append([])
            size = 0
        tasks[-1].append(part)
        size += max(part.bytes, 1)
    return tasks
